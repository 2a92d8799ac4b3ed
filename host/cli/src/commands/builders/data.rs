//! `domesday data check`: what register files are, and what a build would take of them.

use crate::commands::progress::ProgressLine;
use clap::Subcommand;
use domesday_property::build::{FileCheck, UnusedReason, check};
use domesday_registers::sources::Kind;
use domesday_registers::{Diagnosis, MaxRejected, RecognitionError, RegisterKind, recognise};
use domesday_series::build::markets::{MarketsError, count_rents};
use domesday_series::build::rates::{Inputs, PublishedRates, RatesError, RatesErrorKind, read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Data {
    /// Check files without building: their kind, their rows and the repairs.
    Check(CheckFiles),
}

#[derive(Debug, clap::Args)]
pub struct CheckFiles {
    /// Files that `property build` and `series build` read, of any kind.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Largest share of a file's rows that may be rejected, per cent. More stops a build.
    #[arg(long, value_name = "PERCENT", default_value_t)]
    max_rejected: MaxRejected,
}

/// The result of a check, for a person to read.
struct FileResult {
    /// The kind of the file.
    kind: String,
    /// Its rows.
    lines: Vec<String>,
    /// The reason why a build stops at it.
    refusal: Option<String>,
}

/// The largest file that is tried as one of the Bank's, which are read whole.
const LARGEST_RATES_FILE: u64 = 256 << 20;
/// Most repairs that one file needs: UTF-16, then its delimiter, then its first line.
const MOST_REPAIRS: usize = 3;

impl Data {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Data::Check(check) => Ok(check.run()),
        }
    }
}

impl CheckFiles {
    fn run(self) -> ExitCode {
        let mut taken = 0;
        for file in &self.files {
            let result = self.result(file);
            println!("{}: {}", file.display(), result.kind);
            for line in &result.lines {
                println!("  {line}");
            }
            match &result.refusal {
                Some(refusal) => println!("  a build stops: {refusal}"),
                None => taken += 1,
            }
        }
        println!("A build takes {taken} of {} files.", self.files.len());
        match taken == self.files.len() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }

    fn result(&self, path: &Path) -> FileResult {
        let error = match recognise(path) {
            Ok(register) => return self.register(register, path),
            Err(error) => error,
        };
        let refused = |kind| FileResult {
            kind,
            lines: Vec::new(),
            refusal: Some(error.to_string()),
        };
        if let Some(register) = error.register() {
            return refused(title(register));
        }
        if let Some(result) = rates(path).or_else(|| rents(path)) {
            return result;
        }
        match &error {
            RecognitionError::Form {
                diagnosis: Diagnosis::Workbook,
                ..
            } => FileResult {
                refusal: Some(damage(path).unwrap_or_else(|| error.to_string())),
                ..refused("workbook".to_owned())
            },
            RecognitionError::Form { diagnosis, .. } => {
                refused(kind_when_repaired(path, diagnosis))
            }
            _ => refused("unknown".to_owned()),
        }
    }

    /// Reads a register's file as a build does.
    fn register(&self, register: RegisterKind, path: &Path) -> FileResult {
        let mut progress = ProgressLine::new();
        let found = check(
            register,
            path,
            self.max_rejected,
            &mut |stage, done, total| progress.show(stage, done, total),
        );
        drop(progress);
        let (lines, refusal) = match found {
            Ok(found) => (rows(&found), found.error.as_ref().map(ToString::to_string)),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        FileResult {
            kind: title(register),
            lines,
            refusal,
        }
    }
}

/// Returns a register's name and the flag that takes its files.
fn title(register: RegisterKind) -> String {
    format!("{} ({})", register.title(), flag(register))
}

/// Returns the counts of a file's rows, and the reasons for which some are not used.
fn rows(found: &FileCheck) -> Vec<String> {
    let report = &found.report;
    let rejected: u64 = report.rejected.values().sum();
    let mut lines = vec![format!(
        "{} rows read, {} sound, {} kept by a build",
        report.rows_read,
        report.rows_read.saturating_sub(rejected),
        report.rows_kept
    )];
    let line = |state: &str, reason: &UnusedReason| {
        let repair = reason.repair.map(|repair| format!("; {repair}"));
        format!(
            "{state}: {} {} (the first: {}{})",
            reason.code,
            reason.rows,
            reason.first,
            repair.unwrap_or_default()
        )
    };
    lines.extend(found.rejected.iter().map(|it| line("rejected", it)));
    lines.extend(found.left_out.iter().map(|it| line("left out", it)));
    let cells = report.field_warnings.iter();
    lines.extend(cells.map(|(code, cells)| format!("dropped cells: {code} {cells}")));
    lines
}

/// Reports whether a file is small enough to be read whole, as rates are.
fn may_be_rates(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() <= LARGEST_RATES_FILE)
}

