//! One segment of a window, and whether it raises an alarm.

use crate::LEAST_ROWS;
use crate::binomial::{LEVEL, find_refuted, p_value};
use crate::number::{count, effective_rows, median, quantile, round, score_interval};
use crate::ranges::Ranges;
use crate::row::Row;
use serde::{Deserialize, Serialize};

/// The distance of the coverage below nominal that raises no alarm.
const COVERAGE: f64 = 0.05;

/// The reason of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alarm {
    /// The median error has moved.
    Bias,
    /// The ranges hold too few prices.
    Coverage,
}

/// The source of the error that a segment is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedFrom {
    /// The segment in the back-test.
    Segment,
    /// All sales of the back-test, which has too few of the segment.
    AllSales,
    /// No back-test of sales enough: zero is expected.
    Nothing,
}

/// The median error that a segment is expected to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExpectedError {
    /// The error.
    pub(super) error: f64,
    /// Its source.
    pub(super) from: ExpectedFrom,
    /// Independent sales of the back-test that it is the median of; absent for zero, which has no
    /// sampling error.
    pub(super) rows: Option<usize>,
}

impl ExpectedError {
    /// The expected error without a back-test.
    pub(super) const ZERO: ExpectedError = ExpectedError {
        error: 0.0,
        from: ExpectedFrom::Nothing,
        rows: None,
    };
}

/// One segment of a window. Errors are estimate / price - 1; shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// By what: `all`, `type`, `authority` or `postcode_area`.
    pub by: String,
    /// Its key.
    pub key: String,
    /// Its name where the key is a code.
    pub name: Option<String>,
    /// Sales that the release valued.
    pub valued: usize,
    /// The median error that is expected.
    pub expected: f64,
    /// Its source; absent in reports of earlier versions.
    #[serde(default)]
    pub expected_from: Option<ExpectedFrom>,
    /// The median error; absent below [`LEAST_ROWS`] values.
    pub median_error: Option<f64>,
    /// Its 95 % interval by postcode.
    pub interval: Option<[f64; 2]>,
    /// The median error less the expected one.
    pub change: Option<f64>,
    /// Independent sales that say as much about the change, by the sampling errors of both medians.
    /// Absent below [`LEAST_ROWS`] values, and in reports of earlier versions.
    #[serde(default)]
    pub effective_rows: Option<usize>,
    /// The ranges; absent below [`LEAST_ROWS`] of them.
    pub ranges: Option<Ranges>,
    /// The alarm that it raises.
    pub alarm: Option<Alarm>,
    /// The p-value of the sign test of the change.
    #[serde(skip)]
    p_value: f64,
}

impl Segment {
    /// Returns the figures of a segment's rows, without an alarm.
    pub(super) fn of(
        (by, key): (&str, &str),
        name: Option<String>,
        rows: &[&Row],
        expected: ExpectedError,
        nominal: f64,
    ) -> Segment {
        let errors: Vec<(&str, f64)> = rows
            .iter()
            .filter_map(|row| Some((row.postcode.as_str(), row.estimate()? / row.price - 1.0)))
            .collect();
        let ranges = Ranges::of(rows, nominal).filter(|ranges| ranges.rows >= LEAST_ROWS);
        let mut segment = Segment {
            by: by.to_owned(),
            key: key.to_owned(),
            name,
            valued: errors.len(),
            expected: expected.error,
            expected_from: Some(expected.from),
            median_error: None,
            interval: None,
            change: None,
            effective_rows: None,
            ranges,
            alarm: None,
            p_value: 1.0,
        };
        if errors.len() >= LEAST_ROWS {
            segment.measure(&errors, expected.rows);
        }
        segment
    }

