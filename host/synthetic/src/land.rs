//! The dry land that invented authorities lie on.
//!
//! A coarse map of the British National Grid in squares of 25 km. The first row is the
//! northernmost. `E` is England, `W` is Wales, and `.` is sea, Scotland or thinly settled. The
//! squares come from the inhabited postcodes of OS Code-Point Open.

/// Side of a square in metres.
const SQUARE: i32 = 25_000;

const MAP: [&[u8; 27]; 25] = [
    b"...............EE..........",
    b"................E..........",
    b"...............EE..........",
    b".............EEEEE.........",
    b"............EE.EEE.........",
    b"............EEE.EEE........",
    b"............EEEEEEEE.......",
    b"...............EEEEEE......",
    b".............EEEEEEEE......",
    b".............EEEEEEEE......",
    b".........W...EEEEEEEEE.....",
    b"..........WWW.EEEEEEEE.....",
    b".........WWW.EEEEEEEEE.EE..",
    b"..........WWWEEEEEEEEEEEEE.",
    b"..........W.WEEEEEEEEEEEEE.",
    b"..........W.WEEEEEEEEEEEEE.",
    b"........WWWWWEEEEEEEEEEEE..",
    b".......WWWWWWWEEEEEEEEEE...",
    b"...........WWWEEEEEEEEEE...",
    b".............EEEEEEEEEEEE..",
    b"..........EEEEEEEEEEEEEEE..",
    b".........EEEEEEEEEEEEEE....",
    b"........EE.E..EE.E.........",
    b".......EEEEE...............",
    b"......EE...................",
];

/// A point of the British National Grid, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) easting: f64,
    pub(crate) northing: f64,
}

impl Point {
    /// Returns the point this far away, in metres east and north.
    pub(crate) fn offset(self, east: f64, north: f64) -> Point {
        Point {
            easting: self.easting + east,
            northing: self.northing + north,
        }
    }

    /// Returns the point itself, or the nearest one inside the box of this half side around a
    /// centre.
    pub(crate) fn within(self, centre: Point, half: f64) -> Point {
        Point {
            easting: self
                .easting
                .clamp(centre.easting - half, centre.easting + half),
            northing: self
                .northing
                .clamp(centre.northing - half, centre.northing + half),
        }
    }
}

/// Returns the centres of all squares of one country, from north to south.
pub(crate) fn squares(welsh: bool) -> Vec<Point> {
    let country_letter = if welsh { b'W' } else { b'E' };
    let mut found = Vec::new();
    for (row, line) in (0_i32..).zip(MAP) {
        for (column, &letter) in (0_i32..).zip(line) {
            if letter == country_letter {
                found.push(Point {
                    easting: f64::from(column * SQUARE + SQUARE / 2),
                    northing: f64::from((25 - row) * SQUARE + SQUARE / 2),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_has_room_for_every_authority() {
        assert!(squares(false).len() >= 150 && squares(true).len() >= 22);
        let south_west = squares(false).pop().unwrap();
        assert_eq!(
            (south_west.easting, south_west.northing),
            (187_500.0, 37_500.0)
        );
    }
}
