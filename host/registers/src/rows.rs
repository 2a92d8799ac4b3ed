//! The one loop behind every reader: members in turn, first line, rows, rejects.

use crate::ReadError;
use crate::bytes_read::BytesRead;
use crate::diagnosis::Diagnosis;
use crate::record::{Record, Records};
use crate::rejected_row::{RejectReason, RejectedRow};
use crate::zip_source::{self, Member};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Bytes asked of the disk at once.
const CHUNK: usize = 256 * 1024;

/// The format of one register's file and the meaning of its rows.
pub trait Register: Default {
    /// A row of the register.
    type Row;

    /// The register's name, as an error calls it.
    const NAME: &'static str;

    /// Returns whether a member of a zip archive is one of the register's tables.
    fn wants(member: &str) -> bool {
        member.to_ascii_lowercase().ends_with(".csv")
    }

    /// Looks at a table's first line.
    fn begin(&mut self, first: &Record<'_>) -> Begin;

    /// Reads one row, which has as many cells as the first line.
    fn row(&mut self, record: &Record<'_>, warnings: &mut Warnings) -> Result<Self::Row, RowError>;
}

/// The kind of a table's first line.
#[derive(Debug)]
pub enum Begin {
    /// Column names, all needed ones among them.
    Header,
    /// A row: the register has no header.
    Row,
    /// Column names, but these are missing.
    Missing(Vec<String>),
    /// Neither of the two. The text is the expected line.
    Wrong(&'static str),
}

/// The reason why a row is refused, and the offending cell.
#[derive(Debug)]
pub struct RowError {
    reason: RejectReason,
    value: String,
}

impl RowError {
    /// Returns an error for `reason`, with the offending `value`.
    pub fn new(reason: RejectReason, value: &str) -> RowError {
        RowError {
            reason,
            value: value.to_owned(),
        }
    }
}

/// The warning of a kept row without a line end, whose last cell may be cut.
pub const UNENDED: &str = "unended_last_line";

/// Writes a line's position: the member of an archive, and the line.
pub fn position(member: Option<&str>, line: u64) -> String {
    match member {
        Some(member) => format!("{member}: line {line}"),
        None => format!("line {line}"),
    }
}

/// Counts of cells that were dropped from kept rows or may be cut, by a stable snake_case code.
#[derive(Clone, Debug, Default)]
pub struct Warnings(BTreeMap<&'static str, u64>);

impl Warnings {
    /// Counts one warning.
    pub fn count(&mut self, code: &'static str) {
        self.add(code, 1);
    }

    fn add(&mut self, code: &'static str, times: u64) {
        if times > 0 {
            *self.0.entry(code).or_default() += times;
        }
    }
}

/// The rows of a register's file, in order, each as a row or as a reject.
///
/// Memory is constant. An error ends the iteration: the file cannot be read any further.
pub struct Rows<T: Register> {
    register: T,
    file: PathBuf,
    bytes_read: BytesRead,
    members: VecDeque<Member>,
    table: Option<Table>,
    line: u64,
    warnings: Warnings,
    unended: Option<String>,
}

/// The table being read.
struct Table {
    records: Records,
    columns: usize,
    /// The first line is a row and has not been yielded yet.
    first_is_row: bool,
}

impl<T: Register> Rows<T> {
    /// Opens a plain file, or the register's tables in a zip archive in the order of their names.
    /// It checks the first line.
    ///
    /// # Errors
    /// [`ReadError::Open`], [`ReadError::Io`] or [`ReadError::BadZip`] if the file cannot be read.
    /// [`ReadError::NoMember`] for an archive without a table of the register. Otherwise as
    /// [`Rows::from_reader`].
    pub fn open(path: &Path, bytes_read: &BytesRead) -> Result<Rows<T>, ReadError> {
        let mut rows = Rows::empty(path, bytes_read);
        let mut file = zip_source::open(path)?;
        let mut magic = Vec::new();
        (&mut file)
            .take(4)
            .read_to_end(&mut magic)
            .map_err(|source| rows.io(1, source))?;
        if zip_source::is_zip(&magic) {
            rows.members = zip_source::members(path, T::wants)?.into();
            if !rows.next_member()? {
                return Err(ReadError::NoMember {
                    file: path.to_owned(),
                    register: T::NAME,
                });
            }
        } else {
            let whole = bytes_read.count(Cursor::new(magic).chain(file));
            rows.begin(Box::new(BufReader::with_capacity(CHUNK, whole)), None)?;
        }
        Ok(rows)
    }

    /// Reads one table from any stream. `name` is the file's name in errors.
    ///
    /// # Errors
    /// [`ReadError::Empty`] without a line, [`ReadError::MissingColumn`],
    /// [`ReadError::WrongRegister`] or [`ReadError::BadFirstLine`] for a first line that is not the
    /// register's.
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
    ) -> Result<Rows<T>, ReadError> {
        let mut rows = Rows::empty(Path::new(name), &BytesRead::default());
        rows.begin(Box::new(BufReader::with_capacity(CHUNK, reader)), None)?;
        Ok(rows)
    }

    /// Returns the dropped cells of kept rows so far, by code.
    pub fn warnings(&self) -> &BTreeMap<&'static str, u64> {
        &self.warnings.0
    }

    /// Returns the position of the last row: the member of an archive, and the line, counted from
    /// 1. Callers name an excluded row by it.
    pub fn position(&self) -> (Option<&str>, u64) {
        let member = self.table.as_ref().and_then(|table| table.records.member());
        (member, self.line)
    }

    /// Returns the position of the first kept row without a line end, where earlier lines have one.
    pub fn unended_row(&self) -> Option<&str> {
        self.unended.as_deref()
    }

    fn empty(path: &Path, bytes_read: &BytesRead) -> Rows<T> {
        Rows {
            register: T::default(),
            file: path.to_owned(),
            bytes_read: bytes_read.clone(),
            members: VecDeque::new(),
            table: None,
            line: 0,
            warnings: Warnings::default(),
            unended: None,
        }
    }

    fn io(&self, line: u64, source: io::Error) -> ReadError {
        ReadError::Io {
            file: self.file.clone(),
            line,
            source,
        }
    }

    /// Moves to the next member, or returns false without one.
    fn next_member(&mut self) -> Result<bool, ReadError> {
        let Some(member) = self.members.pop_front() else {
            return Ok(false);
        };
        let reader = zip_source::read(&self.file, &member, &self.bytes_read)?;
        self.begin(
            Box::new(BufReader::with_capacity(CHUNK, reader)),
            Some(member.name),
        )?;
        Ok(true)
    }

    /// Reads a table's first line.
    fn begin(
        &mut self,
        reader: Box<dyn BufRead + Send>,
        member: Option<String>,
    ) -> Result<(), ReadError> {
        let file = match &member {
            Some(member) => self.file.join(member),
            None => self.file.clone(),
        };
        let mut records = Records::new(reader, member);
        let first = records.read(None).map_err(|source| ReadError::Io {
            file: file.clone(),
            line: 1,
            source,
        })?;
        let line = match first {
            None => return Err(ReadError::Empty { file }),
            Some(Err(reject)) => {
                let bad = ReadError::BadFirstLine {
                    file: file.clone(),
                    line: reject.line,
                    reason: reject.reason,
                };
                return Err(form::<T>(file, &mut records, bad));
            }
            Some(Ok(line)) => line,
        };
        let first_is_row = match self.register.begin(&records.record()) {
            Begin::Header => false,
            Begin::Row => true,
            Begin::Missing(columns) => {
                let missing = ReadError::MissingColumn {
                    file: file.clone(),
                    line,
                    columns,
                    register: T::NAME,
                };
                return Err(form::<T>(file, &mut records, missing));
            }
            Begin::Wrong(expected) => {
                let wrong = ReadError::WrongRegister {
                    file: file.clone(),
                    line,
                    expected,
                    register: T::NAME,
                };
                return Err(form::<T>(file, &mut records, wrong));
            }
        };
        let columns = records.record().len();
        self.table = Some(Table {
            records,
            columns,
            first_is_row,
        });
        Ok(())
    }

    /// Returns the next row's line, left in the table's buffers, or its reject; `None` at the end.
    fn advance(&mut self) -> Result<Option<Result<u64, RejectedRow>>, ReadError> {
        loop {
            let Some(table) = &mut self.table else {
                return Ok(None);
            };
            if std::mem::take(&mut table.first_is_row) {
                return Ok(Some(Ok(table.records.lines())));
            }
            match table.records.read(Some(table.columns)) {
                Ok(Some(read)) => return Ok(Some(read)),
                Ok(None) => {
                    self.warnings
                        .add("read_as_windows_1252", table.records.recoded_rows());
                    self.table = None;
                    self.next_member()?;
                }
                Err(source) => {
                    let line = table.records.lines() + 1;
                    return Err(self.io(line, source));
                }
            }
        }
    }
}

/// Returns the file's form as the reason, if its beginning shows one, or else the given error.
fn form<T: Register>(file: PathBuf, records: &mut Records, otherwise: ReadError) -> ReadError {
    match Diagnosis::of(&records.head()) {
        Some(diagnosis) => ReadError::Form {
            file,
            diagnosis,
            in_archive: records.member().is_some(),
            register: T::NAME,
        },
        None => otherwise,
    }
}

impl<T: Register> Iterator for Rows<T> {
    type Item = Result<Result<T::Row, RejectedRow>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.advance() {
            Ok(None) => return None,
            Ok(Some(Ok(line))) => line,
            Ok(Some(Err(reject))) => return Some(Ok(Err(reject))),
            Err(error) => {
                self.table = None;
                self.members.clear();
                return Some(Err(error));
            }
        };
        self.line = line;
        let table = self.table.as_mut()?;
        let read = self
            .register
            .row(&table.records.record(), &mut self.warnings);
        if read.is_err() {
            table.records.put_back();
        }
        let member = table.records.member();
        if read.is_ok() && table.records.is_unended() {
            self.warnings.count(UNENDED);
            self.unended.get_or_insert_with(|| position(member, line));
        }
        Some(Ok(read.map_err(|refusal| {
            RejectedRow::new(member, line, refusal.reason, &refusal.value)
        })))
    }
}
