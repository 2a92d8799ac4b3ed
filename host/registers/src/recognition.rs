//! The register that a file belongs to, found by the registers' own readers.

use crate::address_file::AddressFile;
use crate::areas::{AreaFile, AuthorityCodeFile};
use crate::bytes_read::BytesRead;
use crate::certificates::CertificateFile;
use crate::code_point::CodePointFile;
use crate::diagnosis::{Diagnosis, HEAD};
use crate::error::ReadError;
use crate::house_price_index::IndexFile;
use crate::open_uprn::OpenUprnFile;
use crate::price_paid::PricePaidFile;
use crate::rows::{Register, Rows};
use crate::sources::Kind;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// A register whose files can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterKind {
    /// HM Land Registry's price paid data.
    PricePaid,
    /// Domestic energy certificates.
    Certificates,
    /// OS Code-Point Open.
    CodePoint,
    /// ONS Standard Area Measurements.
    Areas,
    /// ONS local authority codes, past and current.
    AuthorityCodes,
    /// The UK House Price Index.
    PriceIndex,
    /// A licensed address file.
    Addresses,
    /// OS Open UPRN.
    OpenUprn,
}

impl Kind for RegisterKind {
    fn name(self) -> &'static str {
        match self {
            RegisterKind::PricePaid => "price_paid",
            RegisterKind::Certificates => "certificates",
            RegisterKind::CodePoint => "code_point",
            RegisterKind::Areas => "areas",
            RegisterKind::AuthorityCodes => "authority_codes",
            RegisterKind::PriceIndex => "price_index",
            RegisterKind::Addresses => "addresses",
            RegisterKind::OpenUprn => "open_uprn",
        }
    }
}

impl RegisterKind {
    /// Returns the register's name, as errors call it.
    pub fn title(self) -> &'static str {
        match self {
            RegisterKind::PricePaid => PricePaidFile::NAME,
            RegisterKind::Certificates => CertificateFile::NAME,
            RegisterKind::CodePoint => CodePointFile::NAME,
            RegisterKind::Areas => AreaFile::NAME,
            RegisterKind::AuthorityCodes => AuthorityCodeFile::NAME,
            RegisterKind::PriceIndex => IndexFile::NAME,
            RegisterKind::Addresses => AddressFile::NAME,
            RegisterKind::OpenUprn => OpenUprnFile::NAME,
        }
    }
}

/// The reason why a file is not recognised.
#[derive(Debug, thiserror::Error)]
pub enum RecognitionError {
    /// The file's form is another one, which shows how to repair it.
    #[error("{}: {diagnosis}", file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// The register that the file would be after the repair, where that shows.
        register: Option<RegisterKind>,
        /// The form.
        diagnosis: Diagnosis,
    },
    /// The file cannot be read, or lacks columns of the register that it resembles.
    #[error("{error}")]
    Read {
        /// The register that it resembles.
        register: Option<RegisterKind>,
        /// The error of that register's reader.
        error: ReadError,
    },
    /// No reader knows the file's beginning.
    #[error(
        "{}: no register begins like this file. Download it again, or give the publisher's file \
         unchanged",
        file.display()
    )]
    Unknown {
        /// The file.
        file: PathBuf,
    },
}

impl RecognitionError {
    /// Returns the register that the file resembles.
    pub fn register(&self) -> Option<RegisterKind> {
        match self {
            RecognitionError::Form { register, .. } | RecognitionError::Read { register, .. } => {
                *register
            }
            RecognitionError::Unknown { .. } => None,
        }
    }
}

/// A reader that looks at the beginning of a file alone.
struct Probe {
    register: RegisterKind,
    open: fn(&Path) -> Result<(), ReadError>,
    begin: fn(Vec<u8>) -> Result<(), ReadError>,
}

impl Probe {
    const fn new<T: Register>(register: RegisterKind) -> Probe {
        Probe {
            register,
            open: |path| Rows::<T>::open(path, &BytesRead::default()).map(drop),
            begin: |head| Rows::<T>::from_reader("", Cursor::new(head)).map(drop),
        }
    }

