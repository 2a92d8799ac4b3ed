//! The local level from an area's price per square metre, used where comparables are few.

use crate::adjust::log_size;
use crate::log_estimate::LogEstimate;
use crate::parameters::{HedonicParameters, LocalLevelParameters};
use crate::property_kind::PropertyKind;
use crate::time::PriceIndex;
use domesday_sdk::{AreaLevel, Evidence, Refusal};

/// Estimates the local level from the smallest area with figures of this type. The level is the
/// residual of a home of the type's typical size. Returns `None` if no area has figures.
///
/// # Errors
/// [`Refusal`] if the evidence refuses a query.
pub fn estimate_from_area_figures(
    p: &LocalLevelParameters,
    hedonic: &HedonicParameters,
    kind: PropertyKind,
    slope: f64,
    index: Option<&PriceIndex>,
    evidence: &dyn Evidence,
) -> Result<Option<LogEstimate>, Refusal> {
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
        // The figures cover twelve months. This is the middle of them.
        let growth = index.map_or(1.0, |i| {
            i.growth_since_month(f64::from(figures.to_month) - 5.0)
        });
        let home =
            hedonic.property_type.of(kind) + (hedonic.area_elasticity.of(kind) + slope) * size;
        let value = libm::log(per_sqm * growth * typical) - home;
        return Ok(Some(LogEstimate { value, variance }));
    }
    Ok(None)
}

/// Combines two estimates of one level, each weighted by its precision.
pub fn combine(comparables: LogEstimate, area: Option<LogEstimate>) -> LogEstimate {
    let Some(area) = area else {
        return comparables;
    };
    let (a, b) = (1.0 / comparables.variance, 1.0 / area.variance);
    LogEstimate {
        value: (comparables.value * a + area.value * b) / (a + b),
        variance: 1.0 / (a + b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_certain_counts_for_more() {
        let one = LogEstimate {
            value: 1.0,
            variance: 0.01,
        };
        let two = LogEstimate {
            value: 2.0,
            variance: 0.03,
        };
        let both = combine(one, Some(two));
        assert!((both.value - 1.25).abs() < 1e-12);
        assert!((both.variance - 0.0075).abs() < 1e-12);
        assert_eq!(combine(one, None), one);
    }
}
