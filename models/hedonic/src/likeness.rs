//! How alike a sale and the subject are: a product of factors between 0 and 1.
//!
//! Each factor of a distance (in metres, years, age bands, log floor area) falls as
//! 1 / (1 + (distance / scale)²): one half at its scale, with a tail heavy enough that a far
//! place still ranks its sales, and exact arithmetic on every machine.

use crate::kind::{Kind, age_index};
use crate::parameters::LikenessParameters;
use crate::sold::Sold;
use domesday_sdk::{AgeBand, BuildStatus, Nearness, PropertySubtype, Subject, Tenure};

fn falling(distance: f64, scale: f64) -> f64 {
    let ratio = distance / scale;
    1.0 / (1.0 + ratio * ratio)
}

/// How alike a sale is in everything but size and tenure, in two measures.
///
/// Size and tenure are left out, so that the weights move with neither: the estimate then rises with
/// floor area, and a house on a lease is never worth more than its freehold, whatever the sales.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    /// The likeness that is shown, and that tells how many sales like the subject there are.
    pub shown: f64,
    /// The weight of the sale in the estimate, where places count by a narrower kernel.
    pub weight: f64,
}

/// Metres at which the kernel is one half: its own, or the distance of the few nearest sales where
/// even they are farther away. In the country the next home is no neighbour but still the nearest.
pub fn reach(p: &LikenessParameters, sales: &[Sold]) -> f64 {
    let mut distances: Vec<f64> = sales.iter().map(|sale| sale.distance).collect();
    let at = (p.kernel_sales as usize).min(distances.len());
    let Some(at) = at.checked_sub(1) else {
        return p.kernel_m;
    };
    let (_, nearest, _) = distances.select_nth_unstable_by(at, f64::total_cmp);
    nearest.max(p.kernel_m)
}

/// How alike a sale and the subject are. `reach` is that of [`reach`].
pub fn alike(
    p: &LikenessParameters,
    subject: &Subject,
    kind: Kind,
    sale: &Sold,
    years: f64,
    reach: f64,
) -> Alike {
    let area = if sale.floor_area.is_some() {
        1.0
    } else {
        p.unknown_area
    };
    let but_place = falling(years, p.years)
        * types(p, subject, kind, sale)
        * ages(p, subject.energy.age_band, sale.age_band)
        * build(p, subject.build_status, sale.new_build)
        * area;
    Alike {
        shown: falling(sale.distance, p.distance_m) * nearness(p, sale.nearness) * but_place,
        weight: falling(sale.distance, reach) * kernel(p, sale.nearness) * but_place,
    }
}

/// Likeness in size, from the logarithms of both floor areas.
pub fn size(p: &LikenessParameters, subject: f64, sale: f64) -> f64 {
    falling(sale - subject, p.log_area)
}

/// A product of all the factors, as it is shown: its cube root, since the factors say how alike
/// three things are, the place, the time and the home. So it is the geometric mean of those three.
pub fn shown(product: f64) -> f64 {
    libm::cbrt(product).clamp(0.0, 1.0)
}

fn nearness(p: &LikenessParameters, nearness: Nearness) -> f64 {
    match nearness {
        Nearness::SameProperty
        | Nearness::SameBuilding
        | Nearness::SameStreet
        | Nearness::SamePostcode => p.same_postcode,
        Nearness::SameSector => p.same_sector,
        Nearness::SameDistrict => p.same_district,
        Nearness::SameArea | Nearness::Elsewhere | Nearness::Other => p.elsewhere,
    }
}

fn kernel(p: &LikenessParameters, nearness: Nearness) -> f64 {
    match nearness {
        Nearness::SameProperty
        | Nearness::SameBuilding
        | Nearness::SameStreet
        | Nearness::SamePostcode => 1.0,
        Nearness::SameSector => p.kernel_sector,
        _ => p.kernel_elsewhere,
    }
}

