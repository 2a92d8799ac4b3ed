//! What a home's attributes are worth: the hedonic level of a home, in log price.
//!
//! The difference of two homes' levels turns the price of one into what it says of the other.
//! A home's level is
//!
//! ```text
//! h = type + subtype + elasticity × ln(area / reference area) + tenure + age + rating + new
//! ```
//!
//! without the location and the market, which the sales themselves bring.

use crate::kind::{Kind, age_index, rating_effect, subtype_effect};
use crate::parameters::HedonicParameters;
use crate::sold::Sold;
use domesday_sdk::{AgeBand, BuildStatus, EnergyRating, PropertySubtype, Subject, Tenure};

/// Effects that stand in where a home's own attribute is not known: those of the homes near by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Typical {
    /// Effect of construction age.
    pub age: f64,
    /// Effect of the energy rating.
    pub rating: f64,
}

/// Effect of a construction age band; none where it is not known.
pub fn age_effect(hedonic: &HedonicParameters, band: Option<AgeBand>) -> Option<f64> {
    band.and_then(age_index)
        .and_then(|i| hedonic.age_band.get(i))
        .copied()
}

/// Effect of an energy rating; none where it is not known.
pub fn energy_effect(hedonic: &HedonicParameters, rating: Option<EnergyRating>) -> Option<f64> {
    rating.and_then(|r| rating_effect(hedonic, r))
}

fn tenure_effect(hedonic: &HedonicParameters, kind: Kind, tenure: Tenure) -> f64 {
    match (kind, tenure) {
        (Kind::Flat, Tenure::Freehold) => hedonic.freehold_flat,
        (Kind::Detached | Kind::SemiDetached | Kind::Terraced, Tenure::Leasehold) => {
            hedonic.leasehold_house
        }
        _ => 0.0,
    }
}

fn subtype_or_none(hedonic: &HedonicParameters, subtype: Option<PropertySubtype>) -> f64 {
    subtype
        .and_then(|s| subtype_effect(hedonic, s))
        .unwrap_or(0.0)
}

/// Natural logarithm of a floor area over the reference area.
pub fn log_size(hedonic: &HedonicParameters, area_m2: f64) -> f64 {
    libm::log(area_m2 / hedonic.reference_area_m2)
}

/// The level of a sold home of a known or assumed size.
pub fn sale_level(
    hedonic: &HedonicParameters,
    kind: Kind,
    sale: &Sold,
    size: f64,
    typical: Typical,
) -> f64 {
    hedonic.property_type.of(kind)
        + subtype_or_none(hedonic, sale.subtype)
        + hedonic.area_elasticity.of(kind) * size
        + tenure_effect(hedonic, kind, sale.tenure)
        + age_effect(hedonic, sale.age_band).unwrap_or(typical.age)
        + energy_effect(hedonic, sale.rating).unwrap_or(typical.rating)
        + if sale.new_build {
            hedonic.new_build
        } else {
            0.0
        }
}

/// The level of the subject, without its size.
pub fn subject_level(
    hedonic: &HedonicParameters,
    kind: Kind,
    subject: &Subject,
    typical: Typical,
) -> f64 {
    hedonic.property_type.of(kind)
        + subtype_or_none(hedonic, Some(subject.subtype))
        + title_effect(hedonic, kind, subject)
        + age_effect(hedonic, subject.energy.age_band).unwrap_or(typical.age)
        + energy_effect(hedonic, subject.energy.rating).unwrap_or(typical.rating)
        + new_build_effect(hedonic, subject)
}

/// The premium of the subject's first sale, where it is yet to come.
pub fn new_build_effect(hedonic: &HedonicParameters, subject: &Subject) -> f64 {
    if subject.build_status == BuildStatus::NewBuild {
        hedonic.new_build
    } else {
        0.0
    }
}

/// Tenure and lease of the subject together. The years beyond a comparable's usual ones can win
/// back what a house loses by being leasehold, but no more: a freehold holds every year.
fn title_effect(hedonic: &HedonicParameters, kind: Kind, subject: &Subject) -> f64 {
    let effect = tenure_effect(hedonic, kind, subject.tenure) + lease_effect(hedonic, subject);
    if kind == Kind::Flat {
        effect
    } else {
        effect.min(0.0)
    }
}

/// What the years left on the subject's lease are worth against a comparable's, whose years the
/// registers do not tell: the share of a perpetuity that falls within n years is 1 − exp(−r n).
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
    use crate::sold::sold;
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
    fn a_twin_has_the_subjects_level() {
        let size = log_size(H, 90.0);
        let twin = sale_level(
            H,
            Kind::SemiDetached,
            &sold(&sale(1)),
            size,
            Typical::default(),
        );
        let own = subject_level(H, Kind::SemiDetached, &subject(), Typical::default())
            + H.area_elasticity.semi_detached * size;
        assert!((twin - own).abs() < 1e-12);
    }

    #[test]
    fn each_attribute_moves_the_level_by_its_effect() {
        let level = |s: &Sold| {
            sale_level(
                H,
                Kind::SemiDetached,
                s,
                0.0,
                Typical {
                    age: 0.5,
                    rating: 0.25,
                },
            )
        };
        let base = level(&sold(&sale(1)));
        let moved = |change: fn(&mut Sold)| {
            let mut s = sold(&sale(1));
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
        assert_eq!(of(Kind::Terraced, 999.0), 0.0);
        assert!(of(Kind::Terraced, 80.0) < 0.0);
        assert!(of(Kind::Flat, 999.0) > 0.0);
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
