//! Calibrated ranges, by split conformal prediction.
//!
//! The calibration uses sales later than the fit. The score of a valuation is
//! |ln price − ln estimate| over the standard deviation of its confidence. The quantile q of a
//! segment is its ⌈(n + 1) coverage⌉-th smallest score. A range is estimate × exp(± q × standard
//! deviation): it covers the stated share of the segment's prices.
//!
//! A segment is a type and a tenth of confidence, because errors do not grow quite as the standard
//! deviation does. The departure is greatest at very high and very low confidence.
//!
//! The quantile of few sales is a chance value. So calibration shrinks each quantile towards that
//! of its parent, as a mean of logarithms in which the parent counts for a number of sales:
//!
//! 1. a type and a tenth are shrunk towards all sales, as if [`PRIOR_SALES_OF_GROUP`] sales had
//!    agreed with those;
//! 2. a segment is shrunk as if [`PRIOR_SALES`] sales had agreed with its parent.
//!
//! The parent of a segment is its tenth's quantile, times the ratio of its type's to that of all.
//! Each sale of a type therefore counts. No segment jumps from its own quantile to that of all when
//! it falls below a least number of sales.
//!
//! Two factors follow, one for the build period and one for the local authority. New homes resemble
//! each other more, and some places are more mixed, than confidence tells. The factor of a build
//! period is the conformal quantile of its scores relative to their segments' quantiles. An
//! authority's factor is computed in the same way after it. Both are shrunk towards one, as if
//! [`PRIOR_SALES`] sales had agreed with their segments.

use crate::build_period::BuildPeriod;
use crate::confidence::scale;
use crate::parameters::{ConfidenceParameters, ConformalParameters, SegmentQuantile};
use crate::property_kind::PropertyKind;
use domesday_sdk::ValueRange;

/// Returns the tenth of a confidence: 0, the lowest, to 9.
pub fn tenth(tenths: &[f64; 9], confidence: f64) -> usize {
    tenths.iter().filter(|from| confidence >= **from).count()
}

/// The facts about a valuation that decide the width of its range.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Property type.
    pub kind: PropertyKind,
    /// Confidence score.
    pub confidence: f64,
    /// Build period.
    pub built: BuildPeriod,
    /// Nine-character code of the local authority, or empty.
    pub authority: &'a str,
}

/// Returns the quantile of a valuation: that of its first segment with one, times the factors.
pub fn quantile(p: &ConformalParameters, of: Segment<'_>) -> Option<f64> {
    let tenth = tenth(&p.tenths, of.confidence);
    let segments: &[SegmentQuantile; 10] = p.by_type_and_tenth.of(of.kind);
    let (of_type, of_all) = (p.by_type.of(of.kind).quantile, p.all.quantile);
    let both = || Some(p.by_tenth[tenth].quantile? * of_type? / of_all.filter(|q| *q > 0.0)?);
    let quantile = segments[tenth]
        .quantile
        .or_else(both)
        .or(of_type)
        .or(of_all)?;
    let of_built = p.by_build_period.of(of.built).factor;
    let authorities = p.by_authority.0;
    let found = authorities.binary_search_by_key(&of.authority, |known| known.authority);
    let of_authority = found.map_or(1.0, |at| authorities[at].factor);
    Some(quantile * of_built * of_authority)
}

/// Sales at which a group's own quantile and the prior of one count equally.
pub const PRIOR_SALES: f64 = 200.0;

/// The same for a type or a tenth of confidence, which differ more.
#[cfg(not(target_arch = "wasm32"))]
pub const PRIOR_SALES_OF_GROUP: f64 = 40.0;

/// Returns the factor of a group of sales, from the quantile of their relative scores.
#[cfg(not(target_arch = "wasm32"))]
pub fn shrunk_factor(quantile: f64, sales: usize) -> f64 {
    shrunk(Some(quantile), sales, 1.0, PRIOR_SALES)
}

