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
use crate::zip_source::{self, is_workbook};
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
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
    #[error("{}: {diagnosis}", file.display(), diagnosis = form(member.as_deref(), diagnosis))]
    Form {
        /// The file.
        file: PathBuf,
        /// The member, where the file is an archive.
        member: Option<String>,
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
    /// No register's table is among the members of an archive.
    #[error(
        "{}: the archive holds {}, and no register's table by its name. Unpack it, then give each \
         file by its kind",
        file.display(),
        first_of(members)
    )]
    Archive {
        /// The file.
        file: PathBuf,
        /// The members' names, in their order.
        members: Vec<String>,
    },
    /// No reader knows the file's beginning.
    #[error(
        "{}: no register begins with {begin:?}. Download it again, or give the publisher's file \
         unchanged",
        file.display()
    )]
    Unknown {
        /// The file.
        file: PathBuf,
        /// The beginning of its first line, at most 60 characters.
        begin: String,
    },
}

fn form(member: Option<&str>, diagnosis: &Diagnosis) -> String {
    match member {
        Some(member) => format!("{member}: {}", diagnosis.in_archive()),
        None => diagnosis.to_string(),
    }
}

/// Names at most five members.
fn first_of(members: &[String]) -> String {
    let named: Vec<&str> = members.iter().take(5).map(String::as_str).collect();
    let named = named.join(", ");
    match members.len().saturating_sub(5) {
        0 if members.is_empty() => "nothing".to_owned(),
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

impl RecognitionError {
    /// Returns the register that the file resembles.
    pub fn register(&self) -> Option<RegisterKind> {
        match self {
            RecognitionError::Form { register, .. } | RecognitionError::Read { register, .. } => {
                *register
            }
            RecognitionError::Archive { .. } | RecognitionError::Unknown { .. } => None,
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

/// Most lines before the column names that are looked behind.
const MOST_LINES_BEFORE: usize = 5;
/// Most characters of a first line that an error quotes.
const QUOTED_CHARS: usize = 60;

/// Finds the register whose reader takes the beginning of a file.
///
/// # Errors
/// No reader takes it. The error names the form, the unreadable place or the missing columns.
pub fn recognise(path: &Path) -> Result<RegisterKind, RecognitionError> {
    let form = |member, register, diagnosis| {
        Err(RecognitionError::Form {
            file: path.to_owned(),
            member,
            register,
            diagnosis,
        })
    };
    let workbook = File::open(path).ok().map(BufReader::new);
    if workbook.is_some_and(|file| matches!(is_workbook(file), Ok(true))) {
        return form(None, None, Diagnosis::Workbook);
    }
    let mut errors = Vec::new();
    for probe in &PROBES {
        match (probe.open)(path) {
            Ok(()) => return Ok(probe.register),
            Err(error) => errors.push((probe, error)),
        }
    }
    let found = errors.iter().find_map(|(_, error)| match error {
        ReadError::Form {
            file, diagnosis, ..
        } => Some((member(path, file), diagnosis.clone())),
        _ => None,
    });
    // Lines before the column names may look like a row.
    let looks_like_rows =
        |diagnosis: &Diagnosis| matches!(diagnosis, Diagnosis::NoHeader | Diagnosis::JoinedRows);
    let is_read = !errors.iter().any(|(_, error)| ends_reading(error));
    if is_read
        && found.as_ref().is_none_or(|(_, form)| looks_like_rows(form))
        && let Some((lines, register)) = head(path, None).and_then(|head| lines_before(&head))
    {
        return form(None, Some(register), Diagnosis::LinesBefore(lines));
    }
    if let Some((member, diagnosis)) = found {
        let register = recognise_repaired(path, member.as_deref(), &diagnosis);
        return form(member, register, diagnosis);
    }
    Err(nearest(path, errors))
}

/// Returns the name of the member whose error names `file` as a path below the archive.
fn member(archive: &Path, file: &Path) -> Option<String> {
    let member = file.strip_prefix(archive).ok()?;
    let name = member.to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}

/// Returns the beginning of a file, or of a member of an archive.
fn head(path: &Path, member: Option<&str>) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let read = match member {
        None => File::open(path)
            .ok()?
            .take(HEAD as u64)
            .read_to_end(&mut head),
        Some(name) => {
            let members = zip_source::members(path, |it| it == name).ok()?;
            let member = zip_source::read(path, members.first()?, &BytesRead::default()).ok()?;
            member.take(HEAD as u64).read_to_end(&mut head)
        }
    };
    read.ok().map(|_| head)
}

/// Returns the register that a file of another form would be after its repair.
fn recognise_repaired(
    path: &Path,
    member: Option<&str>,
    diagnosis: &Diagnosis,
) -> Option<RegisterKind> {
    let mut head = head(path, member)?;
    let mut diagnosis = diagnosis.clone();
    for _ in 0..MOST_REPAIRS {
        head = diagnosis.apply_repair(&head)?;
        if let Some(register) = begins(&head) {
            return Some(register);
        }
        diagnosis = Diagnosis::of(&head)?;
    }
    None
}

/// Returns the register that begins so.
fn begins(head: &[u8]) -> Option<RegisterKind> {
    let mut probes = PROBES.iter();
    let probe = probes.find(|probe| (probe.begin)(head.to_vec()).is_ok());
    probe.map(|probe| probe.register)
}

/// Returns how many lines stand before the first one of a register, and the register. Such lines
/// have far fewer cells than its columns.
fn lines_before(head: &[u8]) -> Option<(usize, RegisterKind)> {
    let cells = |line: &[u8]| line.split(|byte| *byte == b',').count();
    let mut rest = head;
    let mut widest = 0;
    for lines in 1..=MOST_LINES_BEFORE {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let (line, below) = rest.split_at_checked(end + 1)?;
        widest = widest.max(cells(line));
        rest = below;
        let next = rest.split(|byte| *byte == b'\n').next()?;
        if widest * 2 <= cells(next)
            && let Some(register) = begins(rest)
        {
            return Some((lines, register));
        }
    }
    None
}

/// Reports whether a file cannot be read, so that its lines show nothing more.
fn ends_reading(error: &ReadError) -> bool {
    matches!(
        error,
        ReadError::Open { .. }
            | ReadError::Io { .. }
            | ReadError::Empty { .. }
            | ReadError::BadZip { .. }
    )
}

/// Returns the beginning of the first line that is not blank, for an error to quote.
fn first_line(path: &Path) -> String {
    let head = head(path, None).unwrap_or_default();
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let line = text.lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Returns the error that tells most: that of an unreadable file, or of the register whose columns
/// are mostly there.
fn nearest(path: &Path, errors: Vec<(&Probe, ReadError)>) -> RecognitionError {
    let mut best: Option<(usize, RegisterKind, ReadError)> = None;
    for (probe, error) in errors {
        match &error {
            end if ends_reading(end) || matches!(end, ReadError::BadFirstLine { .. }) => {
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
        None => match zip_source::members(path, |_| true) {
            Ok(members) => RecognitionError::Archive {
                file: path.to_owned(),
                members: members.into_iter().map(|member| member.name).collect(),
            },
            Err(_) => RecognitionError::Unknown {
                file: path.to_owned(),
                begin: first_line(path),
            },
        },
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod repair_tests;
#[cfg(test)]
#[path = "recognition_tests.rs"]
mod tests;
