//! The source files: listed in an order of their own, hashed, and read row by row.

use super::rejects::RejectsFile;
use super::report::{FileReport, count};
use super::{BuildError, Inputs, Watch};
use crate::store::hex;
use domesday_registers::Progress;
use domesday_registers::rows::{Register, Rows};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The registers that a snapshot is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    CodeMap,
    Areas,
    CodePoint,
    Addresses,
    Certificates,
    PricePaid,
    PriceIndex,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::CodeMap => "authority_codes",
            Kind::Areas => "areas",
            Kind::CodePoint => "code_point",
            Kind::Addresses => "addresses",
            Kind::Certificates => "certificates",
            Kind::PricePaid => "price_paid",
            Kind::PriceIndex => "price_index",
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
    /// It has no place in a snapshot: a stable reason, and the row's own identifier.
    LeftOut(&'static str, String),
}

/// Every source file, the rejects, and whoever watches.
pub(crate) struct Sources<'a, 'w> {
    sources: Vec<Source>,
    rejects: RejectsFile,
    watch: &'a mut Watch<'w>,
}

/// Rows between two words to the watcher.
const ROWS_BETWEEN_REPORTS: u64 = 20_000;

impl<'a, 'w> Sources<'a, 'w> {
    /// Lists and hashes the files. Their order is by kind and SHA-256.
    pub(crate) fn list(
        inputs: &Inputs,
        rejects: RejectsFile,
        watch: &'a mut Watch<'w>,
    ) -> Result<Self, BuildError> {
        let one = std::slice::from_ref;
        let given: [(Kind, &[PathBuf]); 7] = [
            (Kind::CodeMap, one(&inputs.code_map)),
            (Kind::Areas, &inputs.areas),
            (Kind::CodePoint, one(&inputs.code_point)),
            (Kind::Addresses, &inputs.addresses),
            (Kind::Certificates, &inputs.certificates),
            (Kind::PricePaid, &inputs.price_paid),
            (Kind::PriceIndex, &inputs.price_index),
        ];
        let mut sources = Vec::new();
        for (kind, paths) in given {
            for path in paths {
                let (sha256, bytes) = hash(path, watch)?;
                let file = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default();
                let report = FileReport {
                    register: kind.name(),
                    file,
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
        }
        sources.sort_by(|a, b| {
            (a.kind, &a.report.sha256, &a.report.file).cmp(&(
                b.kind,
                &b.report.sha256,
                &b.report.file,
            ))
        });
        Ok(Sources {
            sources,
            rejects,
            watch,
        })
    }

    /// Reads every file of a kind; `take` gets the file's number and each sound row. Numbers
    /// follow the order of SHA-256.
    pub(crate) fn read<T: Register>(
        &mut self,
        kind: Kind,
        mut take: impl FnMut(u32, T::Row) -> Verdict,
    ) -> Result<(), BuildError> {
        let (rejects, watch) = (&mut self.rejects, &mut *self.watch);
        for (number, source) in
            (0_u32..).zip(self.sources.iter_mut().filter(|source| source.kind == kind))
        {
            let report = &mut source.report;
            let progress = Progress::default();
            let mut rows: Rows<T> = Rows::open(&source.path, &progress)?;
            watch(kind.name(), 0, report.bytes);
            while let Some(row) = rows.next() {
                report.rows_read += 1;
                match row? {
                    Ok(row) => match take(number, row) {
                        Verdict::Kept => report.rows_kept += 1,
                        Verdict::LeftOut(reason, identifier) => {
                            count(&mut report.left_out, reason);
                            rejects.row(&report.file, rows.position(), reason, &identifier)?;
                        }
                    },
                    Err(reject) => {
                        count(&mut report.rejected, reject.reason.code());
                        rejects.read(&report.file, &reject)?;
                    }
                }
                if report.rows_read.is_multiple_of(ROWS_BETWEEN_REPORTS) {
                    watch(
                        kind.name(),
                        progress.bytes().min(report.bytes),
                        report.bytes,
                    );
                }
            }
            report.field_warnings = rows.warnings().clone();
            watch(kind.name(), report.bytes, report.bytes);
        }
        Ok(())
    }

    /// Tells the watcher of a stage that reads no file.
    pub(crate) fn tell(&mut self, stage: &str, done: u64, total: u64) {
        (self.watch)(stage, done, total);
    }

    /// The reports of all files, and the rejects file to be closed.
    pub(crate) fn finish(self) -> (Vec<FileReport>, RejectsFile) {
        (
            self.sources
                .into_iter()
                .map(|source| source.report)
                .collect(),
            self.rejects,
        )
    }
}

fn hash(path: &Path, watch: &mut Watch<'_>) -> Result<(String, u64), BuildError> {
    let mut file = File::open(path).map_err(BuildError::io(path))?;
    let length = file.metadata().map_err(BuildError::io(path))?.len();
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        let read = file.read(&mut buffer).map_err(BuildError::io(path))?;
        if read == 0 {
            return Ok((hex(&hasher.finalize()), done));
        }
        hasher.update(&buffer[..read]);
        done += read as u64;
        watch("hash", done, length);
    }
}
