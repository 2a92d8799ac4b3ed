//! The source files and the progress callback.

use super::{Inputs, MarketsError};
use domesday_registers::rows::Register;
use domesday_registers::sources::{self, FileReport, Kind as _, Source, Verdict};
use domesday_registers::{MaxRejected, Progress};
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

impl sources::Kind for Kind {
    fn name(self) -> &'static str {
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

/// Every source file, and the progress callback.
pub(crate) struct Sources<'a> {
    sources: Vec<Source<Kind>>,
    limit: MaxRejected,
    progress: &'a mut Progress<'a>,
}

impl<'a> Sources<'a> {
    /// Lists and hashes the files. Their order is by kind and SHA-256.
    pub(crate) fn list(
        inputs: &Inputs,
        progress: &'a mut Progress<'a>,
    ) -> Result<Self, MarketsError> {
        let given: [(Kind, &[PathBuf]); 7] = [
            (Kind::CodeMap, std::slice::from_ref(&inputs.code_map)),
            (Kind::Areas, &inputs.areas),
            (Kind::CodePoint, &inputs.code_point),
            (Kind::Certificates, &inputs.certificates),
            (Kind::PricePaid, &inputs.price_paid),
            (Kind::PriceIndex, &inputs.price_index),
            (Kind::Rents, &inputs.rents),
        ];
        let mut sources = sources::list(&given, progress)?;
        // One file given twice is one file.
        sources.dedup_by(|a, b| a.kind == b.kind && a.report.sha256 == b.report.sha256);
        Ok(Sources {
            sources,
            limit: inputs.max_rejected,
            progress,
        })
    }

    /// Reads every file of a kind; `take` gets the file's number and each sound row. Numbers
    /// follow the order of SHA-256.
    pub(crate) fn read<T: Register>(
        &mut self,
        kind: Kind,
        mut take: impl FnMut(u32, T::Row) -> Verdict,
    ) -> Result<(), MarketsError> {
        let files = self.sources.iter_mut().filter(|source| source.kind == kind);
        for (number, source) in (0_u32..).zip(files) {
            source.read::<T, _, MarketsError>(
                self.limit,
                self.progress,
                |row| take(number, row),
                |_, _| Ok(()),
            )?;
        }
        Ok(())
    }

    /// Returns the names of the files of a kind, by number.
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
            (self.progress)(kind.name(), 0, source.report.bytes);
            read(&source.path, &mut source.report)?;
            if source.report.rows_kept == 0 {
                return Err(MarketsError::NothingKept {
                    path: source.path.clone(),
                    rows: source.report.rows_read,
                    left_out: source.report.left_out.values().sum(),
                });
            }
            (self.progress)(kind.name(), source.report.bytes, source.report.bytes);
        }
        Ok(())
    }

    /// Reports the progress of a stage that reads no file.
    pub(crate) fn tell(&mut self, stage: &str, done: u64, total: u64) {
        (self.progress)(stage, done, total);
    }

    /// Returns the reports of all files.
    pub(crate) fn finish(self) -> Vec<FileReport> {
        let reports = self.sources.into_iter().map(|source| source.report);
        reports.collect()
    }
}