    /// Measures the change, and tests it by the sign test.
    ///
    /// The expected error is a median too, of `expected_rows` independent sales. In large samples
    /// the median of n errors with the density f has the variance 1 / (4 f² n). The source is
    /// Kendall and Stuart, *The Advanced Theory of Statistics* 1 (1969). So the variance of the
    /// difference of two medians is that of one median with 1/n + 1/m in place of 1/n. The test
    /// takes n m / (n + m) sales. A test of n sales would take the expected error for exact, and
    /// raise false alarms.
    fn measure(&mut self, errors: &[(&str, f64)], expected_rows: Option<usize>) {
        let mut sorted: Vec<f64> = errors.iter().map(|(_, error)| *error).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(middle) = median(sorted.clone()) else {
            return;
        };
        let below = |most: f64| {
            errors
                .iter()
                .map(move |(place, error)| (*place, *error <= most))
        };
        let ends = score_interval(0.5, effective_rows(below(middle)));
        let end = |at: usize| quantile(&sorted, ends[at]).map(round);
        self.median_error = Some(round(middle));
        self.interval = end(0).zip(end(1)).map(|(low, high)| [low, high]);
        self.change = Some(round(middle - self.expected));
        // The sign test: had nothing changed, half of the errors would be at most as expected.
        let sales = effective_rows(below(self.expected));
        let effective = expected_rows.map(count).map_or(sales, |expected_rows| {
            sales * expected_rows / (sales + expected_rows)
        });
        let share = count(below(self.expected).filter(|(_, it)| *it).count()) / count(errors.len());
        let rows = effective.round() as usize;
        self.effective_rows = Some(rows);
        self.p_value = p_value((share * effective).round() as usize, rows, 0.5);
    }

    /// Returns whether there are sales enough for a test. Reports of earlier versions tested each
    /// segment with figures.
    pub fn is_judged(&self) -> bool {
        match self.effective_rows {
            Some(rows) => can_refute(rows, 0.5) || self.has_judged_ranges(),
            None => self.median_error.is_some(),
        }
    }

    /// Returns whether there are ranges enough for a test.
    pub fn has_judged_ranges(&self) -> bool {
        self.coverage_p_value().is_some()
    }

    /// Returns the p-value of the change, or `None` if no change could be refuted.
    fn change_p_value(&self) -> Option<f64> {
        can_refute(self.effective_rows?, 0.5).then_some(self.p_value)
    }

    /// Returns the p-value of the coverage, or `None` if none could be refuted. It is 1 where the
    /// coverage is not below nominal by enough to matter.
    fn coverage_p_value(&self) -> Option<f64> {
        let ranges = self.ranges.as_ref()?;
        let effective = ranges.effective_rows.clamp(1, ranges.rows);
        if !can_refute(effective, ranges.nominal) {
            return None;
        }
        if ranges.coverage > ranges.nominal - COVERAGE {
            return Some(1.0);
        }
        let held = (ranges.coverage * count(effective)).round() as usize;
        Some(p_value(held.min(effective), effective, ranges.nominal))
    }
}

/// Returns whether the worst result of this number of rows would refute the share, tested alone.
fn can_refute(rows: usize, share: f64) -> bool {
    p_value(0, rows, share) <= 1.0 - LEVEL
}

/// Sets the alarms of a window's segments. A change must be as large as `alarm`, and refuted by a
/// sign test with Holm's correction for the segments that can be tested. An incomplete window has
/// none.
pub(super) fn raise_alarms(segments: &mut [Segment], alarm: f64, complete: bool) {
    if !complete {
        return;
    }
    let moved = refute(segments, Segment::change_p_value);
    let narrow = refute(segments, Segment::coverage_p_value);
    for ((segment, moved), narrow) in segments.iter_mut().zip(moved).zip(narrow) {
        let large = segment.change.is_some_and(|change| change.abs() >= alarm);
        segment.alarm = match (moved && large, narrow) {
            (true, _) => Some(Alarm::Bias),
            (_, true) => Some(Alarm::Coverage),
            _ => None,
        };
    }
}

/// Returns which segments a test refutes. Those without a p-value are none of its number, since
/// each more costs the others power.
fn refute(segments: &[Segment], p_value: fn(&Segment) -> Option<f64>) -> Vec<bool> {
    let p_values: Vec<Option<f64>> = segments.iter().map(p_value).collect();
    let tested: Vec<f64> = p_values.iter().copied().flatten().collect();
    let mut refuted = find_refuted(&tested).into_iter();
    p_values
        .iter()
        .map(|it| it.is_some() && refuted.next().unwrap_or(false))
        .collect()
}

#[cfg(test)]
#[path = "power_tests.rs"]
mod power_tests;
