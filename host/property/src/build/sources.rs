//! The source files, the rejects and the progress callback.

use super::rejects::RejectsFile;
use super::{BuildError, Inputs};
use domesday_registers::rows::Register;
use domesday_registers::sources::{self, FileReport, Source, UnusedRow};
use domesday_registers::{MaxRejected, Progress};
use std::cell::Cell;
use std::path::PathBuf;

/// The registers that a snapshot is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    CodeMap,
    Areas,
    CodePoint,
    Addresses,
    SoldAddresses,
    OpenUprn,
    Certificates,
    PricePaid,
    PriceIndex,
}

impl sources::Kind for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::CodeMap => "authority_codes",
            Kind::Areas => "areas",
            Kind::CodePoint => "code_point",
            Kind::Addresses => "addresses",
            Kind::SoldAddresses => "sold_addresses",
            Kind::OpenUprn => "open_uprn",
            Kind::Certificates => "certificates",
            Kind::PricePaid => "price_paid",
            Kind::PriceIndex => "price_index",
        }
    }
}

/// The outcome of a valid row. Its identifier goes into the rejects file.
pub(crate) type Verdict = sources::Verdict<String>;

/// Every source file, the rejects and the progress callback.
pub(crate) struct Sources<'a, 'w> {
    sources: Vec<Source<Kind>>,
    rejects: RejectsFile,
    limit: MaxRejected,
    progress: &'a mut Progress<'w>,
}

impl<'a, 'w> Sources<'a, 'w> {
    /// Lists and hashes the files. Their order is by kind and SHA-256.
    pub(crate) fn list(
        inputs: &Inputs,
        rejects: RejectsFile,
        progress: &'a mut Progress<'w>,
    ) -> Result<Self, BuildError> {
        let one = std::slice::from_ref;
        let given: [(Kind, &[PathBuf]); 9] = [
            (Kind::CodeMap, one(&inputs.code_map)),
            (Kind::Areas, &inputs.areas),
            (Kind::CodePoint, one(&inputs.code_point)),
            (Kind::Addresses, &inputs.addresses),
            (Kind::SoldAddresses, &inputs.sold_addresses),
            (Kind::OpenUprn, &inputs.open_uprn),
            (Kind::Certificates, &inputs.certificates),
            (Kind::PricePaid, &inputs.price_paid),
            (Kind::PriceIndex, &inputs.price_index),
        ];
        Sources::of(&given, rejects, inputs.max_rejected, progress)
    }

    /// Lists and hashes files of some kinds alone.
    pub(crate) fn of(
        given: &[(Kind, &[PathBuf])],
        rejects: RejectsFile,
        limit: MaxRejected,
        progress: &'a mut Progress<'w>,
    ) -> Result<Self, BuildError> {
        Ok(Sources {
            sources: sources::list(given, progress)?,
            rejects,
            limit,
            progress,
        })
    }

    /// Reads every file of a kind; `take` gets the file's number and each sound row. Numbers
    /// follow the order of SHA-256.
    pub(crate) fn read<T: Register>(
        &mut self,
        kind: Kind,
        mut take: impl FnMut(u32, T::Row) -> Verdict,
    ) -> Result<(), BuildError> {
        self.try_read::<T>(kind, |number, row| Ok(take(number, row)))
    }

    /// Reads as [`Sources::read`] does, and stops at the first error of `take`.
    pub(crate) fn try_read<T: Register>(
        &mut self,
        kind: Kind,
        mut take: impl FnMut(u32, T::Row) -> Result<Verdict, BuildError>,
    ) -> Result<(), BuildError> {
        let files = self.sources.iter_mut().filter(|source| source.kind == kind);
        for (number, source) in (0_u32..).zip(files) {
            let rejects = &mut self.rejects;
            // An error of `take` ends the file. It has no way to return it, so the cell carries it.
            let failure = Cell::new(None);
            source.read::<T, _, _>(
                self.limit,
                self.progress,
                |row| {
                    take(number, row).unwrap_or_else(|error| {
                        failure.set(Some(error));
                        Verdict::LeftOut("not_taken", String::new())
                    })
                },
                |file, unused| match (failure.take(), unused) {
                    (Some(error), _) => Err(error),
                    (None, UnusedRow::Rejected(reject)) => rejects.read(file, reject),
                    (
                        None,
                        UnusedRow::LeftOut {
                            position,
                            reason,
                            identifier,
                        },
                    ) => rejects.row(file, position, reason, &identifier),
                },
            )?;
        }
        Ok(())
    }

    /// Returns the SHA-256 of each file of a kind, by its number.
    pub(crate) fn digests(&self, kind: Kind) -> Vec<String> {
        let files = self.sources.iter().filter(|source| source.kind == kind);
        files.map(|source| source.report.sha256.clone()).collect()
    }

    /// Returns the path of each file of a kind, by its number.
    pub(crate) fn paths(&self, kind: Kind) -> Vec<PathBuf> {
        let files = self.sources.iter().filter(|source| source.kind == kind);
        files.map(|source| source.path.clone()).collect()
    }

    /// Returns the reports of all files, and the rejects file to be closed.
    pub(crate) fn finish(self) -> (Vec<FileReport>, RejectsFile) {
        let reports = self.sources.into_iter().map(|source| source.report);
        (reports.collect(), self.rejects)
    }
}
