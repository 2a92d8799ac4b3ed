//! On which side of the service's border a place lies, as far as postcodes tell.
//!
//! No line is published with the registers that a snapshot is built from, but they say of every postcode
//! of Great Britain where it lies and in which country. So the border is taken to run half-way between
//! the postcodes of its two sides.

use crate::model::PostcodePlace;
use crate::store::place;
use crate::{Snapshot, SnapshotError};
use domesday_registers::records::Country;
use rustc_hash::{FxHashMap, FxHashSet};

/// Side of the squares that postcodes are kept by, metres: as far as they are looked for at least.
const SIDE_M: i32 = 10_000;

type Square = (i32, i32);

/// Postcodes that the other side's are near, by square.
#[derive(Debug, Default)]
pub(crate) struct Border {
    squares: FxHashMap<Square, Vec<Point>>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    easting: i32,
    northing: i32,
    served: bool,
}

impl Point {
    fn square(self) -> Square {
        square(self.easting, self.northing)
    }

    /// Square of its distance from a place, square metres.
    fn away(self, easting: i32, northing: i32) -> i64 {
        let east = i64::from(self.easting) - i64::from(easting);
        let north = i64::from(self.northing) - i64::from(northing);
        east * east + north * north
    }
}

fn square(easting: i32, northing: i32) -> Square {
    (easting.div_euclid(SIDE_M), northing.div_euclid(SIDE_M))
}

/// The squares that are this many steps away at most.
fn around((east, north): Square, steps: i32) -> impl Iterator<Item = Square> {
    let steps = -steps..=steps;
    steps
        .clone()
        .flat_map(move |x| steps.clone().map(move |y| (east + x, north + y)))
}

impl Border {
    /// Keeps of all postcodes those that can matter.
    fn of(all: &[Point]) -> Border {
        let side = |served: bool| -> FxHashSet<Square> {
            let points = all.iter().filter(|point| point.served == served);
            points.map(|point| point.square()).collect()
        };
        let (inside, outside) = (side(true), side(false));
        let mut squares: FxHashMap<Square, Vec<Point>> = FxHashMap::default();
        for point in all {
            let others = if point.served { &outside } else { &inside };
            // Both must be next to the square of the place that is asked about.
            if around(point.square(), 2).any(|square| others.contains(&square)) {
                squares.entry(point.square()).or_default().push(*point);
            }
        }
        Border { squares }
    }

    /// Whether the nearest postcode is one of the other side; one as near as it on this side wins.
    fn beyond(&self, easting: i32, northing: i32) -> bool {
        let near = around(square(easting, northing), 1);
        let points = near
            .filter_map(|square| self.squares.get(&square))
            .flatten();
        let nearest = points.min_by_key(|point| (point.away(easting, northing), !point.served));
        nearest.is_some_and(|point| !point.served)
    }
}

impl PostcodePlace {
    /// Whether it lies in England or Wales.
    pub fn served(&self) -> bool {
        served(self.country)
    }
}

fn served(country: Country) -> bool {
    matches!(country, Country::England | Country::Wales)
}

impl Snapshot {
    /// Whether a place on the National Grid (metres) lies beyond the border of England and Wales: the
    /// nearest postcode is one of another country. A place that has no postcode within ten
    /// kilometres is not said to.
    ///
    /// The first call reads all postcodes.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn beyond_border(&self, easting: i32, northing: i32) -> Result<bool, SnapshotError> {
        if let Some(border) = self.border.get() {
            return Ok(border.beyond(easting, northing));
        }
        let mut all = Vec::new();
        for row in self.postcodes.range::<u64>(..)? {
            let damaged = || SnapshotError::Damaged { table: "postcodes" };
            let (_, places) = row?;
            for place in place::all(places.value()).ok_or_else(damaged)? {
                let place = place.ok_or_else(damaged)?;
                all.push(Point {
                    easting: place.easting,
                    northing: place.northing,
                    served: served(place.country),
                });
            }
        }
        // Whoever comes at the same time finds the same.
        let border = self.border.get_or_init(|| Border::of(&all));
        Ok(border.beyond(easting, northing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point((easting, northing, served): (i32, i32, bool)) -> Point {
        Point {
            easting,
            northing,
            served,
        }
    }

    #[test]
    fn the_nearest_postcode_decides_and_this_side_wins_a_tie() {
        let border = Border::of(&[(0, 0, true), (2_000, 0, false)].map(point));
        for (easting, beyond) in [(-9_000, false), (999, false), (1_000, false), (1_001, true)] {
            assert_eq!(border.beyond(easting, 0), beyond, "{easting}");
        }
        assert!(!border.beyond(90_000, 0), "nobody knows");
        assert!(Border::of(&[point((5, 5, true))]).squares.is_empty());
    }

    proptest! {
        /// What is left out could not have changed the answer, wherever a postcode of ours is in reach.
        #[test]
        fn squares_answer_as_all_postcodes_would(
            postcodes in prop::collection::vec((0..90_000, 0..90_000, any::<bool>()), 1..60),
            place in (0..90_000, 0..90_000),
        ) {
            let all: Vec<Point> = postcodes.into_iter().map(point).collect();
            let nearest = all.iter().min_by_key(|it| (it.away(place.0, place.1), !it.served));
            let nearest = nearest.unwrap();
            let ours = all.iter().filter(|it| it.served);
            let reach = i64::from(SIDE_M) * i64::from(SIDE_M);
            prop_assume!(ours.map(|it| it.away(place.0, place.1)).any(|away| away <= reach));
            prop_assert_eq!(Border::of(&all).beyond(place.0, place.1), !nearest.served);
        }
    }
}
