//! By how much estimates change from A to B.

use super::paired::PairedRow;
use crate::histogram::Histogram;
use crate::number::{count, median, quantile, round};
use serde::{Deserialize, Serialize};

/// The change of a value is B's estimate over A's, less 1. Shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Rows that both value.
    pub rows: usize,
    /// Those whose estimate is not the same to the bit.
    pub moved: usize,
    /// Median change, with its sign.
    pub median: f64,
    /// Median of the changes without their signs.
    pub median_absolute: f64,
    /// The change below which a tenth of the rows lie.
    pub tenth: f64,
    /// The change below which nine tenths lie.
    pub ninetieth: f64,
    /// Share of rows that move by more than 1 %, either way.
    pub over_1: f64,
    /// By more than 5 %.
    pub over_5: f64,
    /// By more than 10 %.
    pub over_10: f64,
    /// The furthest down, or the least up.
    pub lowest: f64,
    /// The furthest up, or the least down.
    pub highest: f64,
    /// Change of the sum of all estimates.
    pub total: f64,
}

impl Change {
    /// Computes the change of the rows that both value, or returns `None` without any.
    pub fn of(rows: &[&PairedRow]) -> Option<Change> {
        let mut changes: Vec<f64> = rows.iter().filter_map(|row| row.change()).collect();
        changes.sort_unstable_by(f64::total_cmp);
        let both = || rows.iter().filter_map(|row| row.estimates());
        let (a, b) = both().fold((0.0, 0.0), |(a, b), row| (a + row.a, b + row.b));
        let over = |least: f64| {
            // Tolerance: a change of 5 % is not over it because of rounding.
            let over = changes.iter().filter(|change| change.abs() > least + 1e-12);
            round(count(over.count()) / count(changes.len()))
        };
        Some(Change {
            rows: changes.len(),
            moved: both().filter(|row| row.a != row.b).count(),
            median: round(median(changes.clone())?),
            median_absolute: round(median(changes.iter().map(|c| c.abs()).collect())?),
            tenth: round(quantile(&changes, 0.1)?),
            ninetieth: round(quantile(&changes, 0.9)?),
            over_1: over(0.01),
            over_5: over(0.05),
            over_10: over(0.10),
            lowest: round(*changes.first()?),
            highest: round(*changes.last()?),
            total: round(b / a - 1.0),
        })
    }
}

/// Widths that a bin may have.
const STEPS: [f64; 7] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05];
/// Bins. The number is odd, so that no change at all is in the middle of one.
const BINS: usize = 41;
/// Share of the changes that the bins should hold.
const SHARE_IN_BINS: f64 = 0.98;

/// Counts the changes in the finest bins that hold nearly all of them.
pub fn distribution(rows: &[&PairedRow]) -> Histogram {
    let changes: Vec<f64> = rows.iter().filter_map(|row| row.change()).collect();
    let mut found = Histogram::empty(0.0, 1.0, 0);
    for step in STEPS {
        found = Histogram::empty(-step * count(BINS) / 2.0, step, BINS);
        changes.iter().for_each(|change| found.add(*change));
        let in_bins = count(changes.len() - found.below - found.above);
        if in_bins >= SHARE_IN_BINS * count(changes.len()) {
            break;
        }
    }
    found
}

/// Rows drawn one by one at most.
const POINTS: usize = 800;

/// Returns a's estimate in pounds and the change, of rows that both value; of many, an even part.
pub fn points(rows: &[&PairedRow]) -> Vec<[f64; 2]> {
    let all: Vec<[f64; 2]> = rows
        .iter()
        .filter_map(|row| Some([row.estimates()?.a, round(row.change()?)]))
        .collect();
    let every = all.len().div_ceil(POINTS).max(1);
    all.into_iter().step_by(every).collect()
}

/// Returns a share per cent with its sign, but for nothing.
pub(crate) fn signed_percent(share: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * share);
    match text.as_str() {
        "-0.0 %" | "+0.0 %" => "0.0 %".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_sign() {
        let texts = [-0.000_4, -0.0, 0.000_4, -0.000_6, 0.051].map(signed_percent);
        assert_eq!(texts, ["0.0 %", "0.0 %", "0.0 %", "-0.1 %", "+5.1 %"]);
    }
}