/// Returns the mean of a quantile of `sales` and of its parent, in logarithms. The parent counts
/// for `prior` sales. It stands alone where a quantile is absent or not positive.
#[cfg(not(target_arch = "wasm32"))]
pub fn shrunk(quantile: Option<f64>, sales: usize, parent: f64, prior: f64) -> f64 {
    let positive = |quantile: &f64| *quantile > 0.0;
    let Some(quantile) = quantile.filter(positive).filter(|_| positive(&parent)) else {
        return parent;
    };
    let weight = sales as f64 / (sales as f64 + prior);
    libm::exp(weight * libm::log(quantile) + (1.0 - weight) * libm::log(parent))
}

/// Returns the range of a valuation, or `None` if ranges are not calibrated or comparables too few.
pub fn range(
    p: Option<&ConformalParameters>,
    confidence: &ConfidenceParameters,
    segment: Segment<'_>,
    comparables: usize,
    estimate: f64,
) -> Option<ValueRange> {
    let p = p?;
    if comparables < p.least_comparables as usize {
        return None;
    }
    let width = libm::exp(quantile(p, segment)? * scale(confidence, segment.confidence));
    let range = ValueRange {
        lower: estimate / width,
        upper: estimate * width,
    };
    (range.lower > 0.0 && range.upper.is_finite()).then_some(range)
}

/// Returns the same value for every type.
#[cfg(test)]
pub(crate) fn per_type<T: Copy>(value: T) -> crate::parameters::PerType<T> {
    crate::parameters::PerType {
        detached: value,
        semi_detached: value,
        terraced: value,
        flat: value,
    }
}

