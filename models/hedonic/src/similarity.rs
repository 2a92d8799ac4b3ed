//! Similarity of a sale to the subject: a product of factors between 0 and 1.
//!
//! Each factor of a distance (metres, years, age bands or log floor area) is 1 / (1 + (distance /
//! scale)²). It is one half at its scale. Its tail is heavy enough to rank distant sales, and its
//! arithmetic is exact on every machine.

use crate::comparable_sale::ComparableSale;
use crate::parameters::SimilarityParameters;
use crate::property_kind::{PropertyKind, age_index};
use domesday_sdk::{AgeBand, BuildStatus, Nearness, PropertySubtype, Subject, Tenure};

fn decay(distance: f64, scale: f64) -> f64 {
    let ratio = distance / scale;
    1.0 / (1.0 + ratio * ratio)
}

/// Two measures of similarity in everything but size and tenure.
///
/// Without size and tenure, the weights depend on neither. So the estimate increases with floor
/// area, and a leasehold house is never worth more than its freehold.
#[derive(Clone, Copy, Debug)]
pub struct Similarity {
    /// Displayed similarity, which also counts the sales similar to the subject.
    pub shown: f64,
    /// Weight of the sale in the estimate, under a narrower kernel of distance.
    pub weight: f64,
}

/// Returns the distance in metres at which the kernel halves. It is the parameter, or the distance
/// of the few nearest sales if they are farther: in the country the nearest home is far.
pub fn kernel_distance(p: &SimilarityParameters, sales: &[ComparableSale]) -> f64 {
    let mut distances: Vec<f64> = sales.iter().map(|sale| sale.distance).collect();
    let at = (p.kernel_sales as usize).min(distances.len());
    let Some(at) = at.checked_sub(1) else {
        return p.kernel_m;
    };
    let (_, nearest, _) = distances.select_nth_unstable_by(at, f64::total_cmp);
    nearest.max(p.kernel_m)
}

/// Measures the similarity of a sale. `kernel_distance` is the result of [`kernel_distance`].
pub fn measure(
    p: &SimilarityParameters,
    subject: &Subject,
    kind: PropertyKind,
    sale: &ComparableSale,
    years: f64,
    kernel_distance: f64,
) -> Similarity {
    let area = if sale.floor_area.is_some() {
        1.0
    } else {
        p.unknown_area
    };
    let without_place = decay(years, p.years)
        * type_factor(p, subject, kind, sale)
        * age_factor(p, subject.energy.age_band, sale.age_band)
        * build_status_factor(p, subject.build_status, sale.new_build)
        * area;
    Similarity {
        shown: decay(sale.distance, p.distance_m)
            * nearness_factor(p, sale.nearness)
            * without_place,
        weight: decay(sale.distance, kernel_distance)
            * kernel_factor(p, sale.nearness)
            * without_place,
    }
}

/// Returns the similarity in size, from the logarithms of both floor areas.
pub fn size_factor(p: &SimilarityParameters, subject: f64, sale: f64) -> f64 {
    decay(sale - subject, p.log_area)
}

/// Rescales a product of factors for display: its cube root. The factors describe three things,
/// place, time and home, so the result is their geometric mean.
pub fn rescale(product: f64) -> f64 {
    libm::cbrt(product).clamp(0.0, 1.0)
}

fn nearness_factor(p: &SimilarityParameters, nearness: Nearness) -> f64 {
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

fn kernel_factor(p: &SimilarityParameters, nearness: Nearness) -> f64 {
    match nearness {
        Nearness::SameProperty
        | Nearness::SameBuilding
        | Nearness::SameStreet
        | Nearness::SamePostcode => 1.0,
        Nearness::SameSector => p.kernel_sector,
        _ => p.kernel_elsewhere,
    }
}

fn type_factor(
    p: &SimilarityParameters,
    subject: &Subject,
    kind: PropertyKind,
    sale: &ComparableSale,
) -> f64 {
    if sale.kind != kind {
        return p.other_type;
    }
    match (subject.subtype, sale.subtype) {
        (PropertySubtype::Other, _) | (_, None | Some(PropertySubtype::Other)) => p.unknown_subtype,
        (a, Some(b)) if a == b => 1.0,
        _ => p.other_subtype,
    }
}

fn age_factor(p: &SimilarityParameters, subject: Option<AgeBand>, sale: Option<AgeBand>) -> f64 {
    match (subject.and_then(age_index), sale.and_then(age_index)) {
        (Some(a), Some(b)) => decay(a.abs_diff(b) as f64, p.age_bands),
        _ => p.unknown_age,
    }
}

/// Returns the similarity in tenure.
pub fn tenure_factor(p: &SimilarityParameters, subject: Tenure, sale: Tenure) -> f64 {
    let known = |t| t != Tenure::Other;
    if subject != sale && known(subject) && known(sale) {
        p.other_tenure
    } else {
        1.0
    }
}

fn build_status_factor(p: &SimilarityParameters, subject: BuildStatus, new_build: bool) -> f64 {
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
    use crate::comparable_sale::comparable_sale;
    use crate::testing::{sale, subject};

    const P: &SimilarityParameters = &PARAMETERS.similarity;

    fn of(change: impl FnOnce(&mut ComparableSale)) -> f64 {
        let mut s = comparable_sale(&sale(1));
        s.nearness = Nearness::SamePostcode;
        s.distance = 0.0;
        change(&mut s);
        measure(
            P,
            &subject(),
            PropertyKind::SemiDetached,
            &s,
            0.0,
            P.kernel_m,
        )
        .shown
    }

    #[test]
    fn an_identical_home_next_door_sold_today_has_similarity_one() {
        assert_eq!(of(|_| ()), 1.0);
    }

    #[test]
    fn every_difference_lowers_similarity() {
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
    fn distance_lowers_the_weight_more_than_the_displayed_similarity() {
        let of = |distance, nearness| {
            let mut s = comparable_sale(&sale(1));
            (s.distance, s.nearness) = (distance, nearness);
            measure(
                P,
                &subject(),
                PropertyKind::SemiDetached,
                &s,
                0.0,
                P.kernel_m,
            )
        };
        let (near, far) = (
            of(20.0, Nearness::SamePostcode),
            of(300.0, Nearness::SameSector),
        );
        assert!(near.weight / far.weight > 10.0 && near.shown / far.shown < 2.0);
    }

    #[test]
    fn tenure_changes_the_displayed_similarity_and_not_the_weight() {
        assert_eq!(of(|s| s.tenure = Tenure::Leasehold), 1.0);
        let with = |tenure_of_sale| tenure_factor(P, Tenure::Freehold, tenure_of_sale);
        assert_eq!(with(Tenure::Leasehold), P.other_tenure);
        assert_eq!((with(Tenure::Freehold), with(Tenure::Other)), (1.0, 1.0));
    }

    #[test]
    fn rescaling_keeps_the_order() {
        assert_eq!((rescale(0.0), rescale(1.0)), (0.0, 1.0));
        let rising = [1e-9, 1e-3, 0.05, 0.6, 1.0].map(rescale);
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        assert!((rescale(0.001) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_size_factor_is_symmetric() {
        assert_eq!(size_factor(P, 0.0, P.log_area), 0.5);
        assert_eq!(size_factor(P, 4.5, 4.0), size_factor(P, 4.0, 4.5));
    }
}
