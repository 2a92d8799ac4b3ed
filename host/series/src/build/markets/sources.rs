//! The source files: listed in an order of their own, hashed, and read row by row.

use super::report::{FileReport, count};
use super::{Inputs, MarketsError};
use domesday_registers::Progress;
use domesday_registers::rows::{Register, Rows};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The registers that a markets package is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    CodeMap,
    Areas,
    CodePoint,
    Certificates,
    PricePaid,
    PriceIndex,
    Rents,
}

impl Kind {
    /// As reports and progress call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::CodeMap => "authority_codes",
            Kind::Areas => "areas",
            Kind::CodePoint => "code_point",
            Kind::Certificates => "certificates",
            Kind::PricePaid => "price_paid",
            Kind::PriceIndex => "price_index",
            Kind::Rents => "rents",
        }
    }
}

struct Source {
    kind: Kind,
    path: PathBuf,
    report: FileReport,
}

/// What becomes of a sound row.
pub(crate) enum Verdict {
    /// A later pass works on it.
    Kept,
    /// It says nothing that the package could hold: a stable reason.
    LeftOut(&'static str),
}

/// Hears how far a build has come: the stage's name, and bytes or areas done and in all.
pub type Watch<'a> = dyn FnMut(&str, u64, u64) + 'a;

/// Every source file, and whoever watches.
pub(crate) struct Sources<'a> {
    sources: Vec<Source>,
    watch: &'a mut Watch<'a>,
}

/// Rows between two words to the watcher.
const ROWS_BETWEEN_REPORTS: u64 = 20_000;

impl<'a> Sources<'a> {
    /// Lists and hashes the files. Their order is by kind and SHA-256, so that neither names nor
    /// the order on the command line play a part.
    pub(crate) fn list(inputs: &Inputs, watch: &'a mut Watch<'a>) -> Result<Self, MarketsError> {
        let given: [(Kind, &[PathBuf]); 7] = [
            (Kind::CodeMap, std::slice::from_ref(&inputs.code_map)),
            (Kind::Areas, &inputs.areas),
            (Kind::CodePoint, &inputs.code_point),
            (Kind::Certificates, &inputs.certificates),
            (Kind::PricePaid, &inputs.price_paid),
            (Kind::PriceIndex, &inputs.price_index),
            (Kind::Rents, &inputs.rents),
        ];
        let mut sources = Vec::new();
        for (kind, path) in given
            .iter()
            .flat_map(|(kind, paths)| paths.iter().map(move |p| (*kind, p)))
        {
            let (sha256, bytes) = hash(path, watch)?;
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
                kind,
                path: path.clone(),
                report,
            });
        }
        sources.sort_by(|a, b| {
            let key = |source: &Source| {
                (
                    source.kind,
                    source.report.sha256.clone(),
                    source.report.file.clone(),
                )
            };
            key(a).cmp(&key(b))
        });
        // One file given twice is one file.
        sources.dedup_by(|a, b| a.kind == b.kind && a.report.sha256 == b.report.sha256);
        Ok(Sources { sources, watch })
    }

    /// Reads every file of a kind; `take` gets the file's number and each sound row. Numbers
    /// follow the order of SHA-256.
    pub(crate) fn read<T: Register>(
        &mut self,
        kind: Kind,
        mut take: impl FnMut(u32, T::Row) -> Verdict,
    ) -> Result<(), MarketsError> {
        let watch = &mut *self.watch;
        let files = self.sources.iter_mut().filter(|source| source.kind == kind);
        for (number, source) in (0_u32..).zip(files) {
            let report = &mut source.report;
            let progress = Progress::default();
            let mut rows: Rows<T> = Rows::open(&source.path, &progress)?;
            watch(kind.name(), 0, report.bytes);
            for row in &mut rows {
                report.rows_read += 1;
                match row? {
                    Ok(row) => match take(number, row) {
                        Verdict::Kept => report.rows_kept += 1,
                        Verdict::LeftOut(reason) => count(&mut report.left_out, reason),
                    },
                    Err(reject) => count(&mut report.rejected, reject.reason.code()),
                }
                if report.rows_read.is_multiple_of(ROWS_BETWEEN_REPORTS) {
                    watch(
                        kind.name(),
                        progress.bytes().min(report.bytes),
                        report.bytes,
                    );
                }
            }
            report.field_warnings = rows.warnings().iter().map(|(k, v)| (*k, *v)).collect();
            watch(kind.name(), report.bytes, report.bytes);
        }
        Ok(())
    }

    /// Names of the files of a kind, by number.
    pub(crate) fn names(&self, kind: Kind) -> Vec<String> {
        let files = self.sources.iter().filter(|source| source.kind == kind);
        files.map(|source| source.report.file.clone()).collect()
    }

    /// Hands every file of a kind to a reader that counts for itself.
    pub(crate) fn whole(
        &mut self,
        kind: Kind,
        mut read: impl FnMut(&Path, &mut FileReport) -> Result<(), MarketsError>,
    ) -> Result<(), MarketsError> {
        for source in self.sources.iter_mut().filter(|source| source.kind == kind) {
            (self.watch)(kind.name(), 0, source.report.bytes);
            read(&source.path, &mut source.report)?;
            (self.watch)(kind.name(), source.report.bytes, source.report.bytes);
        }
        Ok(())
    }

    /// Tells the watcher of a stage that reads no file.
    pub(crate) fn tell(&mut self, stage: &str, done: u64, total: u64) {
        (self.watch)(stage, done, total);
    }

    /// The reports of all files.
    pub(crate) fn finish(self) -> Vec<FileReport> {
        self.sources
            .into_iter()
            .map(|source| source.report)
            .collect()
    }
}

fn hash(path: &Path, watch: &mut Watch<'_>) -> Result<(String, u64), MarketsError> {
    let mut file = File::open(path).map_err(MarketsError::io(path))?;
    let length = file.metadata().map_err(MarketsError::io(path))?.len();
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        let read = file.read(&mut buffer).map_err(MarketsError::io(path))?;
        if read == 0 {
            let mut text = String::with_capacity(64);
            for byte in hasher.finalize() {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            return Ok((text, done));
        }
        hasher.update(&buffer[..read]);
        done += read as u64;
        watch("hash", done, length);
    }
}
