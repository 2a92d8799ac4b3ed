//! The package's back-test, run again: it must come out byte for byte.

use super::CheckError;
use super::finding::{Finding, Verdict};
use crate::backtest;
use crate::backtest::{BacktestInput, report_json, training_window};
use crate::build::holdout::PROBE_HOMES;
use domesday_evaluation::report::{FORMAT, Report};
use domesday_evaluation::request_shape::RequestShape;
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_valuation::comparison_header::training_data;
use serde_json::json;
use std::num::TryFromIntError;

pub const CHECK: &str = "backtest";

/// The reason why a package's back-test cannot be read.
#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("invalid date {0:?} in the report; it must be YYYY-MM-DD")]
    Day(String),
    #[error(transparent)]
    Lag(#[from] TryFromIntError),
}

/// Returns the options of a package's back-test.
///
/// # Errors
/// [`PlanError`] if the report is invalid JSON, has an invalid date, or a lag that is out of range.
fn options(stored: &[u8]) -> Result<backtest::BacktestOptions, PlanError> {
    let stored: Report = serde_json::from_slice(stored)?;
    let subject = &stored.subject;
    let day = |text: &str| Day::parse_iso(text).ok_or_else(|| PlanError::Day(text.to_owned()));
    let askable = subject.sales_in_window.saturating_sub(subject.not_askable);
    Ok(backtest::BacktestOptions {
        from: day(&subject.from)?,
        to: day(&subject.to)?,
        as_at: subject.as_at,
        // A package's back-test is of requests with stored data, whatever it says.
        request: RequestShape::Stored,
        evidence_lag_days: u16::try_from(subject.evidence_lag_days)?,
        // Whatever the sample was, this one takes the same sales.
        sample: Some(askable.div_ceil(subject.taken_every.max(1)).max(1)),
        probe_homes: match stored.leakage_probe {
            Some(_) => PROBE_HOMES,
            None => 0,
        },
        allow_overlap: false,
    })
}

/// Returns the form of a report that an earlier version made.
fn earlier_form(stored: &[u8]) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Form {
        format: u32,
    }
    let form = serde_json::from_slice::<Form>(stored).ok()?.format;
    (form < FORMAT).then_some(form)
}

/// Runs it again. The report that came out now stands beside the finding.
///
/// # Errors
/// [`CheckError`] if the host fails.
pub fn check(
    stored: &[u8],
    tested: &BacktestInput<'_>,
    progress: &mut Progress<'_>,
) -> Result<(Finding, Option<Report>), CheckError> {
    if let Some(form) = earlier_form(stored) {
        let why = format!(
            "the package's back-test has form {form}, and this version makes form {FORMAT}; build the release anew to have it judged"
        );
        return Ok((Finding::new(CHECK, Verdict::NotJudged, why), None));
    }
    let options = match options(stored) {
        Ok(options) => options,
        Err(error) => {
            let why = format!("the package's back-test cannot be read: {error}");
            return Ok((Finding::new(CHECK, Verdict::Failed, why), None));
        }
    };
    let training = training_data(tested.manifest, options.from);
    if let Err(error) = training_window::refuse(tested.manifest, &training, options.from) {
        let why = format!(
            "the package's back-test is of sales that the release was trained on, or may have been: {error}"
        );
        return Ok((Finding::new(CHECK, Verdict::Failed, why), None));
    }
    if backtest::askable(tested.snapshot, options.from, options.to)? == 0 {
        let why = format!(
            "the package's back-test is of {} to {}, when the snapshot holds no sale that can be valued",
            options.from, options.to
        );
        return Ok((Finding::new(CHECK, Verdict::Failed, why), None));
    }
    let (report, _) = backtest::run(tested, &options, progress)?;
    let text = report_json(&report)?;
    Ok((compare(stored, &text, &report), Some(report)))
}

fn compare(stored: &[u8], now: &str, report: &Report) -> Finding {
    let window = format!("{} to {}", report.subject.from, report.subject.to);
    let figures = json!({"from": report.subject.from, "to": report.subject.to, "sales": report.overall.sales});
    if stored == now.as_bytes() {
        return Finding::new(
            CHECK,
            Verdict::Passed,
            format!(
                "run again on {} sales of {window}, it is the package's byte for byte",
                report.overall.sales
            ),
        )
        .with_figures(figures);
    }
    let before = String::from_utf8_lossy(stored);
    let (mut old, mut new) = (before.lines(), now.lines());
    let mut line = 0;
    let first = loop {
        line += 1;
        match (old.next(), new.next()) {
            (Some(a), Some(b)) if a == b => {}
            (None, None) => break "the ends of lines differ".to_owned(),
            (a, b) => {
                let words = |text: Option<&str>| text.map_or("nothing", str::trim).to_owned();
                break format!(
                    "line {line}: the package says {}, and now it is {}",
                    words(a),
                    words(b)
                );
            }
        }
    };
    Finding::new(
        CHECK,
        Verdict::Failed,
        format!("run again on {window}, it differs from the package's"),
    )
    .with_details(vec![first])
    .with_figures(figures)
}
