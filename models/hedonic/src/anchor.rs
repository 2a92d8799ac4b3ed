//! A local price per square metre, to hold on to where comparables are thin.

use crate::adjust::log_size;
use crate::kind::Kind;
use crate::own_history::Belief;
use crate::parameters::{AnchorParameters, HedonicParameters};
use crate::time::Index;
use domesday_sdk::{AreaLevel, Evidence, Refusal};

/// What the smallest area with figures of that type says of the local level: the residual of a
/// home of the type's typical size. None where no area has figures.
///
/// # Errors
/// Where the evidence refuses a question.
pub fn level(
    p: &AnchorParameters,
    hedonic: &HedonicParameters,
    kind: Kind,
    slope: f64,
    index: Option<&Index>,
    evidence: &dyn Evidence,
) -> Result<Option<Belief>, Refusal> {
    let areas = [
        (AreaLevel::PostcodeSector, p.sector_variance),
        (AreaLevel::PostcodeDistrict, p.district_variance),
        (AreaLevel::LocalAuthority, p.authority_variance),
    ];
    for (area, variance) in areas {
        let Some(figures) = evidence.area_figures(area, Some(kind.property_type()))? else {
            continue;
        };
        let usable = |price: &f64| price.is_finite() && *price > 0.0;
        let Some(per_sqm) = figures.price_per_sqm.filter(usable) else {
            continue;
        };
        let typical = *hedonic.typical_area_m2.of(kind);
        let size = log_size(hedonic, typical);
        // The middle of a window of twelve months.
        let growth = index.map_or(1.0, |i| {
            i.growth_since_month(f64::from(figures.to_month) - 5.0)
        });
        let home =
            hedonic.property_type.of(kind) + (hedonic.area_elasticity.of(kind) + slope) * size;
        let value = libm::log(per_sqm * growth * typical) - home;
        return Ok(Some(Belief { value, variance }));
    }
    Ok(None)
}

/// Two beliefs of the same level, each by its precision.
pub fn join(comparables: Belief, anchor: Option<Belief>) -> Belief {
    let Some(anchor) = anchor else {
        return comparables;
    };
    let (a, b) = (1.0 / comparables.variance, 1.0 / anchor.variance);
    Belief {
        value: (comparables.value * a + anchor.value * b) / (a + b),
        variance: 1.0 / (a + b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_certain_counts_for_more() {
        let one = Belief {
            value: 1.0,
            variance: 0.01,
        };
        let two = Belief {
            value: 2.0,
            variance: 0.03,
        };
        let both = join(one, Some(two));
        assert!((both.value - 1.25).abs() < 1e-12);
        assert!((both.variance - 0.0075).abs() < 1e-12);
        assert_eq!(join(one, None), one);
    }
}
