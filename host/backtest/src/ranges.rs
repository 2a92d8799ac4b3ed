//! Whether ranges hold as many prices as they are meant to.

use crate::number::{count, median, rounded, wilson};
use crate::row::{Answer, Row};
use serde::{Deserialize, Serialize};

/// The ranges of some rows. Shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// Values that had a range.
    pub rows: usize,
    /// Share of them whose price lay in the range, ends included.
    pub coverage: f64,
    /// The share's 95 % score interval.
    pub interval: [f64; 2],
    /// What the share is meant to be.
    pub nominal: f64,
    /// Whether the nominal share lies in the interval.
    pub agrees: bool,
    /// Share of prices below their range.
    pub below: f64,
    /// Share of prices above their range.
    pub above: f64,
    /// Median of (upper - lower) / estimate.
    pub median_width: f64,
}

impl Ranges {
    /// Of the rows that have a range; None where none has.
    pub fn of(rows: &[&Row], nominal: f64) -> Option<Ranges> {
        let ranges: Vec<(f64, f64, [f64; 2])> = rows
            .iter()
            .filter_map(|row| match row.answer {
                Answer::Valued {
                    estimate,
                    range: Some(range),
                    ..
                } => Some((row.price, estimate, range)),
                _ => None,
            })
            .collect();
        let below = ranges.iter().filter(|(price, _, range)| *price < range[0]);
        let above = ranges.iter().filter(|(price, _, range)| *price > range[1]);
        let (below, above) = (below.count(), above.count());
        let held = ranges.len() - below - above;
        let interval = wilson(held, ranges.len())?;
        let share = |rows: usize| rounded(count(rows) / count(ranges.len()));
        let widths = ranges
            .iter()
            .map(|(_, estimate, range)| (range[1] - range[0]) / estimate);
        Some(Ranges {
            rows: ranges.len(),
            coverage: share(held),
            interval,
            nominal,
            agrees: interval[0] <= nominal && nominal <= interval[1],
            below: share(below),
            above: share(above),
            median_width: rounded(median(widths.collect())?),
        })
    }
}
