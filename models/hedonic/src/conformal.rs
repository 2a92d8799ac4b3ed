//! Calibrated ranges, by split conformal prediction.
//!
//! On sales later than those fitted on, the score of a valuation is |ln price − ln estimate| over
//! the standard deviation that its confidence stands for. The ⌈(n + 1) coverage⌉-th smallest
//! score of a segment is its quantile q, and a range is estimate × exp(± q × standard deviation):
//! of homes like those of the segment, the stated share of prices falls within.
//! The segment is the type and the third of confidence; a segment with too few sales uses its
//! type's, then that of all.

use crate::confidence::scale;
use crate::kind::Kind;
use crate::parameters::{Cell, ConfidenceParameters, ConformalParameters};
use domesday_sdk::ValueRange;

/// The third in which a confidence falls: 0, 1 or 2.
pub fn third(thirds: [f64; 2], confidence: f64) -> usize {
    thirds.iter().filter(|from| confidence >= **from).count()
}

/// The quantile for a valuation: of the first of its segments that has one.
fn quantile(p: &ConformalParameters, kind: Kind, confidence: f64) -> Option<f64> {
    let thirds: &[Cell; 3] = p.by_type_and_third.of(kind);
    [
        &thirds[third(p.thirds, confidence)],
        p.by_type.of(kind),
        &p.all,
    ]
    .iter()
    .find_map(|cell| cell.quantile)
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

    fn tables(segment: Option<f64>, of_type: Option<f64>, all: Option<f64>) -> ConformalParameters {
        let per = |c: Cell| PerType {
            detached: c,
            semi_detached: c,
            terraced: c,
            flat: c,
        };
        let thirds = [cell(segment), cell(Some(9.0)), cell(Some(9.0))];
        ConformalParameters {
            coverage: 0.8,
            least_comparables: 3,
            thirds: [0.4, 0.6],
            by_type_and_third: PerType {
                detached: thirds,
                semi_detached: thirds,
                terraced: thirds,
                flat: thirds,
            },
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
    fn thirds_begin_at_their_bounds() {
        assert_eq!(
            [0.0, 0.4, 0.59, 0.6, 1.0].map(|c| third([0.4, 0.6], c)),
            [0, 1, 1, 2, 2]
        );
    }

    #[test]
    fn a_thin_segment_falls_back_to_its_parent() {
        let near = |found: Option<f64>, q: f64| assert!((found.unwrap() - q).abs() < 1e-9);
        near(upper(&tables(Some(1.0), Some(2.0), Some(3.0)), 0.3, 5), 1.0);
        near(upper(&tables(None, Some(2.0), Some(3.0)), 0.3, 5), 2.0);
        near(upper(&tables(None, None, Some(3.0)), 0.3, 5), 3.0);
        near(upper(&tables(Some(1.0), None, None), 0.5, 5), 9.0);
        assert_eq!(upper(&tables(None, None, None), 0.3, 5), None);
    }

    #[test]
    fn thin_evidence_has_no_range() {
        assert_eq!(upper(&tables(Some(1.0), None, None), 0.3, 2), None);
        assert!(range(None, &PARAMETERS.confidence, Kind::Flat, 0.5, 9, 1.0).is_none());
    }
}
