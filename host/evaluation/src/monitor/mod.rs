//! The errors of a release in use, on sales that were registered after its snapshot was made.
//!
//! A release stays the same, and the market does not. Each window is three months of sales that the
//! release could not have seen, valued as it serves them. The median error of each segment is
//! compared with that of the release's own back-test, by the sampling errors of both. The coverage
//! of its ranges is compared with nominal. A window whose sales are not all registered yet is shown
//! and raises no alarm.

pub mod html;
pub mod metrics;
mod segment;
pub mod summary;

pub use segment::{Alarm, ExpectedFrom, Segment};

use crate::LEAST_ROWS;
use crate::group::Group;
use crate::report::{Report, type_words};
use crate::row::Row;
use domesday_registers::Day;
use segment::ExpectedError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the report's form. A member is only ever added under the same number.
pub const FORMAT: u32 = 1;
/// Months of sales in a window.
pub const WINDOW_MONTHS: i32 = 3;

/// The errors of a release, window by window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorReport {
    /// [`FORMAT`].
    pub format: u32,
    /// The release and the sales.
    pub subject: Header,
    /// True if a segment of the latest complete window raises an alarm. An earlier alarm has ended.
    pub alarmed: bool,
    /// Segments of the latest complete window that have sales enough for a test; 0 where nothing
    /// was judged. Absent in reports of earlier versions.
    #[serde(default)]
    pub judged: usize,
    /// The windows by their last month. The first have fewer months.
    pub windows: Vec<Window>,
}

/// The release and the sales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The release.
    pub release_id: String,
    /// The snapshot that it values from.
    pub snapshot_id: String,
    /// The snapshot that has the later sales.
    pub later_snapshot_id: String,
    /// First day of sale, YYYY-MM-DD.
    pub from: String,
    /// Last day of sale.
    pub to: String,
    /// The latest sale of the later snapshot.
    pub registered_through: String,
    /// Days that registers lag by.
    pub evidence_lag_days: u32,
    /// The change of a segment's median error that raises an alarm, a share of the price.
    pub alarm: f64,
    /// Share of prices that the ranges are meant to hold.
    pub nominal_coverage: f64,
    /// Sales of homes that the release's snapshot lacks, so that it cannot value them.
    pub unknown_homes: usize,
    /// True if the errors are compared with the release's own back-test, and not against zero.
    pub against_backtest: bool,
}

/// Three months of sales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Its last month, YYYY-MM.
    pub month: String,
    /// True if the registers have had their time to register its sales.
    pub complete: bool,
    /// All sales, then each segment.
    pub segments: Vec<Segment>,
}

impl MonitorReport {
    /// Returns the report on these rows. `backtest` is that of the release's package, and `name`
    /// tells an authority's name by its code.
    pub fn of(
        subject: Header,
        rows: &[Row],
        backtest: Option<&Report>,
        registered_through: Day,
        name: &dyn Fn(&str) -> Option<String>,
    ) -> MonitorReport {
        let mut months: Vec<i32> = rows.iter().map(|row| row.day.month()).collect();
        months.sort_unstable();
        months.dedup();
        let lag = i32::try_from(subject.evidence_lag_days).unwrap_or(i32::MAX);
        let complete_through = Day(registered_through.0.saturating_sub(lag));
        let windows: Vec<Window> = months
            .into_iter()
            .map(|month| {
                let within = (month - WINDOW_MONTHS + 1)..=month;
                let rows = rows.iter().filter(|row| within.contains(&row.day.month()));
                let rows: Vec<&Row> = rows.collect();
                let end = Day::first_of_month(month + 1).map(|next| Day(next.0 - 1));
                let complete = end.is_some_and(|end| end <= complete_through);
                let mut segments = segments(&rows, &subject, backtest, name);
                segment::raise_alarms(&mut segments, subject.alarm, complete);
                Window {
                    month: month_words(month),
                    complete,
                    segments,
                }
            })
            .collect();
        let latest = windows.iter().rev().find(|window| window.complete);
        MonitorReport {
            format: FORMAT,
            alarmed: latest.is_some_and(Window::is_alarmed),
            judged: latest.map_or(0, Window::count_judged),
            subject,
            windows,
        }
    }

    /// Returns the latest complete window.
    pub fn latest_complete(&self) -> Option<&Window> {
        self.windows.iter().rev().find(|window| window.complete)
    }