/// Returns the kind of rates or rents that a file of another form would be after its repair.
fn kind_when_repaired(path: &Path, diagnosis: &Diagnosis) -> String {
    let unknown = || "unknown".to_owned();
    let repaired = || -> std::io::Result<Option<FileResult>> {
        if !may_be_rates(path) {
            return Ok(None);
        }
        let mut content = std::fs::read(path)?;
        let mut next = Some(diagnosis.clone());
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("repaired.csv");
        for _ in 0..MOST_REPAIRS {
            match next.and_then(|diagnosis| diagnosis.repair(&content)) {
                Some(repaired) => content = repaired,
                None => return Ok(None),
            }
            std::fs::write(&copy, &content)?;
            if let Some(result) = rates(&copy).or_else(|| rents(&copy)) {
                return Ok(Some(result));
            }
            next = Diagnosis::of(&content);
        }
        Ok(None)
    };
    // A file that cannot be read or copied was refused for that before.
    match repaired() {
        Ok(Some(result)) => result.kind,
        Ok(None) | Err(_) => unknown(),
    }
}

/// Returns the error of a workbook that cannot be opened as one.
fn damage(path: &Path) -> Option<String> {
    if !may_be_rates(path) {
        return None;
    }
    let inputs = Inputs {
        curves: vec![path.to_owned()],
        ..Inputs::default()
    };
    match read(&inputs, &mut |_, _, _| {}) {
        Err(RatesError::File {
            kind: RatesErrorKind::Workbook(error),
            ..
        }) => Some(format!(
            "{}: the workbook cannot be read ({error}). Download it again",
            path.display()
        )),
        _ => None,
    }
}

/// Reads a file as one of the Bank of England's. Returns `None` for any other file.
fn rates(path: &Path) -> Option<FileResult> {
    if !may_be_rates(path) {
        return None;
    }
    let database = Inputs {
        database: vec![path.to_owned()],
        ..Inputs::default()
    };
    let curves = Inputs {
        curves: vec![path.to_owned()],
        ..Inputs::default()
    };
    for (kind, inputs) in [
        ("Bank of England's database (--bank-csv)", database),
        ("yield curves (--curves)", curves),
    ] {
        let (lines, refusal) = match read(&inputs, &mut |_, _, _| {}) {
            Ok(published) if values(&published) > 0 => (lines_of_rates(&published), None),
            Ok(_) => continue,
            Err(error) if is_unreadable_archive(&error) => return Some(unreadable(&error)),
            Err(error) if is_of_another_kind(&error) => continue,
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        return Some(FileResult {
            kind: kind.to_owned(),
            lines,
            refusal,
        });
    }
    None
}

/// Reads a file of rents. Returns `None` for any other file.
fn rents(path: &Path) -> Option<FileResult> {
    let (lines, refusal) = match count_rents(path) {
        Ok((rents, unavailable)) => {
            let line = format!("{rents} rents read, {unavailable} marked as not available");
            (vec![line], None)
        }
        Err(MarketsError::Rents { .. } | MarketsError::Io { .. }) => return None,
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Some(FileResult {
        kind: "private rents (--rents)".to_owned(),
        lines,
        refusal,
    })
}

/// Reports whether a file was refused before any of its values was read.
fn is_of_another_kind(error: &RatesError) -> bool {
    match error {
        RatesError::Io { .. } => true,
        RatesError::File { kind, .. } => matches!(
            kind,
            RatesErrorKind::Workbook(_)
                | RatesErrorKind::Csv(_)
                | RatesErrorKind::Layout(_)
                | RatesErrorKind::Form(_)
        ),
    }
}

/// Reports whether a file is a zip archive or a workbook that is damaged or too large in sum.
fn is_unreadable_archive(error: &RatesError) -> bool {
    let RatesError::File { kind, .. } = error else {
        return false;
    };
    matches!(kind, RatesErrorKind::Zip(_) | RatesErrorKind::Member { .. })
}

fn unreadable(error: &RatesError) -> FileResult {
    FileResult {
        kind: "unknown".to_owned(),
        lines: Vec::new(),
        refusal: Some(error.to_string()),
    }
}

fn values(published: &PublishedRates) -> usize {
    let series = published.series.values().map(|values| values.len());
    let curves = published.curves.values().flat_map(|curve| curve.values());
    let nodes = curves.map(|nodes| nodes.len());
    series.sum::<usize>() + nodes.sum::<usize>() + published.bank_rate_changes.len()
}

fn lines_of_rates(published: &PublishedRates) -> Vec<String> {
    let mut lines = vec![format!("{} values kept by a build", values(published))];
    let warnings = published.warnings.iter();
    lines.extend(warnings.map(|it| format!("left out: {}: {}", it.location, it.reason)));
    lines
}
