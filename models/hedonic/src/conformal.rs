//! Calibrated ranges, by split conformal prediction.
//!
//! On sales later than those fitted on, the score of a valuation is |ln price − ln estimate| over
//! the standard deviation that its confidence stands for. The ⌈(n + 1) coverage⌉-th smallest
//! score of a segment is its quantile q, and a range is estimate × exp(± q × standard deviation):
//! of homes like those of the segment, the stated share of prices falls within.
//! The segment is the type and the tenth of confidence: how far off a valuation is does not grow quite as its
//! standard deviation says, least of all where confidence is very high or very low. A segment with too few sales
//! has its tenth's quantile over all types, times what its type's is to that of all; then its
//! type's, then that of all.
//! What remains different by when a home was built, and then by local authority, is a factor on that: new homes are
//! more like each other, and some places more mixed, than their confidence tells. The factor of a build time is the
//! conformal quantile of its scores against their segments' quantiles; an authority's is found in the same way after
//! it. Both are drawn towards one as though [`PRIOR_SALES`] had agreed with their segments, since they may rest on few.

use crate::built::Built;
use crate::confidence::scale;
use crate::kind::Kind;
use crate::parameters::{Cell, ConfidenceParameters, ConformalParameters};
use domesday_sdk::ValueRange;

/// The tenth in which a confidence falls: 0, the lowest, to 9.
pub fn tenth(tenths: &[f64; 9], confidence: f64) -> usize {
    tenths.iter().filter(|from| confidence >= **from).count()
}

/// What of a valuation decides how wide its range is.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Type.
    pub kind: Kind,
    /// Score of the valuation.
    pub confidence: f64,
    /// When the home was built.
    pub built: Built,
    /// Nine-character code of the local authority, or empty.
    pub authority: &'a str,
}

/// The quantile for a valuation: of the first of its segments that has one, times the factors.
pub fn quantile(p: &ConformalParameters, of: Segment<'_>) -> Option<f64> {
    let tenth = tenth(&p.tenths, of.confidence);
    let segments: &[Cell; 10] = p.by_type_and_tenth.of(of.kind);
    let (of_type, of_all) = (p.by_type.of(of.kind).quantile, p.all.quantile);
    let both = || Some(p.by_tenth[tenth].quantile? * of_type? / of_all.filter(|q| *q > 0.0)?);
    let quantile = segments[tenth]
        .quantile
        .or_else(both)
        .or(of_type)
        .or(of_all)?;
    let of_built = p.by_built.of(of.built).factor;
    let authorities = p.by_authority.0;
    let found = authorities.binary_search_by_key(&of.authority, |known| known.authority);
    let of_authority = found.map_or(1.0, |at| authorities[at].factor);
    Some(quantile * of_built * of_authority)
}

/// Sales at which their own quantile and that of their segments count alike.
pub const PRIOR_SALES: f64 = 200.0;

/// The factor of so many sales, from the quantile of their scores against their segments'.
#[cfg(not(target_arch = "wasm32"))]
pub fn factor(quantile: f64, sales: usize) -> f64 {
    let sales = sales as f64;
    libm::exp(libm::log(quantile) * sales / (sales + PRIOR_SALES))
}

/// The range of a valuation. None where nothing is calibrated or the evidence is too thin.
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

/// One value for every type.
#[cfg(test)]
pub(crate) fn per_type<T: Copy>(value: T) -> crate::parameters::PerType<T> {
    crate::parameters::PerType {
        detached: value,
        semi_detached: value,
        terraced: value,
        flat: value,
    }
}

/// Every segment of this cell, and no factor.
#[cfg(test)]
pub(crate) fn everywhere(cell: Cell) -> ConformalParameters {
    use crate::parameters::{Factor, PerBuilt};
    let none = Factor {
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
        by_built: PerBuilt {
            new: none,
            modern: none,
            older: none,
            unknown: none,
        },
        by_authority: crate::baked::Baked(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::baked::Baked;
    use crate::parameters::AuthorityRanges;

    fn cell(quantile: Option<f64>) -> Cell {
        Cell {
            sales: 100,
            quantile,
            median_absolute_error: None,
            within_10_percent: None,
        }
    }

    /// The lowest tenth has this segment; the others of every type have a quantile of 9.
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
        let mut tables = everywhere(cell(all));
        tables.by_type_and_tenth = per_type(segments);
        tables.by_tenth = by_tenth;
        tables.by_type = per_type(cell(of_type));
        tables.by_built.new.factor = 0.5;
        tables.by_authority = Baked(&[
            AuthorityRanges {
                authority: "E07000001",
                sales: 100,
                factor: 1.5,
            },
            AuthorityRanges {
                authority: "E07000003",
                sales: 100,
                factor: 3.0,
            },
        ]);
        tables
    }

    const FLAT: Segment<'_> = Segment {
        kind: Kind::Flat,
        confidence: 0.5,
        built: Built::Unknown,
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
    fn a_thin_segment_falls_back_to_its_parents() {
        let near = |found: Option<f64>, q: f64| assert!((found.unwrap() - q).abs() < 1e-9);
        let lowest = |p: &ConformalParameters| upper(p, 0.05, 5);
        let some = Some;
        near(
            lowest(&tables(some(1.0), some(2.0), some(3.0), some(4.0))),
            1.0,
        );
        // Two as its tenth, by three fourths as its type.
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
    fn when_it_was_built_and_where_it_stands_are_factors() {
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
        assert_eq!(of(Built::Unknown, ""), Some(2.0));
        assert_eq!(of(Built::New, ""), Some(1.0));
        assert_eq!(of(Built::Modern, "E07000001"), Some(3.0));
        assert_eq!(of(Built::Older, "E07000002"), Some(2.0));
        assert_eq!(of(Built::New, "E07000003"), Some(3.0));
    }

    #[test]
    fn few_sales_are_drawn_towards_the_others() {
        assert!((factor(4.0, 200) - 2.0).abs() < 1e-12);
        assert_eq!(factor(1.0, 3), 1.0);
        let rising = [1, 100, 1_000, 100_000].map(|sales| factor(1.2, sales));
        assert!(rising.is_sorted() && rising[3] < 1.2, "{rising:?}");
    }
}
