//! A floor area that nobody gave: typical of the type and rooms, as homes near by tell.

use crate::adjust::log_size;
use crate::kind::Kind;
use crate::parameters::{HedonicParameters, PerType};
use crate::robust;
use domesday_sdk::{Derivation, Subject};
use std::cell::OnceCell;

/// Habitable rooms that the parameters tell apart; the last is so many and more.
const MOST_ROOMS: usize = 8;

/// What neighbours tell of floor areas.
pub struct LocalSizes {
    by_rooms: SizesByRooms,
    /// Middle log size of the neighbours whose area is known.
    middle: Option<f64>,
    /// Middle departure of their log size from what their rooms make one expect.
    against_rooms: Option<f64>,
    /// Robust spread of their log sizes.
    pub spread: f64,
}

/// One neighbour: its log size, its rooms and its weight.
pub struct Neighbour {
    /// Log size, where the area is known.
    pub size: Option<f64>,
    /// Habitable rooms.
    pub rooms: Option<u32>,
    /// Type.
    pub kind: Kind,
    /// Weight.
    pub weight: f64,
}

/// Log sizes that are typical of a type with so many habitable rooms. A type's are reckoned when the
/// first home of it is met: most places have one type or two, and a logarithm is dear.
struct SizesByRooms {
    of: PerType<OnceCell<[f64; MOST_ROOMS]>>,
}

impl SizesByRooms {
    fn new() -> SizesByRooms {
        SizesByRooms {
            of: PerType {
                detached: OnceCell::new(),
                semi_detached: OnceCell::new(),
                terraced: OnceCell::new(),
                flat: OnceCell::new(),
            },
        }
    }

    fn expected(&self, hedonic: &HedonicParameters, kind: Kind, rooms: u32) -> f64 {
        let sizes = self.of.of(kind).get_or_init(|| {
            hedonic
                .area_by_rooms_m2
                .of(kind)
                .map(|area| log_size(hedonic, area))
        });
        let at = usize::try_from(rooms.saturating_sub(1)).unwrap_or(MOST_ROOMS - 1);
        sizes[at.min(MOST_ROOMS - 1)]
    }
}

impl LocalSizes {
    /// Learns from neighbours, in their order.
    pub fn learn<'a>(
        hedonic: &HedonicParameters,
        neighbours: impl Iterator<Item = &'a Neighbour> + Clone,
        scratch: &mut Vec<(f64, f64)>,
    ) -> LocalSizes {
        let sizes = neighbours.clone().filter_map(|n| Some((n.size?, n.weight)));
        let by_rooms = SizesByRooms::new();
        let middle = robust::median(sizes.clone(), scratch);
        let against = neighbours.filter_map(|n| {
            Some((
                n.size? - by_rooms.expected(hedonic, n.kind, n.rooms?),
                n.weight,
            ))
        });
        let against_rooms = robust::median(against, scratch);
        let centre = middle.unwrap_or(0.0);
        let departures = sizes.map(|(size, weight)| ((size - centre).abs(), weight));
        let spread =
            robust::median(departures, scratch).map_or(f64::INFINITY, |d| d * robust::MAD_TO_SCALE);
        LocalSizes {
            by_rooms,
            middle,
            against_rooms,
            spread,
        }
    }

    /// The log size of a home whose area is not known, and what it rests on.
    pub fn derive(
        &self,
        hedonic: &HedonicParameters,
        kind: Kind,
        rooms: Option<u32>,
    ) -> (f64, Derivation) {
        let expected = |rooms| self.by_rooms.expected(hedonic, kind, rooms);
        match (rooms, self.against_rooms, self.middle) {
            (Some(rooms), Some(local), _) => (expected(rooms) + local, Derivation::LocalTypical),
            (Some(rooms), None, _) => (expected(rooms), Derivation::OtherAttributes),
            (None, _, Some(middle)) => (middle, Derivation::LocalTypical),
            (None, _, None) => (
                log_size(hedonic, *hedonic.typical_area_m2.of(kind)),
                Derivation::TypeTypical,
            ),
        }
    }
}

/// Habitable rooms of the subject: as counted, or bedrooms and living rooms together, one living
/// room where only bedrooms are known.
pub fn rooms(subject: &Subject) -> Option<u32> {
    let size = &subject.size;
    size.habitable_rooms.or_else(|| {
        let bedrooms = size.bedrooms?;
        Some(
            bedrooms
                .saturating_add(size.living_rooms.unwrap_or(1))
                .max(1),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::testing::subject;

    const H: &HedonicParameters = &PARAMETERS.hedonic;

    fn neighbour(area: f64, rooms: Option<u32>) -> Neighbour {
        Neighbour {
            size: Some(log_size(H, area)),
            rooms,
            kind: Kind::Terraced,
            weight: 1.0,
        }
    }

    fn derived(neighbours: &[Neighbour], rooms: Option<u32>) -> (f64, Derivation) {
        let local = LocalSizes::learn(H, neighbours.iter(), &mut Vec::new());
        let (size, basis) = local.derive(H, Kind::Terraced, rooms);
        (H.reference_area_m2 * size.exp(), basis)
    }

    #[test]
    fn neighbours_with_rooms_shift_the_table() {
        let expected = H.area_by_rooms_m2.terraced[3];
        let neighbours = [
            neighbour(1.2 * expected, Some(4)),
            neighbour(1.2 * H.area_by_rooms_m2.terraced[4], Some(5)),
        ];
        let (area, basis) = derived(&neighbours, Some(4));
        assert!((area - 1.2 * expected).abs() < 1e-9);
        assert_eq!(basis, Derivation::LocalTypical);
    }

    #[test]
    fn the_best_known_basis_is_taken() {
        assert_eq!(derived(&[], Some(99)).1, Derivation::OtherAttributes);
        assert!((derived(&[], None).0 - H.typical_area_m2.terraced).abs() < 1e-9);
        assert_eq!(derived(&[], None).1, Derivation::TypeTypical);
        let (area, basis) = derived(
            &[
                neighbour(70.0, None),
                neighbour(75.0, None),
                neighbour(500.0, None),
            ],
            None,
        );
        assert!((area - 75.0).abs() < 1e-9);
        assert_eq!(basis, Derivation::LocalTypical);
    }

    #[test]
    fn rooms_come_from_bedrooms_where_not_counted() {
        let mut s = subject();
        s.size.habitable_rooms = None;
        s.size.bedrooms = Some(3);
        s.size.living_rooms = None;
        assert_eq!(rooms(&s), Some(4));
        s.size.living_rooms = Some(2);
        assert_eq!(rooms(&s), Some(5));
        s.size.bedrooms = Some(u32::MAX);
        assert_eq!(rooms(&s), Some(u32::MAX));
        s.size.bedrooms = None;
        assert_eq!(rooms(&s), None);
    }
}