/// Returns a calibration with the same quantile in every segment and factors of one.
#[cfg(test)]
pub(crate) fn uniform(cell: SegmentQuantile) -> ConformalParameters {
    use crate::parameters::{PerBuildPeriod, WidthFactor};
    let none = WidthFactor {
        sales: 100,
        factor: 1.0,
    };
    ConformalParameters {
        coverage: 0.8,
        least_comparables: 5,
        tenths: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        by_type_and_tenth: per_type([cell; 10]),
        by_tenth: [cell; 10],
        by_type: per_type(cell),
        all: cell,
        by_build_period: PerBuildPeriod {
            new: none,
            modern: none,
            older: none,
            unknown: none,
        },
        by_authority: crate::embedded_parameters::StaticList(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::embedded_parameters::StaticList;
    use crate::parameters::AuthorityFactor;

    fn cell(quantile: Option<f64>) -> SegmentQuantile {
        SegmentQuantile {
            sales: 100,
            quantile,
            median_absolute_error: None,
            within_10_percent: None,
        }
    }

    /// Returns tables whose lowest tenth has these quantiles. All other quantiles by type are 9.
    fn tables(
        segment: Option<f64>,
        of_tenth: Option<f64>,
        of_type: Option<f64>,
        all: Option<f64>,
    ) -> ConformalParameters {
        let mut segments = [cell(Some(9.0)); 10];
        segments[0] = cell(segment);
        let mut by_tenth = [cell(Some(8.0)); 10];
        by_tenth[0] = cell(of_tenth);
        let mut tables = uniform(cell(all));
        tables.by_type_and_tenth = per_type(segments);
        tables.by_tenth = by_tenth;
        tables.by_type = per_type(cell(of_type));
        tables.by_build_period.new.factor = 0.5;
        tables.by_authority = StaticList(&[
            AuthorityFactor {
                authority: "E07000001",
                sales: 100,
                factor: 1.5,
            },
            AuthorityFactor {
                authority: "E07000003",
                sales: 100,
                factor: 3.0,
            },
        ]);
        tables
    }

    const FLAT: Segment<'_> = Segment {
        kind: PropertyKind::Flat,
        confidence: 0.5,
        built: BuildPeriod::Unknown,
        authority: "",
    };

    fn upper(p: &ConformalParameters, score: f64, comparables: usize) -> Option<f64> {
        let c = &PARAMETERS.confidence;
        let of = Segment {
            confidence: score,
            ..FLAT
        };
        let range = range(Some(p), c, of, comparables, 100.0)?;
        assert!(range.lower <= 100.0 && 100.0 <= range.upper);
        Some((range.upper / 100.0).ln() / scale(c, score))
    }

    #[test]
    fn tenths_begin_at_their_bounds() {
        let tenths = tables(None, None, None, None).tenths;
        assert_eq!(
            [0.0, 0.1, 0.19, 0.2, 0.85, 0.9, 1.0].map(|c| tenth(&tenths, c)),
            [0, 1, 1, 2, 8, 9, 9]
        );
    }

    #[test]
    fn an_absent_segment_falls_back_to_its_parents() {
        let near = |found: Option<f64>, q: f64| assert!((found.unwrap() - q).abs() < 1e-9);
        let lowest = |p: &ConformalParameters| upper(p, 0.05, 5);
        let some = Some;
        near(
            lowest(&tables(some(1.0), some(2.0), some(3.0), some(4.0))),
            1.0,
        );
        // Two for its tenth, times three quarters for its type.
        near(lowest(&tables(None, some(2.0), some(3.0), some(4.0))), 1.5);
        near(lowest(&tables(None, None, some(3.0), some(4.0))), 3.0);
        near(lowest(&tables(None, some(2.0), None, some(4.0))), 4.0);
        near(upper(&tables(some(1.0), None, None, None), 0.55, 5), 9.0);
        assert_eq!(lowest(&tables(None, some(2.0), None, None)), None);
    }

    #[test]
    fn thin_evidence_has_no_range() {
        let p = tables(Some(1.0), None, None, None);
        assert_eq!(upper(&p, 0.05, 2), None);
        assert!(range(None, &PARAMETERS.confidence, FLAT, 9, 1.0).is_none());
    }

    #[test]
    fn build_period_and_authority_are_factors() {
        let p = tables(None, None, Some(2.0), Some(4.0));
        let of = |built, authority| {
            let segment = Segment {
                confidence: 0.05,
                built,
                authority,
                ..FLAT
            };
            quantile(&p, segment)
        };
        assert_eq!(of(BuildPeriod::Unknown, ""), Some(2.0));
        assert_eq!(of(BuildPeriod::New, ""), Some(1.0));
        assert_eq!(of(BuildPeriod::Modern, "E07000001"), Some(3.0));
        assert_eq!(of(BuildPeriod::Older, "E07000002"), Some(2.0));
        assert_eq!(of(BuildPeriod::New, "E07000003"), Some(3.0));
    }

    #[test]
    fn a_quantile_moves_from_its_parent_to_its_own_as_sales_grow() {
        let of = |sales| shrunk(Some(2.0), sales, 1.0, PRIOR_SALES_OF_GROUP);
        assert_eq!(of(0), 1.0);
        // Sixty flats pull their ranges most of the way.
        assert!(of(60) > 1.5 && of(100_000) > 1.999, "{}", of(60));
        assert_eq!(shrunk(None, 3, 1.5, 40.0), 1.5);
        assert_eq!(shrunk(Some(0.0), 300, 1.5, 40.0), 1.5);
        assert_eq!(shrunk(Some(2.0), 300, 0.0, 40.0), 0.0);
    }

    #[test]
    fn a_factor_of_few_sales_is_shrunk_towards_one() {
        assert!((shrunk_factor(4.0, 200) - 2.0).abs() < 1e-12);
        assert_eq!(shrunk_factor(1.0, 3), 1.0);
        let rising = [1, 100, 1_000, 100_000].map(|sales| shrunk_factor(1.2, sales));
        assert!(rising.is_sorted() && rising[3] < 1.2, "{rising:?}");
    }
}
