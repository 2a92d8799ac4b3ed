//! The drift of a release as charts and a table: bias and coverage by month and segment.

use crate::chart::{ChartSeries, Interval, intervals};
use crate::number::{percent, signed_percent};
use domesday_evaluation::monitor::html::describe_alarm;
use domesday_evaluation::monitor::{Alarm, MonitorReport, Segment, Verdict, Window};
use domesday_registers::Day;
use maud::{Markup, html};

/// Segments in a chart at most.
const MOST_DRAWN: usize = 5;
/// Segments in the table at most.
const MOST_LISTED: usize = 100;
/// The ways in which sales are divided, with their words.
pub const WAYS: [(&str, &str); 4] = [
    ("all", "All sales"),
    ("type", "Types"),
    ("authority", "Local authorities"),
    ("postcode_area", "Postcode areas"),
];

/// Returns the alarms of a report, the latest window first.
pub fn alarms(report: &MonitorReport) -> Markup {
    let verdict = report.verdict();
    html! {
        @for window in report.windows.iter().rev() {
            @for segment in window.segments.iter().filter(|segment| segment.alarm.is_some()) {
                @if let Verdict::NoAlarm(_) = verdict {
                    p { "An alarm of the window to " (window.month) " has ended: " (describe_alarm(segment)) "." }
                } @else {
                    p.refusal role="alert" {
                        strong { "Alarm, " (alarm_name(segment)) ": " }
                        "in the window to " (window.month) ", " (describe_alarm(segment)) "."
                    }
                }
            }
        }
        @match verdict {
            Verdict::Alarm(_) => {}
            Verdict::NoAlarm(_) => { p { (report.verdict_words()) "." } }
            Verdict::NoWindow | Verdict::TooFew(_) => { p.refusal { (report.verdict_words()) "." } }
        }
    }
}

fn alarm_name(segment: &Segment) -> &'static str {
    match segment.alarm {
        Some(Alarm::Bias) => "the median error moved",
        Some(Alarm::Coverage) => "ranges hold too few prices",
        None => "none",
    }
}

/// Returns the charts of bias and coverage by one way of dividing sales.
pub fn charts(report: &MonitorReport, by: &str, words: &str) -> Markup {
    let keys = drawn_keys(report, by);
    let bias = keys
        .iter()
        .map(|key| series(report, key, |it| it.median_error));
    let mut bias: Vec<ChartSeries> = bias.collect();
    let coverage = |it: &Segment| it.ranges.as_ref().map(|ranges| ranges.coverage);
    let covered = keys.iter().map(|key| series(report, key, coverage));
    let mut covered: Vec<ChartSeries> = covered.collect();
    if let [only] = keys.as_slice() {
        let mut expected = series(report, only, |it| it.median_error.map(|_| it.expected));
        "expected".clone_into(&mut expected.name);
        bias.push(expected);
    }
    let nominal = report.subject.nominal_coverage;
    if let Some(first) = keys.first() {
        let mut promised = series(report, first, |_| Some(nominal));
        "promised".clone_into(&mut promised.name);
        covered.push(promised);
    }
    let most = report.windows.last().map_or(0, |window| {
        window.segments.iter().filter(|it| it.by == by).count()
    });
    html! {
        @if most > MOST_DRAWN {
            p.quiet { "Drawn are " (MOST_DRAWN) " of " (most) ": those with an alarm, then those with most sales. The table has more." }
        }
        (intervals(&format!("Bias: median error, {}", words.to_lowercase()), "% of the price", &bias))
        (intervals(&format!("Coverage: prices in their range, {}", words.to_lowercase()), "%", &covered))
    }
}

/// Returns the segments of a division that are drawn: those with an alarm, then the largest.
fn drawn_keys<'a>(report: &'a MonitorReport, by: &str) -> Vec<&'a Segment> {
    let Some(last) = report.windows.last() else {
        return Vec::new();
    };
    let alarmed = |segment: &Segment| {
        let all = report.windows.iter().flat_map(|window| &window.segments);
        all.filter(|it| it.by == segment.by && it.key == segment.key)
            .any(|it| it.alarm.is_some())
    };
    let mut found: Vec<&Segment> = last.segments.iter().filter(|it| it.by == by).collect();
    found.sort_by_key(|segment| std::cmp::Reverse((alarmed(segment), segment.valued)));
    found.truncate(MOST_DRAWN);
    found
}

/// Returns a figure of a segment, window by window, in per cent.
fn series(
    report: &MonitorReport,
    of: &Segment,
    figure: impl Fn(&Segment) -> Option<f64>,
) -> ChartSeries {
    let name = label(of);
    let interval = |window: &Window| {
        let first = Day::parse_iso(&format!("{}-01", window.month))?;
        let after = Day::first_of_month(first.month() + 1)?;
        let mut segments = window.segments.iter();
        let found = segments.find(|it| it.by == of.by && it.key == of.key);
        let value = found.and_then(&figure).map(|share| 100.0 * share);
        Some(Interval {
            from: first.0,
            to: after.0 - 1,
            value,
            title: format!(
                "{name}, window to {}: {}",
                window.month,
                value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1} %"))
            ),
        })
    };
    ChartSeries {
        intervals: report.windows.iter().filter_map(interval).collect(),
        name: name.clone(),
    }
}

/// Returns the figures by window and segment as a table.
pub fn table(report: &MonitorReport, by: &str, words: &str) -> Markup {
    let rows = report.windows.iter().rev().flat_map(|window| {
        let segments = window.segments.iter().filter(|it| it.by == by);
        segments.map(move |segment| (window, segment))
    });
    let signed = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), signed_percent);
    html! {
        div.wide tabindex="0" {
            table {
                caption { (words) ", the latest window first" }
                thead {
                    tr {
                        th scope="col" { "Window to" } th scope="col" { "Alarm" } th scope="col" { "Segment" } th scope="col" { "Registered" }
                        th scope="col" { "Valued" } th scope="col" { "Median error" } th scope="col" { "Expected" }
                        th scope="col" { "Change" } th scope="col" { "In their range" }
                    }
                }
                tbody {
                    @for (window, segment) in rows.take(MOST_LISTED) {
                        tr {
                            td.date { (window.month) }
                            td { @if segment.alarm.is_some() { strong.alarm { (alarm_name(segment)) } } @else if segment.is_judged() { "none" } @else { "not judged" } }
                            th scope="row" { (label(segment)) }
                            td { @if window.complete { "yes" } @else { "not all yet" } }
                            td.number { (segment.valued) }
                            td.number { (signed(segment.median_error)) }
                            td.number { (signed(Some(segment.expected))) }
                            td.number { (signed(segment.change)) }
                            td.number { @match &segment.ranges { Some(ranges) => (percent(ranges.coverage, 1)), None => "–" } }
                        }
                    }
                }
            }
        }
    }
}

fn label(segment: &Segment) -> String {
    match &segment.name {
        Some(name) => format!("{name} ({})", segment.key),
        None => segment.key.replace('_', " "),
    }
}
