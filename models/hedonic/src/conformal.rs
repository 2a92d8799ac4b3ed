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

use crate::confidence::scale;
use crate::kind::Kind;
use crate::parameters::{Cell, ConfidenceParameters, ConformalParameters};
use domesday_sdk::ValueRange;

/// The tenth in which a confidence falls: 0, the lowest, to 9.
pub fn tenth(tenths: &[f64; 9], confidence: f64) -> usize {
    tenths.iter().filter(|from| confidence >= **from).count()
}

/// The quantile for a valuation: of the first of its segments that has one.
fn quantile(p: &ConformalParameters, kind: Kind, confidence: f64) -> Option<f64> {
    let tenth = tenth(&p.tenths, confidence);
    let segments: &[Cell; 10] = p.by_type_and_tenth.of(kind);
    let (of_type, of_all) = (p.by_type.of(kind).quantile, p.all.quantile);
    let both = || Some(p.by_tenth[tenth].quantile? * of_type? / of_all.filter(|q| *q > 0.0)?);
    segments[tenth]
        .quantile
        .or_else(both)
        .or(of_type)
        .or(of_all)
}

/// The range of a valuation. None where nothing is calibrated or the evidence is too thin.
pub fn range(
    p: Option<&ConformalParameters>,
    confidence: &ConfidenceParameters,
    kind: Kind,
    score: f64,
    comparables: usize,
    estimate: f64,
) -> Option<ValueRange> {
    let p = p?;
    if comparables < p.least_comparables as usize {
        return None;
    }
    let width = libm::exp(quantile(p, kind, score)? * scale(confidence, score));
    let range = ValueRange {
        lower: estimate / width,
        upper: estimate * width,
    };
    (range.lower > 0.0 && range.upper.is_finite()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;
    use crate::parameters::PerType;

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
        let per = |c: Cell| PerType {
            detached: c,
            semi_detached: c,
            terraced: c,
            flat: c,
        };
        let mut segments = [cell(Some(9.0)); 10];
        segments[0] = cell(segment);
        let mut by_tenth = [cell(Some(8.0)); 10];
        by_tenth[0] = cell(of_tenth);
        ConformalParameters {
            coverage: 0.8,
            least_comparables: 3,
            tenths: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
            by_type_and_tenth: PerType {
                detached: segments,
                semi_detached: segments,
                terraced: segments,
                flat: segments,
            },
            by_tenth,
            by_type: per(cell(of_type)),
            all: cell(all),
        }
    }

    fn upper(p: &ConformalParameters, score: f64, comparables: usize) -> Option<f64> {
        let c = &PARAMETERS.confidence;
        let range = range(Some(p), c, Kind::Flat, score, comparables, 100.0)?;
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
        assert!(range(None, &PARAMETERS.confidence, Kind::Flat, 0.5, 9, 1.0).is_none());
    }
}
