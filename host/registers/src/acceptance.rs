//! The test whether enough of a file was read to build from it.

use crate::diagnosis::{Diagnosis, HEAD};
use crate::error::ReadError;
use crate::file_report::FileReport;
use crate::rejected_row::RejectReason;
use crate::unused_rows::{FirstRejects, MaxRejected, UnusedRows};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Refuses a file with too large a share of rejected rows, and a file without a kept row.
pub(crate) fn accept(
    path: &Path,
    register: &'static str,
    report: &FileReport,
    first: &FirstRejects,
    limit: MaxRejected,
) -> Result<(), ReadError> {
    let (rows, rejected) = (report.rows_read, report.rejected.values().sum::<u64>());
    let file = path.to_owned();
    let unused = || Box::new(UnusedRows::new(report, first));
    if rows == 0 {
        return Err(ReadError::NoRows { file, register });
    }
    // Counts of rows are far below 2^53.
    if rejected as f64 * 100.0 > limit.percent() * rows as f64 {
        if let Some(diagnosis) = form(path, first) {
            return Err(ReadError::Form {
                file,
                diagnosis,
                in_archive: false,
                register,
            });
        }
        return Err(ReadError::TooManyRejected {
            file,
            rejected,
            rows,
            limit,
            unused: unused(),
        });
    }
    if report.rows_kept == 0 {
        return Err(ReadError::NothingKept {
            file,
            register,
            rows,
            unused: unused(),
        });
    }
    Ok(())
}

/// Returns the file's form where its rows have other columns than its first line.
fn form(path: &Path, first: &FirstRejects) -> Option<Diagnosis> {
    if !first.has(RejectReason::WrongColumnCount) {
        return None;
    }
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(HEAD as u64).read_to_end(&mut head).ok()?;
    Diagnosis::of(&head).filter(|found| matches!(found, Diagnosis::JoinedHeader { .. }))
}
