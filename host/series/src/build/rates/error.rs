//! Errors of the Bank's files and their locations.

use super::codes::CODES;
use super::curve_kind::{CurveKind, MATURITIES};
use crate::build::WorkbookError;
use domesday_registers::Diagnosis;
use std::fmt;
use std::path::PathBuf;

/// A location in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file's name; a member of an archive is `archive.zip!member`.
    pub file: String,
    /// The sheet, in a workbook.
    pub sheet: Option<String>,
    /// The cell: `B12` in a workbook, `line 12, column CODE` in a CSV file.
    pub cell: Option<String>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(sheet) = &self.sheet {
            write!(f, ", sheet {sheet:?}")?;
        }
        if let Some(cell) = &self.cell {
            write!(f, ", {cell}")?;
        }
        Ok(())
    }
}

/// The files do not have the expected content.
#[derive(Debug, thiserror::Error)]
pub enum RatesError {
    /// The file system refused.
    #[error("cannot read {}: {error}; check --bank-csv and --curves", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Something in a file is wrong.
    #[error("{location}: {kind}")]
    File {
        /// The location in the file.
        location: Box<SourceLocation>,
        /// The kind of the error.
        kind: RatesErrorKind,
    },
}

/// The kind of an error in a file.
#[derive(Debug, thiserror::Error)]
pub enum RatesErrorKind {
    /// Not a readable archive, or one that is too large in sum.
    #[error("{0}")]
    Zip(#[from] domesday_registers::zip_source::ZipError),
    /// A member of an archive cannot be unpacked.
    #[error("cannot unpack {member}: {error}; download the file again")]
    Member {
        /// Its name.
        member: String,
        /// The reason.
        error: std::io::Error,
    },
    /// Not a readable workbook.
    #[error("{0}")]
    Workbook(#[from] WorkbookError),
    /// Not readable CSV.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// An unknown layout.
    #[error("{0}")]
    Layout(&'static str),
    /// A known layout without a value.
    #[error("{0}")]
    NoValue(&'static str),
    /// The file's form is another one.
    #[error("{0}")]
    Form(Diagnosis),
    /// The first row follows the column names on their line, which is not the file's first.
    #[error("the column names and the first row share this line. Put a line end after {last}")]
    JoinedHeader {
        /// The last column's name.
        last: String,
    },
    /// No column's name ends with the code of a known series.
    #[error(
        "no column belongs to a known series: a column's name must end with the series code. \
         Looked for: {}. Found: {}",
        codes().join(", "),
        found.join(", ")
    )]
    NoSeries {
        /// The names of the columns after the date.
        found: Vec<String>,
    },
    /// A table of curves under the name of none.
    #[error("{name:?} names no curve dataset. Write one of: {}", curves().join(", "))]
    UnknownCurve {
        /// The first cell of the table.
        name: String,
    },
    /// A column of a series whose title is that of another.
    #[error("the title {title:?} does not match series {code}")]
    Title {
        /// The code.
        code: String,
        /// The title in the file.
        title: String,
    },
    /// Not a date in one of the Bank's styles.
    #[error("{0:?} is not a date. Write days as 2025-12-18 or 18 Dec 2025")]
    Date(String),
    /// Not a spreadsheet's day.
    #[error("{0:?} is not a date. Give the cell the day as a date, not as text")]
    DateCell(String),
    /// The last row lacks cells, and its line does not end.
    #[error("the file ends within this row, so the download broke off. Download it again")]
    CutShort,
    /// The last row has its cells, and its line does not end.
    #[error(
        "the last line has no line end, so the download may have broken off within its last cell. \
         Download it again, or compare the cell and add a line end"
    )]
    NoLineEnd,
    /// A row has more or fewer cells than the header.
    #[error("the row has {cells} cells and the table {columns} columns. {}", advice(*cells, *columns))]
    Cells {
        /// Cells of the row.
        cells: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// Not a number.
    #[error("{0:?} is not a number. Correct the cell, or download the file again")]
    Number(String),
    /// More digits than a decimal holds.
    #[error("{0:?} has more than the 28 digits that a figure may have. Round it")]
    Precision(String),
    /// Not a maturity in whole months, or not one of a curve.
    #[error(
        "the maturity {0} is not a whole number of months from {first} to {last}. Correct it, or \
         give the publisher's file unchanged",
        first = MATURITIES.start(),
        last = MATURITIES.end()
    )]
    Maturity(String),
    /// Another file or cell states another value for the same figure.
    #[error("{value} contradicts {other} in {from}. Leave one of them out")]
    Contradiction {
        /// The value here, as it is read.
        value: String,
        /// The value there.
        other: String,
        /// The other file.
        from: String,
    },
}

/// Returns the code of every series that is used.
fn codes() -> Vec<&'static str> {
    CODES.iter().map(|code| code.code).collect()
}

/// Returns the dataset of every curve.
fn curves() -> Vec<&'static str> {
    let all = CurveKind::all();
    all.map(|(kind, side)| kind.dataset(side)).collect()
}

/// Returns the repair of a row that has another number of cells than the header.
fn advice(cells: usize, columns: usize) -> &'static str {
    match cells > columns {
        true => "Write a decimal with a point, 3.75 and not 3,75",
        false => "Leave the cell of a missing value blank",
    }
}

impl RatesErrorKind {
    /// Returns whether a file was refused for its form or its columns, before any of its values was
    /// read. It may be of another kind than it was given as.
    pub fn is_of_another_kind(&self) -> bool {
        matches!(
            self,
            RatesErrorKind::Workbook(_)
                | RatesErrorKind::Csv(_)
                | RatesErrorKind::Layout(_)
                | RatesErrorKind::Form(_)
        )
    }

    /// Returns the error at a location.
    pub(crate) fn at(self, location: SourceLocation) -> RatesError {
        RatesError::File {
            location: Box::new(location),
            kind: self,
        }
    }
}
