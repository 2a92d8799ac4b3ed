//! Reads what the reports of steps say.

use crate::part::Part;
use domesday_package::{Body, Trust, open};
use domesday_series::package::{MarketsBody, RatesBody, ReleaseBody};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The judgement of a package that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The policy decides.
    Sound,
    /// A person is to decide.
    Held,
    /// It failed its check.
    Refused,
    /// It could not be judged.
    Failed,
}

/// An entry of the promotion ledger, as `release history --json` has it.
#[derive(Deserialize)]
struct LedgerLine {
    release_id: String,
}

/// The version of the comparison's form that is read here.
const COMPARISON_FORMAT: u32 = 1;

/// The figures of a comparison that decide, as `compare --json` has them.
#[derive(Deserialize)]
struct ComparisonFigures {
    format: u32,
    overall: OverallFigures,
}

#[derive(Deserialize)]
struct OverallFigures {
    change: Option<ChangeFigures>,
}

#[derive(Deserialize)]
struct ChangeFigures {
    rows: usize,
    median: f64,
}

/// Returns the release that the ledger has last.
pub fn current_release(ledger: &Path) -> Option<String> {
    let bytes = fs::read(ledger).ok()?;
    let entries: Vec<LedgerLine> = serde_json::from_slice(&bytes).ok()?;
    entries
        .into_iter()
        .next_back()
        .map(|entry| entry.release_id)
}

/// Reports whether a release has a report of its check.
pub fn has_report(package_dir: &Path) -> bool {
    package_dir.join("check.json").exists()
}

/// Judges the median change of a comparison, and says it.
pub fn judge_change(comparison: &Path, largest: f64) -> (Verdict, String) {
    let read = || -> Result<ComparisonFigures, String> {
        let bytes = fs::read(comparison).map_err(|error| error.to_string())?;
        let figures: ComparisonFigures =
            serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        match figures.format {
            COMPARISON_FORMAT => Ok(figures),
            other => Err(format!("its format is {other}, not {COMPARISON_FORMAT}")),
        }
    };
    let comparison = match read() {
        Ok(comparison) => comparison,
        Err(error) => {
            return (
                Verdict::Failed,
                format!("the comparison cannot be read: {error}"),
            );
        }
    };
    let Some(change) = comparison.overall.change else {
        let note = "no home is valued by both releases, so that the change is not known";
        return (Verdict::Held, note.to_owned());
    };
    let note = format!(
        "estimates change by {:+.2} % at the median, on {} homes",
        100.0 * change.median,
        change.rows
    );
    match change.median.abs() <= largest {
        true => (Verdict::Sound, note),
        false => (
            Verdict::Held,
            format!("{note}; more than {:.2} % is for a person", 100.0 * largest),
        ),
    }
}

/// Returns the reasons why datasets of a release are empty or end early.
pub fn incomplete_datasets(part: Part, package_dir: &Path) -> Vec<String> {
    let body = match part {
        Part::Markets => body(package_dir, |MarketsBody(body)| body),
        _ => body(package_dir, |RatesBody(body)| body),
    };
    match body {
        Ok(body) => {
            let datasets = body.datasets.into_iter();
            let incomplete =
                datasets.filter_map(|dataset| Some((dataset.dataset, dataset.reason?)));
            incomplete
                .map(|(dataset, reason)| format!("{dataset}: {reason}"))
                .collect()
        }
        Err(error) => vec![format!("its datasets cannot be read: {error}")],
    }
}

fn body<B: Body>(package_dir: &Path, inner: fn(B) -> ReleaseBody) -> Result<ReleaseBody, String> {
    // This program built and signed it a moment ago.
    let package = open(package_dir, &Trust::Unsigned).map_err(|error| error.to_string())?;
    let body = package.body::<B>().map_err(|error| error.to_string())?;
    Ok(inner(body))
}

/// Returns the last line of a log that says something.
pub fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.unwrap_or("it printed nothing").to_owned()
}
