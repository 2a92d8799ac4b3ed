//! `domesday data check`: what register files are, and what a build would take of them. `domesday
//! data fetch` copies them from an object store.

use crate::commands::objects::{Arrivals, Location};
use crate::commands::progress::ProgressLine;
use clap::Subcommand;
use domesday_property::build::{FileCheck, OtherBuild, UnusedReason, check};
use domesday_registers::rows::UNENDED;
use domesday_registers::{Diagnosis, MaxRejected, RecognitionError, RegisterKind, recognise};
use domesday_series::build::markets::exclusions;
use domesday_series::build::recognition::{
    InputKind, kind_after_repair, kinds_of_members, whole_file, workbook_damage,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Data {
    /// Check files without building: their kind, their rows and the repairs.
    Check(CheckFiles),
    /// Copy files that arrived in an object store to a folder, those that it lacks.
    Fetch(FetchFiles),
}

#[derive(Debug, clap::Args)]
pub struct FetchFiles {
    /// Location in an object store, such as s3://BUCKET/PREFIX.
    #[arg(value_name = "URL")]
    from: String,
    /// Folder that the files are copied to.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
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

/// The rows that a build of market statistics keeps.
const MARKETS: OtherBuild = OtherBuild {
    price_paid: |sale| exclusions::day_and_price(sale).is_ok(),
    certificates: |certificate| exclusions::uprn(certificate).is_ok(),
    code_point: |postcode| exclusions::postcode(postcode).is_none(),
    areas: |area| exclusions::area(area).is_none(),
    price_index: |index| exclusions::index(index).is_ok(),
};

impl Data {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Data::Check(check) => Ok(check.run()),
            Data::Fetch(fetch) => fetch.run(),
        }
    }
}

impl FetchFiles {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let arrivals = Arrivals::open(Location::parse(&self.from)?)?;
        let mut line = ProgressLine::new();
        let progress = &mut |file: &str, done, total| line.show(file, done, total);
        let fetched = arrivals.fetch(&self.folder, progress)?;
        for path in &fetched {
            println!("{}", path.display());
        }
        println!("Fetched {} files.", fetched.len());
        Ok(ExitCode::SUCCESS)
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
        let refused = |kind: String| FileResult {
            kind,
            lines: Vec::new(),
            refusal: Some(error.to_string()),
        };
        if let Some(register) = error.register() {
            return refused(InputKind::Register(register).to_string());
        }
        if let Some(file) = whole_file(path) {
            let (lines, refusal) = match file.content {
                Ok(lines) => (lines, None),
                Err(refusal) => (Vec::new(), Some(refusal)),
            };
            return FileResult {
                kind: name(file.kind),
                lines,
                refusal,
            };
        }
        match &error {
            RecognitionError::Form {
                diagnosis: Diagnosis::Workbook,
                ..
            } => FileResult {
                refusal: Some(workbook_damage(path).unwrap_or_else(|| error.to_string())),
                ..refused("workbook".to_owned())
            },
            RecognitionError::Form {
                member: None,
                diagnosis,
                ..
            } => refused(name(kind_after_repair(path, diagnosis))),
            RecognitionError::Archive { .. } => FileResult {
                refusal: Some(repair_of_archive(path).unwrap_or_else(|| error.to_string())),
                ..refused("zip archive".to_owned())
            },
            _ => refused(name(None)),
        }
    }

    /// Reads a register's file as a build does.
    fn register(&self, register: RegisterKind, path: &Path) -> FileResult {
        let mut progress = ProgressLine::new();
        let found = check(
            register,
            path,
            self.max_rejected,
            &MARKETS,
            &mut |stage, done, total| progress.show(stage, done, total),
        );
        drop(progress);
        let (lines, refusal) = match found {
            Ok(found) => (rows(&found), found.error.as_ref().map(ToString::to_string)),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        FileResult {
            kind: InputKind::Register(register).to_string(),
            lines,
            refusal,
        }
    }
}

fn name(kind: Option<InputKind>) -> String {
    kind.map_or_else(|| "unknown".to_owned(), |kind| kind.to_string())
}

/// Returns how to give the members of an archive that are of a known kind.
fn repair_of_archive(path: &Path) -> Option<String> {
    let members = kinds_of_members(path);
    let repairs = members.iter().map(|(member, kind)| {
        format!(
            "it holds {member}, which is {}. Unpack it, then {}",
            kind.noun(),
            kind.advice(None)
        )
    });
    let repairs: Vec<String> = repairs.collect();
    (!repairs.is_empty()).then(|| format!("{}: {}", path.display(), repairs.join("; ")))
}

/// Returns the counts of a file's rows, and the reasons for which some are not used.
fn rows(found: &FileCheck) -> Vec<String> {
    let report = &found.report;
    let rejected: u64 = report.rejected.values().sum();
    let by_markets = found.kept_by_other;
    let by_markets = by_markets.map(|rows| format!(", {rows} by market statistics"));
    let mut lines = vec![format!(
        "{} rows read, {} sound, {} kept by a snapshot{}",
        report.rows_read,
        report.rows_read.saturating_sub(rejected),
        report.rows_kept,
        by_markets.unwrap_or_default()
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
    lines.extend(
        found
            .left_out
            .iter()
            .map(|it| line("left out by a snapshot", it)),
    );
    let cells = report.field_warnings.iter();
    let dropped = cells.filter(|(code, _)| **code != UNENDED);
    lines.extend(dropped.map(|(code, cells)| format!("dropped cells: {code} {cells}")));
    lines.extend(report.unended.iter().map(|position| {
        format!(
            "{position} has no line end: compare its last cell with the publisher's, since a \
             download may have broken off within it"
        )
    }));
    lines
}
