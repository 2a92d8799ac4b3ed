//! Quantiles that follow how ranges held as the market moved.
//!
//! All quantiles have one factor. Each confidence band has another where the release's bands are
//! given. The reason is that evidence thins out as a file ages, so that sales move from band to
//! band. A band's factor is shrunk towards one as that of an authority is.

use crate::conformal::shrunk_factor;
use crate::fit::adaptive::{STEP, STEP_BY_BAND, adapted_coverage};
use crate::fit::quantile::conformal_quantile;
use crate::parameters::{ConformalParameters, SegmentQuantile};
use crate::property_kind::PropertyKind;
use domesday_sdk::Day;
use std::collections::BTreeMap;

/// Options of an adaptation.
#[derive(Clone, Copy)]
pub(super) struct AdaptationOptions<'a> {
    /// Nominal coverage.
    pub(super) coverage: f64,
    /// Least sales that adapt anything.
    pub(super) least_sales: usize,
    /// Lower ends of the bands that adapt each by itself, or none.
    pub(super) bands: &'a [f64],
}

/// One sale.
#[derive(Clone, Copy)]
pub(super) struct ScoredSale {
    /// Its day.
    pub(super) day: Day,
    /// Confidence of its valuation.
    pub(super) confidence: f64,
    /// Score over its quantile.
    pub(super) score: f64,
}

/// Moves all quantiles to the coverage that the latest sales need, and returns that coverage.
pub(super) fn adapt(
    conformal: &mut ConformalParameters,
    sales: &[ScoredSale],
    options: AdaptationOptions<'_>,
) -> f64 {
    let mut scores: Vec<(Day, f64)> = sales.iter().map(|sale| (sale.day, sale.score)).collect();
    let adapted = level(&mut scores, options);
    let mut scores: Vec<f64> = scores.into_iter().map(|(_, score)| score).collect();
    let [stated, moved] =
        [options.coverage, adapted].map(|coverage| conformal_quantile(&mut scores, coverage));
    let (Some(stated), Some(moved)) = (stated.filter(|quantile| *quantile > 0.0), moved) else {
        return options.coverage;
    };
    let change = Change { moved, stated };
    change.apply(&mut conformal.all);
    for kind in PropertyKind::ALL {
        change.apply(conformal.by_type.of_mut(kind));
    }
    for tenth in 0..conformal.by_tenth.len() {
        change.apply_to_tenth(conformal, tenth);
    }
    if !options.bands.is_empty() && moved > 0.0 {
        adapt_bands(conformal, sales, moved / stated, options);
    }
    adapted
}

/// Moves the quantiles of each band to the coverage that its own latest sales need, after those of
/// all were moved by `factor`.
fn adapt_bands(
    conformal: &mut ConformalParameters,
    sales: &[ScoredSale],
    factor: f64,
    options: AdaptationOptions<'_>,
) {
    let mut scores = BTreeMap::<usize, Vec<(Day, f64)>>::new();
    for sale in sales {
        let of_band = scores.entry(band(options.bands, sale.confidence));
        of_band.or_default().push((sale.day, sale.score / factor));
    }
    for (at, mut scores) in scores {
        if scores.len() < options.least_sales {
            continue;
        }
        let adapted = level(&mut scores, options);
        let mut scores: Vec<f64> = scores.into_iter().map(|(_, score)| score).collect();
        let Some(quantile) = conformal_quantile(&mut scores, adapted) else {
            continue;
        };
        let change = Change {
            moved: shrunk_factor(quantile, scores.len()),
            stated: 1.0,
        };
        for tenth in 0..conformal.by_tenth.len() {
            let from = tenth
                .checked_sub(1)
                .map_or(0.0, |below| conformal.tenths[below]);
            if band(options.bands, from) == at {
                change.apply_to_tenth(conformal, tenth);
            }
        }
    }
}

/// Moves the bound of a tenth that is nearest to a band's lower end to that end, so that no tenth
/// lies in two bands. Ends beyond all confidences move none.
pub(super) fn align_tenths(
    tenths: &mut [f64; 9],
    bands: &[f64],
    confidences: impl Iterator<Item = f64> + Clone,
) {
    for (at, end) in bands.iter().enumerate() {
        let is_between = confidences.clone().any(|confidence| confidence < *end)
            && confidences.clone().any(|confidence| confidence >= *end);
        let distance = |bound: &f64| (bound - end).abs();
        // A bound that begins an earlier band stays there.
        let nearest = tenths
            .iter_mut()
            .filter(|bound| !bands[..at].contains(bound))
            .min_by(|one, other| distance(one).total_cmp(&distance(other)));
        if let Some(bound) = nearest.filter(|_| is_between) {
            *bound = *end;
        }
        tenths.sort_unstable_by(f64::total_cmp);
    }
}

/// Returns the band of a confidence, 0 being the lowest.
fn band(bands: &[f64], confidence: f64) -> usize {
    bands.iter().filter(|from| confidence >= **from).count()
}

/// Sorts scores by day, and returns the level that they settle at.
fn level(scores: &mut [(Day, f64)], options: AdaptationOptions<'_>) -> f64 {
    let step = match options.bands {
        [] => STEP,
        _ => STEP_BY_BAND,
    };
    scores.sort_by_key(|(day, _)| *day);
    adapted_coverage(scores, options.coverage, options.least_sales, step)
}

/// A change of quantiles by one ratio. It is not divided first, so that its bits stay.
#[derive(Clone, Copy)]
struct Change {
    moved: f64,
    stated: f64,
}

impl Change {
    fn apply(self, cell: &mut SegmentQuantile) {
        let moved = |quantile| quantile * self.moved / self.stated;
        cell.quantile = cell.quantile.map(moved);
    }

    fn apply_to_tenth(self, conformal: &mut ConformalParameters, tenth: usize) {
        self.apply(&mut conformal.by_tenth[tenth]);
        for kind in PropertyKind::ALL {
            let segments = conformal.by_type_and_tenth.of_mut(kind);
            self.apply(&mut segments[tenth]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_band_keeps_the_tenth_that_begins_there() {
        // Most confidences are below the upper ends of the bands.
        let mut tenths = [0.08, 0.12, 0.16, 0.2, 0.24, 0.28, 0.31, 0.35, 0.389];
        let confidences = [0.05, 0.3, 0.5, 0.75].into_iter();
        align_tenths(&mut tenths, &[0.0, 0.4, 0.7], confidences);
        assert_eq!(tenths, [0.08, 0.12, 0.16, 0.2, 0.24, 0.28, 0.31, 0.4, 0.7]);
    }

    #[test]
    fn a_tenth_begins_where_a_band_does() {
        let confidences = (20..60).map(|at| f64::from(at) / 100.0);
        let tenths = [0.24, 0.28, 0.32, 0.36, 0.39, 0.44, 0.48, 0.52, 0.56];
        let mut aligned = tenths;
        align_tenths(&mut aligned, &[0.0, 0.4, 0.7], confidences.clone());
        assert_eq!(
            aligned,
            [0.24, 0.28, 0.32, 0.36, 0.4, 0.44, 0.48, 0.52, 0.56]
        );
        let mut same = tenths;
        align_tenths(&mut same, &[], confidences);
        assert_eq!(same, tenths);
    }
}
