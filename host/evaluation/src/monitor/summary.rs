//! The report as a table of plain text, for a terminal.

use super::{Alarm, Header, MonitorReport, Segment, Verdict};
use std::fmt::Write;

/// Returns the summary, many lines.
pub fn summary(report: &MonitorReport) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(report, &mut out);
    out
}

fn write(report: &MonitorReport, out: &mut String) -> std::fmt::Result {
    let subject = &report.subject;
    writeln!(
        out,
        "{} on {}, sales of {} to {} in {}, registered through {}",
        subject.release_id,
        subject.snapshot_id,
        subject.from,
        subject.to,
        subject.later_snapshot_id,
        subject.registered_through
    )?;
    let against = expected_words(subject);
    writeln!(
        out,
        "The median error of three months against {against}; {} sales of homes that the release does not know\n",
        subject.unknown_homes
    )?;
    writeln!(
        out,
        "{:9} {:28} {:>7} {:>8} {:>8} {:>8} {:>6}",
        "to", "", "valued", "error", "expected", "change", "cover"
    )?;
    for window in &report.windows {
        let shown = window
            .segments
            .iter()
            .filter(|it| it.by == "all" || it.by == "type" || it.alarm.is_some());
        for segment in shown {
            line(out, &window.month, segment, window.complete)?;
        }
    }
    let months: Vec<&str> = report
        .windows
        .iter()
        .filter(|window| window.is_alarmed())
        .map(|window| window.month.as_str())
        .collect();
    let months = months.join(", ");
    match report.verdict() {
        Verdict::Alarm(_) => return writeln!(out, "\nALARM in the windows to {months}"),
        _ if months.is_empty() => {}
        Verdict::NoAlarm(_) => writeln!(out, "\nAn alarm of the windows to {months} has ended")?,
        _ => writeln!(
            out,
            "\nAn alarm of the windows to {months} was not judged again"
        )?,
    }
    writeln!(out, "\n{}", report.verdict_words())
}

/// Returns the error that the median error is compared with, in words.
pub(super) fn expected_words(subject: &Header) -> &'static str {
    match subject.against_backtest {
        true => "that of the back-test",
        false => "zero, since the package has no back-test",
    }
}

fn line(out: &mut String, month: &str, segment: &Segment, complete: bool) -> std::fmt::Result {
    let signed = |share: Option<f64>| {
        share.map_or_else(|| "-".to_owned(), |share| format!("{:+.2}", 100.0 * share))
    };
    let cover = segment.ranges.as_ref().map_or_else(
        || "-".to_owned(),
        |ranges| format!("{:.1}", 100.0 * ranges.coverage),
    );
    let word = match (segment.alarm, complete) {
        (Some(Alarm::Bias), _) => "  ALARM: the median error moved",
        (Some(Alarm::Coverage), _) => "  ALARM: ranges hold too few prices",
        (None, false) => "  not all registered yet",
        (None, true) => "",
    };
    let name = segment.name.as_deref().unwrap_or(&segment.key);
    writeln!(
        out,
        "{month:9} {name:28} {:>7} {:>8} {:>+8.2} {:>8} {cover:>6}{word}",
        segment.valued,
        signed(segment.median_error),
        100.0 * segment.expected,
        signed(segment.change),
    )
}
