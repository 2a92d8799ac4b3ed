//! The property's own earlier sales: rolled forward by the index, then blended with what the
//! comparables say by how far each can be trusted.

use crate::drift::{Drift, resale};
use crate::kind::Kind;
use crate::parameters::{HedonicParameters, OwnHistoryParameters};
use crate::time::{Index, years_between};
use domesday_sdk::{BuildStatus, Sale, Subject};

/// A log value and its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// Natural logarithm of pounds.
    pub value: f64,
    /// Variance of it.
    pub variance: f64,
}

/// A sale of the property that may be used: a standard one, not too old.
pub fn usable(p: &OwnHistoryParameters, subject: &Subject, sale: &Sale) -> bool {
    let years = years_between(sale.day, subject.valuation_day);
    sale.standard && sale.price.is_finite() && sale.price > 0.0 && years > 0.0 && years <= p.years
}

/// What the property's own sales say it is worth on the valuation day. Sales newest first; the
/// older count less, by their age and by how far they are from the newest.
pub fn rolled(
    p: &OwnHistoryParameters,
    hedonic: &HedonicParameters,
    subject: &Subject,
    kind: Kind,
    sales: &[Sale],
    index: &Index,
    drift: &Drift,
) -> Option<Belief> {
    let mut newest = None;
    let (mut sum, mut precision) = (0.0, 0.0);
    for sale in sales {
        let Some(growth) = index.growth_since(sale.day) else {
            continue;
        };
        // A first sale's premium is paid once.
        let new_now = subject.build_status == BuildStatus::NewBuild;
        let premium = match (new_now, sale.new_build) {
            (true, false) => hedonic.new_build,
            (false, true) => -hedonic.new_build,
            _ => 0.0,
        };
        let years = years_between(sale.day, subject.valuation_day);
        let value = libm::log(sale.price * growth)
            + drift.since(sale.day)
            + resale(p, kind, years)
            + premium;
        let trust = agreement(p, value - *newest.get_or_insert(value))
            / (p.variance + p.variance_per_year * years);
        sum += value * trust;
        precision += trust;
    }
    newest?;
    Some(Belief {
        value: sum / precision,
        // What the index cannot know of this home is the same in each of its sales.
        variance: (1.0 / precision).max(p.variance),
    })
}

/// How far a sale is believed that stands so far from other evidence.
fn agreement(p: &OwnHistoryParameters, difference: f64) -> f64 {
    let ratio = difference / p.disagreement;
    1.0 / (1.0 + ratio * ratio)
}

/// Comparables and own history together, and the share of the own history.
///
/// The share falls with disagreement, but never so fast that a higher value from the comparables
/// would lower the whole.
pub fn blend(p: &OwnHistoryParameters, comparables: Belief, own: Option<Belief>) -> (Belief, f64) {
    let Some(own) = own else {
        return (comparables, 0.0);
    };
    let difference = own.value - comparables.value;
    let trust = agreement(p, difference) / own.variance;
    let precision = trust + 1.0 / comparables.variance;
    let share = trust / precision;
    let belief = Belief {
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

    fn level_index(day: i32) -> Index {
        Index::new(
            &[IndexPoint {
                month: 0,
                value: 100.0,
            }],
            day,
        )
        .unwrap()
    }

    fn of(own: &[Sale]) -> Option<Belief> {
        let s = subject();
        let kind = Kind::SemiDetached;
        let drift = Drift::of(&PARAMETERS.drift, kind, &s.postcode, s.valuation_day);
        rolled(P, H, &s, kind, own, &level_index(s.valuation_day), &drift)
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
    fn what_cannot_be_used_is_left_out() {
        let s = subject();
        let mut old = sale(1);
        old.day = s.valuation_day - 10_000;
        assert!(!usable(P, &s, &old));
        let mut gift = sale(1);
        gift.standard = false;
        assert!(!usable(P, &s, &gift));
        assert!(usable(P, &s, &sale(1)));
        assert!(of(&[]).is_none());
    }

    #[test]
    fn agreement_sharpens_and_disagreement_is_ignored() {
        let comparables = Belief {
            value: 12.0,
            variance: 0.03,
        };
        let near = Belief {
            value: 12.05,
            variance: 0.015,
        };
        let far = Belief {
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
        fn more_from_the_comparables_is_never_less_in_all(
            value in 8.0..16.0_f64, more in 0.0..2.0_f64, own in 8.0..16.0_f64,
            vc in 0.001..0.5_f64, vo in 0.001..0.5_f64,
        ) {
            let own = Some(Belief { value: own, variance: vo });
            let low = blend(P, Belief { value, variance: vc }, own).0.value;
            let high = blend(P, Belief { value: value + more, variance: vc }, own).0.value;
            prop_assert!(high >= low - 1e-12);
        }
    }
}
