//! The report as one self-contained page: no network, no script.

use super::summary::expected_words;
use super::{Alarm, ExpectedFrom, MonitorReport, Segment, Verdict, Window};
use crate::LEAST_ROWS;
use crate::html::plots::{self, MonthlySeries, PlotError};
use crate::html::tables::{group_label, percent};
use crate::html::{document, svg};
use maud::{Markup, html};

/// Segments in a table at most; the JSON has all.
const MOST: usize = 40;

/// Returns the page.
///
/// # Errors
/// [`PlotError`] if the plot cannot be drawn.
pub fn page(report: &MonitorReport) -> Result<String, PlotError> {
    let subject = &report.subject;
    let title = format!("Errors of {} since it was made", subject.release_id);
    let latest = report.latest_complete();
    let verdict = report.verdict();
    let body = html! {
        h1 { (title) }
        p.quiet {
            "Sales of " (subject.from) " to " (subject.to) " in " (subject.later_snapshot_id) ", which the release on " (subject.snapshot_id)
            " has not seen, each valued as served on its day. A window is three months. It raises alarms once " (subject.evidence_lag_days)
            " days have passed, since sales register late. The median error is compared with " (expected_words(subject)) "; "
            (subject.unknown_homes) " sales of homes that the release does not know are left out."
        }
        @for window in report.windows.iter().filter(|window| window.is_alarmed()) {
            @for segment in window.segments.iter().filter(|segment| segment.alarm.is_some()) {
                @if let Verdict::NoAlarm(_) = verdict {
                    p { "An alarm of the window to " (window.month) " has ended: " (describe_alarm(segment)) }
                } @else {
                    p.warning { "Window to " (window.month) ": " (describe_alarm(segment)) }
                }
            }
        }
        @match verdict {
            Verdict::Alarm(_) => {}
            Verdict::NoAlarm(_) => { p { (report.verdict_words()) "." } }
            Verdict::NoWindow | Verdict::TooFew(_) => { p.warning { (report.verdict_words()) "." } }
        }
        h2 { "All sales, window by window" }
        (course(report)?)
        (windows(report))
        @if let Some(window) = latest {
            h2 { "Segments of the window to " (window.month) }
            (segments(window))
        }
    };
    Ok(document(&title, &body))
}

/// Returns the facts of a segment's alarm in words.
pub fn describe_alarm(segment: &Segment) -> String {
    let name = group_label(&segment.key, segment.name.as_deref());
    match (segment.alarm, &segment.ranges) {
        // Not every value has a range.
        (Some(Alarm::Coverage), Some(ranges)) => format!(
            "ranges of {name} hold {} % of {} prices",
            percent(ranges.coverage, 1),
            ranges.rows
        ),
        _ => format!(
            "the median error of {name} is {} on {} sales{}",
            format_signed(segment.median_error),
            segment.valued,
            describe_expected(segment)
        ),
    }
}

/// Returns what the median error is compared with, as the end of a sentence.
fn describe_expected(segment: &Segment) -> String {
    let expected = format_signed(Some(segment.expected));
    match segment.expected_from {
        Some(ExpectedFrom::Segment) => format!(" and was {expected} in the back-test"),
        Some(ExpectedFrom::AllSales) => {
            format!(", and that of all sales was {expected} in the back-test")
        }
        Some(ExpectedFrom::Nothing) => {
            format!(" against zero, without a back-test of {LEAST_ROWS} values or more")
        }
        None => format!(" against an expected {expected}"),
    }
}

fn format_signed(share: Option<f64>) -> String {
    share.map_or_else(
        || "–".to_owned(),
        |share| format!("{:+.1} %", 100.0 * share),
    )
}

fn course(report: &MonitorReport) -> Result<Markup, PlotError> {
    let names: Vec<String> = report.windows.iter().map(|it| it.month.clone()).collect();
    let line = |label, colour, of: &dyn Fn(&Segment) -> Option<f64>| MonthlySeries {
        label,
        colour,
        points: (0..)
            .zip(&report.windows)
            .filter_map(|(at, window)| Some((at, 100.0 * of(window.segments.first()?)?)))
            .collect(),
    };
    let courses = [
        line("median error", plots::RELEASE, &|it| it.median_error),
        line("expected", plots::OTHER, &|it| {
            it.median_error.map(|_| it.expected)
        }),
    ];
    if courses[0].points.len() < 2 {
        return Ok(html! {});
    }
    let drawn = plots::months(&names, &courses)?;
    Ok(svg("Median error by window", drawn))
}

fn windows(report: &MonitorReport) -> Markup {
    let all = report
        .windows
        .iter()
        .filter_map(|window| Some((window, window.segments.first()?)));
    html! {
        div.scroll { table {
            thead { tr { th { "window to" } th { "registered" } (columns()) } }
            tbody { @for (window, segment) in all { tr {
                td { (window.month) } td { @if window.complete { "yes" } @else { "not all yet" } } (cells(segment))
            } } }
        } }
    }
}

fn segments(window: &Window) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "by" } th { "segment" } (columns()) } }
            tbody { @for segment in window.segments.iter().take(MOST) { tr {
                td { (segment.by.replace('_', " ")) } td { (group_label(&segment.key, segment.name.as_deref())) } (cells(segment))
            } } }
        } }
        @if window.segments.len() > MOST {
            p.quiet { "The first " (MOST) " of " (window.segments.len()) "; the JSON has all." }
        }
    }
}

fn columns() -> Markup {
    html! { th { "valued" } th { "median error" } th { "95 %" } th { "expected" } th { "change" } th { "covered" } }
}

fn cells(segment: &Segment) -> Markup {
    let class = |alarm: Alarm| {
        if segment.alarm == Some(alarm) {
            "bad"
        } else {
            ""
        }
    };
    html! {
        td { (segment.valued) } td { (format_signed(segment.median_error)) }
        td { @if let Some([low, high]) = segment.interval { (format_signed(Some(low))) " to " (format_signed(Some(high))) } }
        td {
            (format_signed(Some(segment.expected)))
            @if segment.expected_from == Some(ExpectedFrom::AllSales) { " " small { "of all sales" } }
        }
        td class=(class(Alarm::Bias)) { (format_signed(segment.change)) }
        td class=(class(Alarm::Coverage)) {
            @match &segment.ranges { Some(ranges) => { (percent(ranges.coverage, 1)) } None => { "–" } }
        }
    }
}
