//! The source files of a build: listed in a fixed order, hashed, and read row by row.

use crate::acceptance::accept;
pub use crate::file_report::{Counts, FileReport};
use crate::rows::{Register, Rows};
use crate::unused_rows::{FirstRejects, MaxRejected};
use crate::{BytesRead, Progress, ReadError, RejectedRow};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Adds one to a counter.
pub fn count<K: Ord>(counters: &mut BTreeMap<K, u64>, key: K) {
    *counters.entry(key).or_default() += 1;
}

/// The registers of one build, in the order in which their files are listed.
pub trait Kind: Copy + Ord {
    /// Returns the name in reports and progress callbacks.
    fn name(self) -> &'static str;
}

/// Returns the flag that takes the files of a register.
pub fn flag(kind: impl Kind) -> String {
    match kind.name() {
        // Reports have kept the name that the flag had before.
        "price_index" => "--house-price-index".to_owned(),
        name => format!("--{}", name.replace('_', "-")),
    }
}

/// A file that could not be read to be hashed.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}; check {flag}", path.display())]
pub struct UnreadableFile {
    /// The file.
    pub path: PathBuf,
    /// The flag that named it.
    pub flag: String,
    /// The system's error.
    pub source: io::Error,
}

/// One source file.
#[derive(Debug)]
pub struct Source<K> {
    /// The register that it belongs to.
    pub kind: K,
    /// The path of the file.
    pub path: PathBuf,
    /// The report of its rows so far.
    pub report: FileReport,
}

/// The outcome of a valid row.
#[derive(Debug)]
pub enum Verdict<I = ()> {
    /// A later pass works on it.
    Kept,
    /// The build excludes it: a stable reason, and the row's identifier.
    LeftOut(&'static str, I),
}

/// A row that a build does not use.
#[derive(Debug)]
pub enum UnusedRow<'r, I = ()> {
    /// It is damaged.
    Rejected(&'r RejectedRow),
    /// It is sound and was left out.
    LeftOut {
        /// The beginning of the row: the member of an archive, and the line, counted from 1.
        position: (Option<&'r str>, u64),
        /// The reason that was given.
        reason: &'static str,
        /// The row's identifier.
        identifier: I,
    },
}

/// Rows between two reports of progress.
const ROWS_BETWEEN_REPORTS: u64 = 20_000;

/// Lists and hashes files, in order of kind and SHA-256. Their names and their given order have no
/// effect.
///
/// # Errors
/// The first file that cannot be read.
pub fn list<K: Kind>(
    given: &[(K, &[PathBuf])],
    progress: &mut Progress<'_>,
) -> Result<Vec<Source<K>>, UnreadableFile> {
    let mut sources = Vec::new();
    for (kind, paths) in given {
        for path in *paths {
            let unreadable = |source| UnreadableFile {
                path: path.clone(),
                flag: flag(*kind),
                source,
            };
            let (sha256, bytes) = hash(path, progress).map_err(unreadable)?;
            let file = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let report = FileReport {
                register: kind.name(),
                file: file.unwrap_or_default(),
                sha256,
                bytes,
                ..FileReport::default()
            };
            sources.push(Source {
                kind: *kind,
                path: path.clone(),
                report,
            });
        }
    }
    sources.sort_by(|a, b| a.place().cmp(&b.place()));
    Ok(sources)
}

impl<K: Kind> Source<K> {
    fn place(&self) -> (K, &str, &str) {
        (self.kind, &self.report.sha256, &self.report.file)
    }

    /// Reads the file row by row and counts. `take` gets each valid row, `unused` each damaged or
    /// excluded one.
    ///
    /// # Errors
    /// An error that ends the file, or one of `unused`. Also a file without a kept row, or with
    /// more than `limit` of its rows rejected.
    pub fn read<T: Register, I, E: From<ReadError>>(
        &mut self,
        limit: MaxRejected,
        progress: &mut Progress<'_>,
        mut take: impl FnMut(T::Row) -> Verdict<I>,
        mut unused: impl FnMut(&str, UnusedRow<'_, I>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (name, report) = (self.kind.name(), &mut self.report);
        let bytes_read = BytesRead::default();
        let mut first = FirstRejects::default();
        let mut rows: Rows<T> = Rows::open(&self.path, &bytes_read)?;
        progress(name, 0, report.bytes);
        while let Some(row) = rows.next() {
            report.rows_read += 1;
            match row? {
                Ok(row) => match take(row) {
                    Verdict::Kept => report.rows_kept += 1,
                    Verdict::LeftOut(reason, identifier) => {
                        count(&mut report.left_out, reason);
                        let left_out = UnusedRow::LeftOut {
                            position: rows.position(),
                            reason,
                            identifier,
                        };
                        unused(&report.file, left_out)?;
                    }
                },
                Err(reject) => {
                    count(&mut report.rejected, reject.reason.code());
                    first.take(&reject);
                    unused(&report.file, UnusedRow::Rejected(&reject))?;
                }
            }
            if report.rows_read.is_multiple_of(ROWS_BETWEEN_REPORTS) {
                progress(name, bytes_read.bytes().min(report.bytes), report.bytes);
            }
        }
        report.field_warnings.clone_from(rows.warnings());
        report.unended = rows.unended_row().map(str::to_owned);
        progress(name, report.bytes, report.bytes);
        Ok(accept(&self.path, T::NAME, report, &first, limit)?)
    }
}

/// Returns the SHA-256 and the length of a file.
fn hash(path: &Path, progress: &mut Progress<'_>) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes_read = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((hex::encode(hasher.finalize()), bytes_read));
        }
        hasher.update(&buffer[..read]);
        bytes_read += read as u64;
        progress("hash", bytes_read, length);
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
