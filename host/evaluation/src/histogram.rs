//! The distribution of errors.

use crate::row::Row;
use serde::{Deserialize, Serialize};

/// Lower end of the first bin with two ends. The last one ends as far above 0.
const FROM: f64 = -0.5;
/// Width of a bin.
const STEP: f64 = 0.025;
/// Bins with two ends.
const BINS: usize = 40;

/// Counts of errors (estimate / price - 1), or of changes, in bins of equal width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Lower end of the first bin.
    pub from: f64,
    /// Width of a bin; each holds its lower end and not its upper.
    pub step: f64,
    /// Below the first bin.
    pub below: usize,
    /// In each bin.
    pub counts: Vec<usize>,
    /// At or above the end of the last bin.
    pub above: usize,
}

impl Histogram {
    /// Counts the errors of the rows that have an estimate.
    pub fn of(rows: &[&Row]) -> Histogram {
        let mut histogram = Histogram::empty(FROM, STEP, BINS);
        for row in rows {
            if let Some(estimate) = row.estimate() {
                histogram.add(estimate / row.price - 1.0);
            }
        }
        histogram
    }

    /// Returns empty bins.
    pub(crate) fn empty(from: f64, step: f64, bins: usize) -> Histogram {
        Histogram {
            from,
            step,
            below: 0,
            counts: vec![0; bins],
            above: 0,
        }
    }

    /// Returns the number of values counted, also those beyond the bins.
    pub fn total(&self) -> usize {
        self.counts.iter().sum::<usize>() + self.below + self.above
    }

    /// Counts one more.
    pub(crate) fn add(&mut self, error: f64) {
        // Adds a tiny offset, so that a decimal end of a bin is one in binary, too.
        let bin = ((error - self.from) / self.step + 1e-9).floor();
        if bin < 0.0 {
            self.below += 1;
        } else {
            match self.counts.get_mut(bin as usize) {
                Some(count) => *count += 1,
                None => self.above += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_in_one_bin() {
        let mut found = Histogram::of(&[]);
        for error in [-0.9, -0.5, 0.0, 0.024, 0.025, 0.49, 0.5, 7.0] {
            found.add(error);
        }
        assert_eq!((found.below, found.above), (1, 2));
        let filled: Vec<(usize, usize)> = found
            .counts
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(filled, [(0, 1), (20, 2), (21, 1), (39, 1)]);
    }
}
