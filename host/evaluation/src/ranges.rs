//! The comparison of ranges' coverage with their nominal share.

use crate::number::{count, effective_rows, median, round, score_interval};
use crate::row::{Prediction, Row};
use serde::{Deserialize, Serialize};

/// The ranges of some rows. Shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// Values that had a range.
    pub rows: usize,
    /// Share of them whose price lay in the range, ends included.
    pub coverage: f64,
    /// Independent rows that say as much about the share, rounded. Rows of one postcode are not
    /// independent.
    pub effective_rows: usize,
    /// The share's 95 % score interval by the effective rows.
    pub interval: [f64; 2],
    /// The nominal share.
    pub nominal: f64,
    /// True if the nominal share lies in the interval.
    pub agrees: bool,
    /// Share of prices below their range.
    pub below: f64,
    /// Share of prices above their range.
    pub above: f64,
    /// Median of (upper - lower) / estimate.
    pub median_width: f64,
}

/// A price, an estimate of it and the estimate's range, pounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangedEstimate<'a> {
    /// The home's postcode.
    pub postcode: &'a str,
    /// The price paid.
    pub price: f64,
    /// The estimate.
    pub estimate: f64,
    /// Lower and upper end.
    pub range: [f64; 2],
}

impl Ranges {
    /// Computes the coverage of the rows with a range, or returns `None` without any.
    pub fn of(rows: &[&Row], nominal: f64) -> Option<Ranges> {
        let ranged = rows.iter().filter_map(|row| match row.answer {
            Prediction::Valued {
                estimate,
                range: Some(range),
                ..
            } => Some(RangedEstimate {
                postcode: &row.postcode,
                price: row.price,
                estimate,
                range,
            }),
            _ => None,
        });
        Ranges::of_ranged(&ranged.collect::<Vec<_>>(), nominal)
    }

    /// Returns the figures of these ranges, or `None` of an empty list.
    pub fn of_ranged(ranged: &[RangedEstimate<'_>], nominal: f64) -> Option<Ranges> {
        if ranged.is_empty() {
            return None;
        }
        let below = ranged.iter().filter(|row| row.price < row.range[0]).count();
        let above = ranged.iter().filter(|row| row.price > row.range[1]).count();
        let covered = ranged.len() - below - above;
        let effective = effective_rows(ranged.iter().map(|row| (row.postcode, row.covers())));
        let held = count(covered) / count(ranged.len());
        let interval = score_interval(held, effective).map(round);
        let share = |rows: usize| round(count(rows) / count(ranged.len()));
        let widths = ranged.iter().map(RangedEstimate::width);
        Some(Ranges {
            rows: ranged.len(),
            coverage: share(covered),
            effective_rows: effective.round() as usize,
            interval,
            nominal,
            agrees: interval[0] <= nominal && nominal <= interval[1],
            below: share(below),
            above: share(above),
            median_width: round(median(widths.collect())?),
        })
    }
}

impl RangedEstimate<'_> {
    /// Returns whether the range holds the price, ends included.
    fn covers(&self) -> bool {
        self.range[0] <= self.price && self.price <= self.range[1]
    }

    /// Returns (upper - lower) / estimate.
    pub fn width(&self) -> f64 {
        (self.range[1] - self.range[0]) / self.estimate
    }
}
