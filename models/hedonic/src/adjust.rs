//! The hedonic level of a home: the value of its attributes, in log price.
//!
//! The difference of two homes' levels converts the price of one into an estimate for the other. A
//! home's level is
//!
//! ```text
//! h = type + subtype + elasticity × ln(area / reference area) + tenure + age + rating + new
//! ```
//!
//! It leaves out the location and the market, which the sales themselves carry.

use crate::comparable_sale::ComparableSale;
use crate::parameters::HedonicParameters;
use crate::property_kind::{PropertyKind, age_index, rating_effect, subtype_effect};
use domesday_sdk::{AgeBand, BuildStatus, EnergyRating, PropertySubtype, Subject, Tenure};

/// Mean effects of the homes nearby, for a home whose own attribute is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FallbackEffects {
    /// Effect of construction age.
    pub age: f64,
    /// Effect of the energy rating.
    pub rating: f64,
}

/// Returns the effect of a construction age band, or `None` if it is unknown.
pub fn age_effect(hedonic: &HedonicParameters, band: Option<AgeBand>) -> Option<f64> {
    band.and_then(age_index)
        .and_then(|i| hedonic.age_band.get(i))
        .copied()
}

/// Returns the effect of an energy rating, or `None` if it is unknown.
pub fn energy_effect(hedonic: &HedonicParameters, rating: Option<EnergyRating>) -> Option<f64> {
    rating.and_then(|r| rating_effect(hedonic, r))
}

fn tenure_effect(hedonic: &HedonicParameters, kind: PropertyKind, tenure: Tenure) -> f64 {
    match (kind, tenure) {
        (PropertyKind::Flat, Tenure::Freehold) => hedonic.freehold_flat,
        (
            PropertyKind::Detached | PropertyKind::SemiDetached | PropertyKind::Terraced,
            Tenure::Leasehold,
        ) => hedonic.leasehold_house,
        _ => 0.0,
    }
}

fn subtype_effect_or_zero(hedonic: &HedonicParameters, subtype: Option<PropertySubtype>) -> f64 {
    subtype
        .and_then(|s| subtype_effect(hedonic, s))
        .unwrap_or(0.0)
}

/// Returns the natural logarithm of a floor area over the reference area.
pub fn log_size(hedonic: &HedonicParameters, area_m2: f64) -> f64 {
    libm::log(area_m2 / hedonic.reference_area_m2)
}

/// Returns the level of a sold home with a known or derived log size.
pub fn sale_level(
    hedonic: &HedonicParameters,
    kind: PropertyKind,
    sale: &ComparableSale,
    size: f64,
    fallback: FallbackEffects,
) -> f64 {
    hedonic.property_type.of(kind)
        + subtype_effect_or_zero(hedonic, sale.subtype)
        + hedonic.area_elasticity.of(kind) * size
        + tenure_effect(hedonic, kind, sale.tenure)
        + age_effect(hedonic, sale.age_band).unwrap_or(fallback.age)
        + energy_effect(hedonic, sale.rating).unwrap_or(fallback.rating)
        + if sale.new_build {
            hedonic.new_build
        } else {
            0.0
        }
}

/// Returns the level of the subject without its size.
pub fn subject_level(
    hedonic: &HedonicParameters,
    kind: PropertyKind,
    subject: &Subject,
    fallback: FallbackEffects,
) -> f64 {
    hedonic.property_type.of(kind)
        + subtype_effect_or_zero(hedonic, Some(subject.subtype))
        + title_effect(hedonic, kind, subject)
        + age_effect(hedonic, subject.energy.age_band).unwrap_or(fallback.age)
        + energy_effect(hedonic, subject.energy.rating).unwrap_or(fallback.rating)
        + new_build_effect(hedonic, subject)
}

/// Returns the premium of the subject's first sale, if it is still to come.
pub fn new_build_effect(hedonic: &HedonicParameters, subject: &Subject) -> f64 {
    if subject.build_status == BuildStatus::NewBuild {
        hedonic.new_build
    } else {
        0.0
    }
}