fn types(p: &LikenessParameters, subject: &Subject, kind: Kind, sale: &Sold) -> f64 {
    if sale.kind != kind {
        return p.other_type;
    }
    match (subject.subtype, sale.subtype) {
        (PropertySubtype::Other, _) | (_, None | Some(PropertySubtype::Other)) => p.unknown_subtype,
        (a, Some(b)) if a == b => 1.0,
        _ => p.other_subtype,
    }
}

fn ages(p: &LikenessParameters, subject: Option<AgeBand>, sale: Option<AgeBand>) -> f64 {
    match (subject.and_then(age_index), sale.and_then(age_index)) {
        (Some(a), Some(b)) => falling(a.abs_diff(b) as f64, p.age_bands),
        _ => p.unknown_age,
    }
}

/// Likeness in tenure.
pub fn tenure(p: &LikenessParameters, subject: Tenure, sale: Tenure) -> f64 {
    let known = |t| t != Tenure::Other;
    if subject != sale && known(subject) && known(sale) {
        p.other_tenure
    } else {
        1.0
    }
}

fn build(p: &LikenessParameters, subject: BuildStatus, new_build: bool) -> f64 {
    if (subject == BuildStatus::NewBuild) == new_build {
        1.0
    } else {
        p.other_build_status
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::sold::sold;
    use crate::testing::{sale, subject};

    const P: &LikenessParameters = &PARAMETERS.likeness;

    fn of(change: impl FnOnce(&mut Sold)) -> f64 {
        let mut s = sold(&sale(1));
        s.nearness = Nearness::SamePostcode;
        s.distance = 0.0;
        change(&mut s);
        alike(P, &subject(), Kind::SemiDetached, &s, 0.0, P.kernel_m).shown
    }

    #[test]
    fn a_twin_next_door_sold_today_is_wholly_alike() {
        assert_eq!(of(|_| ()), 1.0);
    }

    #[test]
    fn every_difference_lowers_likeness() {
        assert_eq!(of(|s| s.distance = P.distance_m), 0.5);
        assert_eq!(of(|s| s.nearness = Nearness::Other), P.elsewhere);
        assert_eq!(
            of(|s| s.subtype = Some(PropertySubtype::BungalowSemiDetached)),
            P.other_subtype
        );
        assert_eq!(of(|s| s.subtype = None), P.unknown_subtype);
        assert_eq!(of(|s| s.age_band = None), P.unknown_age);
        assert_eq!(of(|s| s.new_build = true), P.other_build_status);
        assert_eq!(of(|s| s.floor_area = None), P.unknown_area);
        assert!(of(|s| s.age_band = Some(AgeBand::L)) < of(|s| s.age_band = Some(AgeBand::E)));
    }

    #[test]
    fn next_door_weighs_more_than_it_is_more_alike() {
        let of = |distance, nearness| {
            let mut s = sold(&sale(1));
            (s.distance, s.nearness) = (distance, nearness);
            alike(P, &subject(), Kind::SemiDetached, &s, 0.0, P.kernel_m)
        };
        let (near, far) = (
            of(20.0, Nearness::SamePostcode),
            of(300.0, Nearness::SameSector),
        );
        assert!(near.weight / far.weight > 10.0 && near.shown / far.shown < 2.0);
    }

    #[test]
    fn tenure_is_shown_but_does_not_weigh() {
        assert_eq!(of(|s| s.tenure = Tenure::Leasehold), 1.0);
        let with = |tenure_of_sale| tenure(P, Tenure::Freehold, tenure_of_sale);
        assert_eq!(with(Tenure::Leasehold), P.other_tenure);
        assert_eq!((with(Tenure::Freehold), with(Tenure::Other)), (1.0, 1.0));
    }

    #[test]
    fn what_is_shown_keeps_the_order_and_can_be_read() {
        assert_eq!((shown(0.0), shown(1.0)), (0.0, 1.0));
        let rising = [1e-9, 1e-3, 0.05, 0.6, 1.0].map(shown);
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        assert!((shown(0.001) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn size_is_even_handed() {
        assert_eq!(size(P, 0.0, P.log_area), 0.5);
        assert_eq!(size(P, 4.5, 4.0), size(P, 4.0, 4.5));
    }
}
