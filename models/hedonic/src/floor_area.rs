//! Derivation of a missing floor area from the type, the rooms and the homes nearby.
//!
//! A sale without an area is compared at the size that its place and rooms suggest. Its price tells
//! of the true size, and homes nearby are alike. So a subject differs from the sale's true size by
//! less than from the suggested one. [`effective_size`] takes off the correlation's share.

use crate::adjust::log_size;
use crate::parameters::{HedonicParameters, PerType, UnknownAreaParameters};
use crate::property_kind::PropertyKind;
use crate::robust_statistics;
use domesday_sdk::{Derivation, PropertyType, Subject};
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

    /// Returns the log size typical of the type in this place, and true if neighbours tell it.
    fn typical(&self, kind: PropertyKind) -> (f64, bool) {
        match self.median() {
            Some(median) => (median, true),
            None => (
                log_size(self.hedonic, *self.hedonic.typical_area_m2.of(kind)),
                false,
            ),
        }
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

    /// Returns the log size of a sold home with an unknown area.
    pub fn of_sale(&self, kind: PropertyKind, rooms: Option<u32>) -> f64 {
        match rooms {
            Some(rooms) => {
                self.expected_size(kind, rooms) + self.rooms_departure().unwrap_or_default()
            }
            None => self.typical(kind).0,
        }
    }

    /// Derives the log size of a subject with an unknown area, and states the basis. The size by
    /// rooms is shrunk towards the one typical of the place.
    pub fn of_subject(
        &self,
        p: &UnknownAreaParameters,
        kind: PropertyKind,
        rooms: Option<Rooms>,
    ) -> (f64, Derivation) {
        let (typical, local) = self.typical(kind);
        let Some(rooms) = rooms else {
            let basis = if local {
                Derivation::LocalTypical
            } else {
                Derivation::TypeTypical
            };
            return (typical, basis);
        };
        let by_rooms = f64::midpoint(
            self.expected_size(kind, rooms.fewest),
            self.expected_size(kind, rooms.most),
        ) + self.rooms_departure().unwrap_or_default();
        let basis = if local {
            Derivation::LocalTypical
        } else {
            Derivation::OtherAttributes
        };
        (typical + p.rooms_reliability * (by_rooms - typical), basis)
    }
}

/// Weight of the sales without an area on record, as a share of all, and their mean log size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnknownSizes {
    /// Share of the weight, 0 to 1.
    pub share: f64,
    /// Weighted mean of the log sizes that they are compared at.
    pub mean: f64,
}

impl UnknownSizes {
    /// Sums up sales, each given as its log size, its weight, and true if its area is on record.
    pub fn of(sales: impl Iterator<Item = (f64, f64, bool)>) -> UnknownSizes {
        let (mut all, mut unknown, mut sum) = (0.0, 0.0, 0.0);
        for (size, weight, known) in sales {
            all += weight;
            if !known {
                unknown += weight;
                sum += weight * size;
            }
        }
        if unknown > 0.0 {
            UnknownSizes {
                share: unknown / all,
                mean: sum / unknown,
            }
        } else {
            UnknownSizes::default()
        }
    }
}

/// Returns the log size at which a subject is compared with its sales. It is the subject's own
/// where the sales' areas are on record. Otherwise it is nearer to the sales'.
///
/// It rises with the subject's size. The weights of the sales do not depend on it, so a larger home
/// is worth more.
pub fn effective_size(p: &UnknownAreaParameters, size: f64, unknown: UnknownSizes) -> f64 {
    size - p.neighbour_correlation * unknown.share * (size - unknown.mean)
}

/// Habitable rooms of a subject. The two numbers differ where the living rooms are not stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rooms {
    /// Fewest that it may have.
    pub fewest: u32,
    /// Most that it probably has.
    pub most: u32,
}

/// Returns the habitable rooms of the subject. Without a count, it adds bedrooms and living rooms.
/// Of unknown living rooms there is one, or perhaps a second in a detached or semi-detached house.
pub fn rooms(subject: &Subject) -> Option<Rooms> {
    let size = &subject.size;
    if let Some(counted) = size.habitable_rooms {
        return Some(Rooms {
            fewest: counted,
            most: counted,
        });
    }
    let bedrooms = size.bedrooms?;
    let second = matches!(
        subject.property_type,
        PropertyType::Detached | PropertyType::SemiDetached
    );
    let (fewest, most) = match size.living_rooms {
        Some(stated) => (stated, stated),
        None => (1, 1 + u32::from(second)),
    };
    let with = |living: u32| bedrooms.saturating_add(living).max(1);
    Some(Rooms {
        fewest: with(fewest),
        most: with(most),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::testing::subject;

    const H: &HedonicParameters = &PARAMETERS.hedonic;
    const U: &UnknownAreaParameters = &PARAMETERS.unknown_area;

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
        let rooms = rooms.map(|counted| Rooms {
            fewest: counted,
            most: counted,
        });
        let (size, basis) = local.of_subject(U, PropertyKind::Terraced, rooms);
        (H.reference_area_m2 * size.exp(), basis)
    }

    #[test]
    fn neighbours_with_rooms_shift_the_table() {
        let expected = H.area_by_rooms_m2.terraced[3];
        let neighbours = [
            neighbour(1.2 * expected, Some(4)),
            neighbour(1.2 * H.area_by_rooms_m2.terraced[4], Some(5)),
        ];
        let local = LocalSizes::of(H, neighbours.iter());
        let of_sale = local.of_sale(PropertyKind::Terraced, Some(4));
        assert!((of_sale - log_size(H, 1.2 * expected)).abs() < 1e-9);
        // The subject's is between that and the neighbours' median.
        let (area, basis) = derive(&neighbours, Some(8));
        let by_rooms = 1.2 * H.area_by_rooms_m2.terraced[7];
        assert!((1.2 * expected..by_rooms).contains(&area), "{area}");
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
        let of = |s: &Subject| rooms(s).map(|rooms| (rooms.fewest, rooms.most));
        assert_eq!(of(&s), Some((4, 5)));
        s.property_type = PropertyType::Terraced;
        assert_eq!(of(&s), Some((4, 4)));
        s.size.living_rooms = Some(2);
        assert_eq!(of(&s), Some((5, 5)));
        s.size.bedrooms = Some(u32::MAX);
        assert_eq!(of(&s), Some((u32::MAX, u32::MAX)));
        s.size.bedrooms = None;
        assert_eq!(rooms(&s), None);
    }
}
