//! Reads what the reports of steps say.

use crate::inbox::file_digest;
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

/// Returns the releases that the ledger has, in the order of their promotions.
///
/// # Errors
/// The problem as a text, if the ledger cannot be read.
pub fn read_ledger(ledger: &Path) -> Result<Vec<String>, String> {
    let bytes = fs::read(ledger).map_err(|error| error.to_string())?;
    let entries: Vec<LedgerLine> =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    Ok(entries.into_iter().map(|entry| entry.release_id).collect())
}

/// The file of a package's manifest.
const MANIFEST: &str = "manifest.json";

/// The members of a release's manifest that tell its datasets. An earlier version wrote none.
#[derive(Deserialize)]
struct SeriesManifest {
    body: SeriesBody,
}

#[derive(Deserialize)]
struct SeriesBody {
    #[serde(default)]
    datasets: Vec<DatasetExtent>,
}

#[derive(Deserialize)]
struct DatasetExtent {
    dataset: String,
    to: Option<String>,
    series: u64,
    reason: Option<String>,
}

/// The members of a check report that decide.
#[derive(Deserialize)]
struct CheckFigures {
    manifest: String,
    passed: bool,
}

/// Returns whether a release passed its check, by the signed report of its manifest. Returns `None`
/// without such a report. A check that was killed may have left one without its signature.
pub fn find_check(package_dir: &Path) -> Option<bool> {
    if !package_dir.join("check.sig").exists() {
        return None;
    }
    let bytes = fs::read(package_dir.join("check.json")).ok()?;
    let report: CheckFigures = serde_json::from_slice(&bytes).ok()?;
    // The digest of a package is that of its manifest.
    let manifest = file_digest(&package_dir.join(MANIFEST)).ok()?;
    (report.manifest == manifest).then_some(report.passed)
}

/// Returns the datasets that a release lost against the one before: empty now, or with an earlier
/// end.
///
/// # Errors
/// The problem as a text, if a release's list of datasets cannot be read.
pub fn find_lost_datasets(before: &Path, now: &Path) -> Result<Vec<String>, String> {
    let (before, now) = (read_datasets(before)?, read_datasets(now)?);
    let had_data = before.iter().filter(|had| had.series > 0);
    let lost = had_data.filter_map(|had| {
        let has = now.iter().find(|it| it.dataset == had.dataset);
        let has = has.filter(|it| it.series > 0);
        match has {
            None => Some(format!("{} is empty, and was not before", had.dataset)),
            Some(has) if has.to < had.to => Some(format!(
                "{} ends at {}, and ended at {} before",
                had.dataset,
                has.to.as_deref().unwrap_or("nothing"),
                had.to.as_deref().unwrap_or("nothing")
            )),
            Some(_) => None,
        }
    });
    Ok(lost.collect())
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
pub fn incomplete_datasets(package_dir: &Path) -> Vec<String> {
    match read_datasets(package_dir) {
        Ok(datasets) => {
            let incomplete = datasets.into_iter();
            let incomplete = incomplete.filter_map(|it| Some((it.dataset, it.reason?)));
            incomplete
                .map(|(dataset, reason)| format!("{dataset}: {reason}"))
                .collect()
        }
        Err(error) => vec![format!("its datasets cannot be read: {error}")],
    }
}

fn read_datasets(package_dir: &Path) -> Result<Vec<DatasetExtent>, String> {
    let bytes = fs::read(package_dir.join(MANIFEST)).map_err(|error| error.to_string())?;
    let manifest: SeriesManifest =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    Ok(manifest.body.datasets)
}

/// Returns the last line of a log that says something.
pub fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.unwrap_or("it printed nothing").to_owned()
}
