//! The property's own earlier sales, carried forward by the index and blended with the estimate
//! from comparables. Each counts by its precision.

use crate::drift::{Drift, resale_premium};
use crate::log_estimate::LogEstimate;
use crate::parameters::{HedonicParameters, OwnHistoryParameters};
use crate::property_kind::PropertyKind;
use crate::time::{PriceIndex, years_between};
use domesday_sdk::{BuildStatus, Sale, Subject};

/// Returns whether a sale of the property can be used: it is standard and not too old.
pub fn is_usable(p: &OwnHistoryParameters, subject: &Subject, sale: &Sale) -> bool {
    let years = years_between(sale.day, subject.valuation_day);
    sale.standard && sale.price.is_finite() && sale.price > 0.0 && years > 0.0 && years <= p.years
}

/// Estimates the value on the valuation day from the property's own sales, newest first. An older
/// sale counts less by its age and by its departure from the newest.
pub fn estimate_from_own_sales(
    p: &OwnHistoryParameters,
    hedonic: &HedonicParameters,
    subject: &Subject,
    kind: PropertyKind,
    sales: &[Sale],
    index: &PriceIndex,
    drift: &Drift,
) -> Option<LogEstimate> {
    let mut newest = None;
    let (mut sum, mut precision) = (0.0, 0.0);
    for sale in sales {
        let Some(growth) = index.growth_since(sale.day) else {
            continue;
        };
        // The premium of a first sale is paid once.
        let new_now = subject.build_status == BuildStatus::NewBuild;
        let premium = match (new_now, sale.new_build) {
            (true, false) => hedonic.new_build,
            (false, true) => -hedonic.new_build,
            _ => 0.0,
        };
        let years = years_between(sale.day, subject.valuation_day);
        let value = libm::log(sale.price * growth)
            + drift.log_since(sale.day)
            + resale_premium(p, kind, years)
            + premium;
        let trust = agreement_weight(p, value - *newest.get_or_insert(value))
            / (p.variance + p.variance_per_year * years);
        sum += value * trust;
        precision += trust;
    }
    newest?;
    Some(LogEstimate {
        value: sum / precision,
        // The index error specific to this home is common to all its sales.
        variance: (1.0 / precision).max(p.variance),
    })
}

/// Returns the weight of an estimate that departs this far from other evidence.
fn agreement_weight(p: &OwnHistoryParameters, difference: f64) -> f64 {
    let ratio = difference / p.disagreement;
    1.0 / (1.0 + ratio * ratio)
}

/// Blends the estimates from comparables and own history. Returns the blend and the share of own
/// history.
///
/// The share falls with disagreement, but slowly enough that the blend still increases with the
/// estimate from comparables.
pub fn blend(
    p: &OwnHistoryParameters,
    comparables: LogEstimate,
    own: Option<LogEstimate>,
) -> (LogEstimate, f64) {
    let Some(own) = own else {
        return (comparables, 0.0);
    };
    let difference = own.value - comparables.value;
    let trust = agreement_weight(p, difference) / own.variance;
    let precision = trust + 1.0 / comparables.variance;
    let share = trust / precision;
    let belief = LogEstimate {
        value: comparables.value + share * difference,
        variance: 1.0 / precision + share * (1.0 - share) * difference * difference,
    };
    (belief, share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::testing::{sale, subject};
    use domesday_sdk::IndexPoint;
    use proptest::prelude::*;

    const P: &OwnHistoryParameters = &PARAMETERS.own_history;
    const H: &HedonicParameters = &PARAMETERS.hedonic;

    fn level_index(day: i32) -> PriceIndex {
        PriceIndex::new(
            &[IndexPoint {
                month: 0,
                value: 100.0,
            }],
            day,
        )
        .unwrap()
    }

    fn of(own: &[Sale]) -> Option<LogEstimate> {
        let s = subject();
        let kind = PropertyKind::SemiDetached;
        let drift = Drift::of(&PARAMETERS.drift, kind, &s.postcode, s.valuation_day);
        estimate_from_own_sales(P, H, &s, kind, own, &level_index(s.valuation_day), &drift)
    }

    #[test]
    fn one_sale_is_rolled_and_stripped_of_its_premium() {
        let mut own = sale(1);
        own.new_build = true;
        own.price = 200_000.0;
        let found = of(&[own]).unwrap();
        assert!((found.value - (200_000.0_f64.ln() - H.new_build)).abs() < 1e-12);
        assert!(found.variance >= P.variance);
    }

    #[test]
    fn an_old_or_nonstandard_sale_is_not_used() {
        let s = subject();
        let mut old = sale(1);
        old.day = s.valuation_day - 10_000;
        assert!(!is_usable(P, &s, &old));
        let mut gift = sale(1);
        gift.standard = false;
        assert!(!is_usable(P, &s, &gift));
        assert!(is_usable(P, &s, &sale(1)));
        assert!(of(&[]).is_none());
    }

    #[test]
    fn agreement_sharpens_and_disagreement_is_ignored() {
        let comparables = LogEstimate {
            value: 12.0,
            variance: 0.03,
        };
        let near = LogEstimate {
            value: 12.05,
            variance: 0.015,
        };
        let far = LogEstimate {
            value: 8.0,
            variance: 0.015,
        };
        let (both, share) = blend(P, comparables, Some(near));
        assert!(share > 0.5 && both.variance < 0.015);
        let (both, share) = blend(P, comparables, Some(far));
        assert!(share < 0.05 && (both.value - 12.0).abs() < 0.16);
        assert_eq!(blend(P, comparables, None), (comparables, 0.0));
    }

    proptest! {
        #[test]
        fn the_blend_increases_with_the_estimate_from_comparables(
            value in 8.0..16.0_f64, more in 0.0..2.0_f64, own in 8.0..16.0_f64,
            vc in 0.001..0.5_f64, vo in 0.001..0.5_f64,
        ) {
            let own = Some(LogEstimate { value: own, variance: vo });
            let low = blend(P, LogEstimate { value, variance: vc }, own).0.value;
            let high = blend(P, LogEstimate { value: value + more, variance: vc }, own).0.value;
            prop_assert!(high >= low - 1e-12);
        }
    }
}
