//! The side of the service's border on which a place is, by its nearest postcodes.
//!
//! The registers of a snapshot have no border line, but the location and country of every postcode
//! of Great Britain. So the border is assumed half-way between the postcodes of its two sides.

use crate::model::PostcodeLocation;
use domesday_registers::records::Country;
use rustc_hash::{FxHashMap, FxHashSet};

/// Side of the index squares of postcodes in metres: the least search distance.
const SIDE_M: i32 = 10_000;

type Square = (i32, i32);

/// Postcodes that the other side's are near, by square.
#[derive(Debug, Default)]
pub(crate) struct ServiceArea {
    squares: FxHashMap<Square, Vec<Point>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) easting: i32,
    pub(super) northing: i32,
    pub(super) served: bool,
}

impl Point {
    fn square(self) -> Square {
        square(self.easting, self.northing)
    }

    /// Returns the square of its distance from a place, in square metres.
    fn away(self, easting: i32, northing: i32) -> i64 {
        let east = i64::from(self.easting) - i64::from(easting);
        let north = i64::from(self.northing) - i64::from(northing);
        east * east + north * north
    }
}

fn square(easting: i32, northing: i32) -> Square {
    (easting.div_euclid(SIDE_M), northing.div_euclid(SIDE_M))
}

/// Returns the squares that are this many steps away at most.
fn around((east, north): Square, steps: i32) -> impl Iterator<Item = Square> {
    let steps = -steps..=steps;
    steps
        .clone()
        .flat_map(move |x| steps.clone().map(move |y| (east + x, north + y)))
}

impl ServiceArea {
    /// Keeps of all postcodes those that can matter.
    pub(super) fn of(all: &[Point]) -> ServiceArea {
        let side = |served: bool| -> FxHashSet<Square> {
            let points = all.iter().filter(|point| point.served == served);
            points.map(|point| point.square()).collect()
        };
        let (inside, outside) = (side(true), side(false));
        let mut squares: FxHashMap<Square, Vec<Point>> = FxHashMap::default();
        for point in all {
            let others = if point.served { &outside } else { &inside };
            // Both must be next to the square of the place in the query.
            if around(point.square(), 2).any(|square| others.contains(&square)) {
                squares.entry(point.square()).or_default().push(*point);
            }
        }
        ServiceArea { squares }
    }

    /// Returns whether the nearest postcode is on the other side. In a tie, this side wins.
    pub(super) fn beyond(&self, easting: i32, northing: i32) -> bool {
        let near = around(square(easting, northing), 1);
        let points = near
            .filter_map(|square| self.squares.get(&square))
            .flatten();
        let nearest = points.min_by_key(|point| (point.away(easting, northing), !point.served));
        nearest.is_some_and(|point| !point.served)
    }
}

impl PostcodeLocation {
    /// Returns whether it lies in England or Wales.
    pub fn is_served(&self) -> bool {
        is_served(self.country)
    }
}

pub(super) fn is_served(country: Country) -> bool {
    matches!(country, Country::England | Country::Wales)
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
        let area = ServiceArea::of(&[(0, 0, true), (2_000, 0, false)].map(point));
        for (easting, beyond) in [(-9_000, false), (999, false), (1_000, false), (1_001, true)] {
            assert_eq!(area.beyond(easting, 0), beyond, "{easting}");
        }
        assert!(!area.beyond(90_000, 0), "nobody knows");
        assert!(ServiceArea::of(&[point((5, 5, true))]).squares.is_empty());
    }

    proptest! {
        /// A postcode outside of the searched squares cannot change the result while one of ours is
        /// in reach.
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
            prop_assert_eq!(ServiceArea::of(&all).beyond(place.0, place.1), !nearest.served);
        }
    }
}
