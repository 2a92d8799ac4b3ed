//! Derivation of a missing floor area from the type, the rooms and the homes nearby.

use crate::adjust::log_size;
use crate::parameters::{HedonicParameters, PerType};
use crate::property_kind::PropertyKind;
use crate::robust_statistics;
use domesday_sdk::{Derivation, Subject};
use std::cell::OnceCell;

/// Room counts that the parameters distinguish. The last stands for that many and more.
const MOST_ROOMS: usize = 8;

/// Floor areas of the neighbours. Each statistic is computed on first use: where every area is
/// known, none is.
pub struct LocalSizes<'a, N> {
    hedonic: &'a HedonicParameters,
    neighbours: N,
    by_rooms: SizesByRooms,
    median: OnceCell<Option<f64>>,
    rooms_departure: OnceCell<Option<f64>>,
}

/// One neighbour: its size, rooms, type and weight.
pub struct Neighbour {
    /// Log size, if the area is known.
    pub size: Option<f64>,
    /// Habitable rooms, if known.
    pub rooms: Option<u32>,
    /// Property type.
    pub kind: PropertyKind,
    /// Weight.
    pub weight: f64,
}

/// Typical log sizes by type and habitable rooms. A type's sizes are computed on first use: most
/// places have one type or two, and logarithms are expensive.
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

    fn expected_size(&self, hedonic: &HedonicParameters, kind: PropertyKind, rooms: u32) -> f64 {
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

impl<'a, N: Iterator<Item = &'a Neighbour> + Clone> LocalSizes<'a, N> {
    /// Takes the neighbours, in their order.
    pub fn of(hedonic: &'a HedonicParameters, neighbours: N) -> Self {
        LocalSizes {
            hedonic,
            neighbours,
            by_rooms: SizesByRooms::new(),
            median: OnceCell::new(),
            rooms_departure: OnceCell::new(),
        }
    }

    fn sizes(&self) -> impl Iterator<Item = (f64, f64)> + use<'a, N> {
        let known = |n: &Neighbour| Some((n.size?, n.weight));
        self.neighbours.clone().filter_map(known)
    }

    /// Returns the median log size of the neighbours with a known area.
    fn median(&self) -> Option<f64> {
        *self
            .median
            .get_or_init(|| robust_statistics::median(self.sizes(), &mut Vec::new()))
    }

    /// Returns the median departure of neighbours' log sizes from those typical of their rooms.
    fn rooms_departure(&self) -> Option<f64> {
        *self.rooms_departure.get_or_init(|| {
            let against = self
                .neighbours
                .clone()
                .filter_map(|n| Some((n.size? - self.expected_size(n.kind, n.rooms?), n.weight)));
            robust_statistics::median(against, &mut Vec::new())
        })
    }

    fn expected_size(&self, kind: PropertyKind, rooms: u32) -> f64 {
        self.by_rooms.expected_size(self.hedonic, kind, rooms)
    }

    /// Returns the robust spread of the neighbours' log sizes, or `None` if no area is known.
    pub fn spread(&self) -> Option<f64> {
        let centre = self.median()?;
        let departures = self
            .sizes()
            .map(|(size, weight)| ((size - centre).abs(), weight));
        robust_statistics::median(departures, &mut Vec::new())
            .map(|d| d * robust_statistics::MAD_TO_SCALE)
    }

    /// Derives the log size of a home with an unknown area, and states the basis.
    pub fn derive(&self, kind: PropertyKind, rooms: Option<u32>) -> (f64, Derivation) {
        if let Some(rooms) = rooms {
            let expected = self.expected_size(kind, rooms);
            return match self.rooms_departure() {
                Some(local) => (expected + local, Derivation::LocalTypical),
                None => (expected, Derivation::OtherAttributes),
            };
        }
        match self.median() {
            Some(median) => (median, Derivation::LocalTypical),
            None => (
                log_size(self.hedonic, *self.hedonic.typical_area_m2.of(kind)),
                Derivation::TypeTypical,
            ),
        }
    }
}

/// Returns the habitable rooms of the subject. Without a count, it adds bedrooms and living rooms,
/// assuming one living room if unknown.
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
            kind: PropertyKind::Terraced,
            weight: 1.0,
        }
    }

    fn derive(neighbours: &[Neighbour], rooms: Option<u32>) -> (f64, Derivation) {
        let local = LocalSizes::of(H, neighbours.iter());
        let (size, basis) = local.derive(PropertyKind::Terraced, rooms);
        (H.reference_area_m2 * size.exp(), basis)
    }

    #[test]
    fn neighbours_with_rooms_shift_the_table() {
        let expected = H.area_by_rooms_m2.terraced[3];
        let neighbours = [
            neighbour(1.2 * expected, Some(4)),
            neighbour(1.2 * H.area_by_rooms_m2.terraced[4], Some(5)),
        ];
        let (area, basis) = derive(&neighbours, Some(4));
        assert!((area - 1.2 * expected).abs() < 1e-9);
        assert_eq!(basis, Derivation::LocalTypical);
    }

    #[test]
    fn the_best_known_basis_is_taken() {
        assert_eq!(derive(&[], Some(99)).1, Derivation::OtherAttributes);
        assert!((derive(&[], None).0 - H.typical_area_m2.terraced).abs() < 1e-9);
        assert_eq!(derive(&[], None).1, Derivation::TypeTypical);
        let (area, basis) = derive(
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
