//! Reads one file as a build reads it, and reports what the build would take.
//!
//! A file is judged alone. A build decides more by other files. An address file may hold the UPRN
//! that a certificate lacks, and the postcodes tell whether it lies in England or Wales. The day of
//! a build tells which sales are of the future.

use super::BuildError;
use super::homes::{NO_UPRN, address_exclusion, lodgement_day};
use super::indices::month;
use super::postcodes::outside_grid;
use super::sales::exclusion;
use domesday_registers::address_file::AddressFile;
use domesday_registers::areas::{AreaFile, AuthorityCodeFile};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::code_point::CodePointFile;
use domesday_registers::house_price_index::IndexFile;
use domesday_registers::open_uprn::OpenUprnFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{AreaRow, Certificate, IndexRow, PostcodeUnit, PricePaid};
use domesday_registers::rows::{Register, position};
use domesday_registers::sources::{FileReport, UnusedRow, Verdict, list};
use domesday_registers::{MaxRejected, Progress, ReadError, RegisterKind};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows that another build keeps, each judged by itself. It takes neither address files nor OS
/// Open UPRN.
#[derive(Clone, Copy, Debug)]
pub struct OtherBuild {
    /// Returns whether it keeps a sale.
    pub price_paid: fn(&PricePaid) -> bool,
    /// Returns whether it keeps a certificate.
    pub certificates: fn(&Certificate) -> bool,
    /// Returns whether it keeps a postcode.
    pub code_point: fn(&PostcodeUnit) -> bool,
    /// Returns whether it keeps an area.
    pub areas: fn(&AreaRow) -> bool,
    /// Returns whether it keeps a month of the price index.
    pub price_index: fn(&IndexRow) -> bool,
}

/// The result of reading one file.
#[derive(Debug)]
pub struct FileCheck {
    /// Rows read, kept and unused.
    pub report: FileReport,
    /// Rows that the other build keeps; `None` if it takes no file of this register.
    pub kept_by_other: Option<u64>,
    /// Damaged rows, by reason in the order of its code.
    pub rejected: Vec<UnusedReason>,
    /// Sound rows that a build leaves out, by reason in the order of its code.
    pub left_out: Vec<UnusedReason>,
    /// The reason why a build stops at the file.
    pub error: Option<ReadError>,
}

/// The rows that are unused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedReason {
    /// Its stable snake_case code.
    pub code: &'static str,
    /// The number of rows.
    pub rows: u64,
    /// The first row: the member of an archive, the line, and a damaged row's problem.
    pub first: String,
    /// The repair, where the first row shows it.
    pub repair: Option<&'static str>,
}

/// Reads a file to its end by the reader of `register`.
///
/// # Errors
/// [`BuildError::Io`] if the file cannot be read at all. Any other problem is in the result.
pub fn check(
    register: RegisterKind,
    path: &Path,
    max_rejected: MaxRejected,
    other: &OtherBuild,
    progress: &mut Progress<'_>,
) -> Result<FileCheck, BuildError> {
    let file = InputFile {
        register,
        path,
        max_rejected,
    };
    match register {
        RegisterKind::PricePaid => {
            let exclusion = |row: &PricePaid| exclusion(row, None);
            file.read::<PricePaidFile>(progress, exclusion, Some(other.price_paid))
        }
        RegisterKind::Certificates => file.read::<CertificateFile>(
            progress,
            |row| {
                let exclusion = lodgement_day(row).err();
                exclusion.or(row.uprn.is_none().then_some(NO_UPRN))
            },
            Some(other.certificates),
        ),
        RegisterKind::CodePoint => file.read::<CodePointFile>(
            progress,
            |row| outside_grid(row.easting, row.northing),
            Some(other.code_point),
        ),
        // Their readers take no code that a build does not know.
        RegisterKind::Areas => file.read::<AreaFile>(progress, |_| None, Some(other.areas)),
        RegisterKind::AuthorityCodes => {
            file.read::<AuthorityCodeFile>(progress, |_| None, Some(|_| true))
        }
        RegisterKind::PriceIndex => {
            file.read::<IndexFile>(progress, |row| month(row).err(), Some(other.price_index))
        }
        RegisterKind::Addresses => file.read::<AddressFile>(progress, address_exclusion, None),
        RegisterKind::OpenUprn => file.read::<OpenUprnFile>(
            progress,
            |row| outside_grid(row.easting, row.northing),
            None,
        ),
    }
}

/// A file to check.
struct InputFile<'a> {
    register: RegisterKind,
    path: &'a Path,
    max_rejected: MaxRejected,
}

impl InputFile<'_> {
    fn read<T: Register>(
        &self,
        progress: &mut Progress<'_>,
        exclusion: impl Fn(&T::Row) -> Option<&'static str>,
        other: Option<fn(&T::Row) -> bool>,
    ) -> Result<FileCheck, BuildError> {
        let paths = [self.path.to_owned()];
        let mut sources = list(&[(self.register, &paths[..])], progress)?;
        let (mut rejected, mut left_out) = (BTreeMap::new(), BTreeMap::new());
        let mut error = None;
        let mut kept_by_other = other.map(|_| 0);
        for source in &mut sources {
            let read = source.read::<T, (), ReadError>(
                self.max_rejected,
                progress,
                |row| {
                    if let (Some(kept), Some(keeps)) = (&mut kept_by_other, other) {
                        *kept += u64::from(keeps(&row));
                    }
                    match exclusion(&row) {
                        Some(reason) => Verdict::LeftOut(reason, ()),
                        None => Verdict::Kept,
                    }
                },
                |_, row| {
                    match row {
                        UnusedRow::Rejected(reject) => {
                            let code = reject.reason.code();
                            note(&mut rejected, code, || {
                                (reject.to_string(), reject.repair())
                            });
                        }
                        UnusedRow::LeftOut {
                            position: (member, line),
                            reason,
                            ..
                        } => note(&mut left_out, reason, || (position(member, line), None)),
                    }
                    Ok(())
                },
            );
            error = read.err();
        }
        let report = sources.into_iter().map(|source| source.report).next();
        Ok(FileCheck {
            report: report.unwrap_or_default(),
            kept_by_other,
            rejected: rejected.into_values().collect(),
            left_out: left_out.into_values().collect(),
            error,
        })
    }
}

/// Counts a row under its reason, and describes the first one.
fn note(
    reasons: &mut BTreeMap<&'static str, UnusedReason>,
    code: &'static str,
    describe: impl FnOnce() -> (String, Option<&'static str>),
) {
    let reason = reasons.entry(code).or_insert_with(|| {
        let (first, repair) = describe();
        UnusedReason {
            code,
            rows: 0,
            first,
            repair,
        }
    });
    reason.rows += 1;
}