    /// Returns how many columns the register needs at least.
    fn columns(&self) -> usize {
        match (self.begin)(b"postcode,\n".to_vec()) {
            Err(ReadError::MissingColumn { columns, .. }) => columns.len(),
            _ => 0,
        }
    }
}

/// Every register's reader.
static PROBES: [Probe; 8] = [
    Probe::new::<PricePaidFile>(RegisterKind::PricePaid),
    Probe::new::<CertificateFile>(RegisterKind::Certificates),
    Probe::new::<CodePointFile>(RegisterKind::CodePoint),
    Probe::new::<AreaFile>(RegisterKind::Areas),
    Probe::new::<AuthorityCodeFile>(RegisterKind::AuthorityCodes),
    Probe::new::<IndexFile>(RegisterKind::PriceIndex),
    Probe::new::<AddressFile>(RegisterKind::Addresses),
    Probe::new::<OpenUprnFile>(RegisterKind::OpenUprn),
];

/// Most repairs that one file needs: UTF-16, its line ends, its delimiter, then its first line.
const MOST_REPAIRS: usize = 4;

/// Finds the register whose reader takes the beginning of a file.
///
/// # Errors
/// No reader takes it. The error names the form, the unreadable place or the missing columns.
pub fn recognise(path: &Path) -> Result<RegisterKind, RecognitionError> {
    let mut errors = Vec::new();
    for probe in &PROBES {
        match (probe.open)(path) {
            Ok(()) => return Ok(probe.register),
            Err(error) => errors.push((probe, error)),
        }
    }
    let form = errors.iter().find_map(|(_, error)| match error {
        ReadError::Form { diagnosis, .. } => Some(diagnosis.clone()),
        _ => None,
    });
    if let Some(diagnosis) = form {
        return Err(RecognitionError::Form {
            file: path.to_owned(),
            register: recognise_repaired(path, &diagnosis),
            diagnosis,
        });
    }
    Err(nearest(path, errors))
}

/// Returns the register that a file of another form would be after its repair.
fn recognise_repaired(path: &Path, diagnosis: &Diagnosis) -> Option<RegisterKind> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(HEAD as u64).read_to_end(&mut head).ok()?;
    let mut diagnosis = diagnosis.clone();
    for _ in 0..MOST_REPAIRS {
        head = diagnosis.repair(&head)?;
        let mut probes = PROBES.iter();
        if let Some(probe) = probes.find(|probe| (probe.begin)(head.clone()).is_ok()) {
            return Some(probe.register);
        }
        diagnosis = Diagnosis::of(&head)?;
    }
    None
}

/// Returns the error that tells most: that of an unreadable file, or of the register whose columns
/// are mostly there.
fn nearest(path: &Path, errors: Vec<(&Probe, ReadError)>) -> RecognitionError {
    let mut best: Option<(usize, RegisterKind, ReadError)> = None;
    for (probe, error) in errors {
        match &error {
            ReadError::Open { .. }
            | ReadError::Io { .. }
            | ReadError::Empty { .. }
            | ReadError::BadZip { .. }
            | ReadError::BadFirstLine { .. } => {
                return RecognitionError::Read {
                    register: None,
                    error,
                };
            }
            ReadError::MissingColumn { columns, .. } => {
                let missing = columns.len();
                let fewest = best.as_ref().is_none_or(|(least, ..)| missing < *least);
                if fewest && missing * 2 <= probe.columns() {
                    best = Some((missing, probe.register, error));
                }
            }
            _ => {}
        }
    }
    match best {
        Some((_, register, error)) => RecognitionError::Read {
            register: Some(register),
            error,
        },
        None => RecognitionError::Unknown {
            file: path.to_owned(),
        },
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod repair_tests;
#[cfg(test)]
#[path = "recognition_tests.rs"]
mod tests;