    /// Returns the result.
    pub fn verdict(&self) -> Verdict<'_> {
        match self.latest_complete() {
            None => Verdict::NoWindow,
            Some(window) if window.is_alarmed() => Verdict::Alarm(window),
            Some(window) if window.count_judged() == 0 => Verdict::TooFew(window),
            Some(window) => Verdict::NoAlarm(window),
        }
    }

    /// Returns the result in words, without those of earlier windows.
    pub fn verdict_words(&self) -> String {
        let subject = &self.subject;
        match self.verdict() {
            Verdict::NoWindow => format!(
                "Nothing judged: no window ended {} days or more before {}",
                subject.evidence_lag_days, subject.registered_through
            ),
            Verdict::TooFew(window) => format!(
                "Nothing judged: no segment of the window to {} has {LEAST_ROWS} values, and independent ones enough for a test",
                window.month
            ),
            Verdict::Alarm(window) => format!("ALARM in the window to {}", window.month),
            Verdict::NoAlarm(window) => {
                let ranges = match window.count_judged_ranges() {
                    0 => String::new(),
                    some => format!(", and of {some} whose ranges were tested none was refuted"),
                };
                format!(
                    "No alarm: of {} segments judged in the window to {}, no median error moved by {:.1} % or more beyond chance{ranges}",
                    window.count_judged(),
                    window.month,
                    100.0 * subject.alarm
                )
            }
        }
    }
}

/// The result of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict<'a> {
    /// No window is complete, so nothing was judged.
    NoWindow,
    /// No segment of the latest complete window could be tested, so nothing was judged.
    TooFew(&'a Window),
    /// A segment of the latest complete window raises an alarm.
    Alarm(&'a Window),
    /// None of those judged does. An alarm of an earlier window has ended.
    NoAlarm(&'a Window),
}

impl Window {
    /// Returns the number of its segments that have sales enough for a test.
    pub fn count_judged(&self) -> usize {
        self.segments.iter().filter(|it| it.is_judged()).count()
    }

    /// Returns the number of its segments that have ranges enough for a test.
    pub fn count_judged_ranges(&self) -> usize {
        let segments = self.segments.iter();
        segments.filter(|it| it.has_judged_ranges()).count()
    }

    /// Returns whether one of its segments raises an alarm.
    pub fn is_alarmed(&self) -> bool {
        self.segments.iter().any(|segment| segment.alarm.is_some())
    }
}

fn month_words(month: i32) -> String {
    let first = Day::first_of_month(month).unwrap_or(Day(0));
    first.to_string().chars().take(7).collect()
}

/// A function that returns the key of a row's segment.
type KeyOfRow = fn(&Row) -> &str;

/// Returns the segments of a window: all sales, and each type, authority and postcode area.
fn segments(
    rows: &[&Row],
    subject: &Header,
    backtest: Option<&Report>,
    name: &dyn Fn(&str) -> Option<String>,
) -> Vec<Segment> {
    let mut found = vec![Segment::of(
        ("all", "all"),
        None,
        rows,
        find_expected_error(backtest, "all", "all"),
        subject.nominal_coverage,
    )];
    let keys: [(&str, KeyOfRow); 3] = [
        ("type", |row| type_words(row.property_type)),
        ("authority", |row| &row.authority),
        ("postcode_area", |row| &row.postcode_area),
    ];
    for (by, key) in keys {
        let mut groups = BTreeMap::<&str, Vec<&Row>>::new();
        for row in rows {
            groups.entry(key(row)).or_default().push(row);
        }
        for (key, rows) in groups {
            let name = (by == "authority").then(|| name(key)).flatten();
            let expected = find_expected_error(backtest, by, key);
            let nominal = subject.nominal_coverage;
            found.push(Segment::of((by, key), name, &rows, expected, nominal));
        }
    }
    found
}

/// Returns the median error that the back-test had for a segment, else for all sales, else zero.
fn find_expected_error(backtest: Option<&Report>, by: &str, key: &str) -> ExpectedError {
    let Some(report) = backtest else {
        return ExpectedError::ZERO;
    };
    let groups = report.by(by).map_or(&[][..], |division| &division.groups);
    let own = match by {
        "all" => Some(&report.overall),
        _ => groups.iter().find(|group| group.key == key),
    };
    own.and_then(|own| expected_error(own, ExpectedFrom::Segment))
        .or_else(|| expected_error(&report.overall, ExpectedFrom::AllSales))
        .unwrap_or(ExpectedError::ZERO)
}

/// Returns the median error of a group of the back-test, or `None` below [`LEAST_ROWS`] values.
///
/// Each of its postcodes counts as one sale, since sales of one postcode are not independent. A
/// back-test of an earlier version has no number of postcodes, and each value counts for itself.
fn expected_error(group: &Group, from: ExpectedFrom) -> Option<ExpectedError> {
    let accuracy = group.accuracy.as_ref()?;
    let postcodes = group.intervals.as_ref().map(|it| it.postcodes);
    Some(ExpectedError {
        error: accuracy.median_error,
        from,
        rows: Some(postcodes.unwrap_or(accuracy.rows).min(accuracy.rows)),
    })
}

#[cfg(test)]
mod tests;