/// Returns the effect of tenure and lease together. A long lease offsets the leasehold discount of
/// a house at most to zero: a freehold is never worth less.
fn title_effect(hedonic: &HedonicParameters, kind: PropertyKind, subject: &Subject) -> f64 {
    let effect = tenure_effect(hedonic, kind, subject.tenure) + lease_effect(hedonic, subject);
    if kind == PropertyKind::Flat {
        effect
    } else {
        effect.min(0.0)
    }
}

/// Returns the value of the years left on the subject's lease, relative to a comparable's typical
/// years. The share of a perpetuity that falls within n years is 1 − exp(−r n).
fn lease_effect(hedonic: &HedonicParameters, subject: &Subject) -> f64 {
    let Some(lease) = &subject.lease else {
        return 0.0;
    };
    let share = |years: f64| 1.0 - libm::exp(-hedonic.lease_discount_rate * years);
    let years = lease.years_remaining.clamp(1.0, 999.0);
    libm::log(share(years)) - libm::log(share(hedonic.typical_lease_years))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::comparable_sale::comparable_sale;
    use crate::testing::{sale, subject};
    use domesday_sdk::Lease;

    const H: &HedonicParameters = &PARAMETERS.hedonic;

    fn lease(years_remaining: f64) -> Lease {
        Lease {
            years_remaining,
            start: None,
            term_years: None,
            ground_rent: None,
            service_charge: None,
        }
    }

    #[test]
    fn an_identical_home_has_the_subjects_level() {
        let size = log_size(H, 90.0);
        let twin = sale_level(
            H,
            PropertyKind::SemiDetached,
            &comparable_sale(&sale(1)),
            size,
            FallbackEffects::default(),
        );
        let own = subject_level(
            H,
            PropertyKind::SemiDetached,
            &subject(),
            FallbackEffects::default(),
        ) + H.area_elasticity.semi_detached * size;
        assert!((twin - own).abs() < 1e-12);
    }

    #[test]
    fn each_attribute_moves_the_level_by_its_effect() {
        let level = |s: &ComparableSale| {
            sale_level(
                H,
                PropertyKind::SemiDetached,
                s,
                0.0,
                FallbackEffects {
                    age: 0.5,
                    rating: 0.25,
                },
            )
        };
        let base = level(&comparable_sale(&sale(1)));
        let moved = |change: fn(&mut ComparableSale)| {
            let mut s = comparable_sale(&sale(1));
            change(&mut s);
            level(&s) - base
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(moved(|s| s.new_build = true), H.new_build);
        near(moved(|s| s.tenure = Tenure::Leasehold), H.leasehold_house);
        near(
            moved(|s| s.age_band = Some(AgeBand::L)),
            H.age_band[11] - H.age_band[3],
        );
        near(moved(|s| s.age_band = None), 0.5 - H.age_band[3]);
        near(
            moved(|s| s.rating = Some(EnergyRating::A)),
            H.rating[0] - H.rating[3],
        );
        near(
            moved(|s| s.subtype = Some(PropertySubtype::BungalowSemiDetached)),
            H.subtype.bungalow_semi_detached,
        );
    }

    #[test]
    fn a_house_on_the_longest_lease_is_worth_no_more_than_its_freehold() {
        let mut hedonic = *H;
        hedonic.leasehold_house = 0.0;
        let of = |kind, years| {
            let mut s = subject();
            s.tenure = Tenure::Leasehold;
            s.lease = Some(lease(years));
            title_effect(&hedonic, kind, &s)
        };
        assert_eq!(of(PropertyKind::Terraced, 999.0), 0.0);
        assert!(of(PropertyKind::Terraced, 80.0) < 0.0);
        assert!(of(PropertyKind::Flat, 999.0) > 0.0);
    }

    #[test]
    fn a_longer_lease_is_worth_more() {
        let with = |years_remaining| {
            let mut s = subject();
            s.tenure = Tenure::Leasehold;
            s.lease = Some(lease(years_remaining));
            lease_effect(H, &s)
        };
        assert!(with(60.0) < with(80.0) && with(80.0) < with(999.0));
        assert_eq!(with(H.typical_lease_years), 0.0);
        assert!(with(0.0).is_finite());
    }
}
