//! Errors of building a markets package.

use super::report::Report;
use domesday_registers::ReadError;
use domesday_registers::sources::UnreadableFile;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a markets package could not be built.
///
/// The build rejects and counts the damaged rows of large registers. A damaged cell of a small
/// table is an error that names the cell.
#[derive(Debug, thiserror::Error)]
pub enum MarketsError {
    /// A register's file is not of the expected kind.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A register's file could not be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableFile),
    /// A workbook could not be opened, or the file of matches not written.
    #[error("cannot read or write {}: {source}; check --rents and --matches", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A workbook or table of rents cannot be opened.
    #[error("cannot read rents from {}: {reason}", path.display())]
    Rents {
        /// The file.
        path: PathBuf,
        /// The problem of the file.
        reason: String,
    },
    /// A file of rents without a figure.
    #[error(
        "{}: no rent below the headings, and {unavailable} cells marked as not available. Download \
         the file again, or leave it out",
        path.display()
    )]
    NoRents {
        /// The file.
        path: PathBuf,
        /// Cells that the publisher marks as having no figure.
        unavailable: u64,
    },
    /// A file of rents without a usable one.
    #[error(
        "{}: no usable rent: {left_out} of its {rows} rents belong to no authority of the areas \
         files, and the others are marked as not available. Give areas files of these authorities, \
         or leave the rents out",
        path.display()
    )]
    NothingKept {
        /// The file.
        path: PathBuf,
        /// Its rents.
        rows: u64,
        /// Those of areas that are no authority of the release.
        left_out: u64,
    },
    /// A cell of a table of rents is neither a figure nor a known mark.
    #[error("{}: invalid cell {cell} of sheet {sheet:?}: {reason}: {value:?}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The sheet, or the file's name again where it has no sheets.
        sheet: String,
        /// The cell as a spreadsheet names it, such as `H7`.
        cell: String,
        /// The problem of the cell.
        reason: &'static str,
        /// The cell's text.
        value: String,
    },
    /// Two files of rents have different windows.
    #[error(
        "cannot combine rents of {first} months and of {second} months in one series. Give files \
         of one kind"
    )]
    MixedRents {
        /// Months that a rent of the first file covers.
        first: u32,
        /// Months that a rent of another file covers.
        second: u32,
    },
    /// The same month, area and group twice, with two figures.
    #[error(
        "{}: cell {cell} of sheet {sheet:?} contradicts another rent of its month, area and \
         bedrooms",
        path.display()
    )]
    RentTwice {
        /// The file of the second figure.
        path: PathBuf,
        /// Its sheet.
        sheet: String,
        /// Its cell.
        cell: String,
    },
    /// The same month and area twice in one file of the price index, with two figures.
    #[error(
        "{file}: index {index} of {area} in {month} contradicts {other}, which the file states for \
         the same area under this code or another. Download the file again, or leave it out"
    )]
    IndexTwice {
        /// The file's name.
        file: String,
        /// The code of the second figure, past or current.
        area: String,
        /// The month.
        month: String,
        /// The second figure.
        index: f64,
        /// The first figure.
        other: f64,
    },
    /// A statement of coverage that cannot be read or names an area that is not in the areas file.
    #[error("invalid coverage {text:?}: {reason}")]
    Coverage {
        /// The statement.
        text: String,
        /// The problem of the statement.
        reason: &'static str,
    },
    /// The digest of a source is invalid, which never happens.
    #[error("{file}: invalid SHA-256: expected 64 hexadecimal digits")]
    Digest {
        /// The file.
        file: String,
    },
    /// The release could not be written.
    #[error(transparent)]
    Write(#[from] crate::build::BuildError),
    /// There is no sale, so no month can be stated.
    #[error(
        "the price paid files hold no category A sale of a dwelling in the areas files' areas. \
         Give price paid and areas files of the same authorities"
    )]
    NoSales,
    /// Files of a part of the country, given as files of all of it.
    #[error(
        "the price paid files hold no sale for {without} of {of} authorities, whose counts would \
         be 0. Give --covers CODE:YYYY-MM:YYYY-MM for each authority and the months that the files \
         hold completely, or --whole-country if they hold every sale"
    )]
    PartOfTheCountry {
        /// Authorities without a sale.
        without: u64,
        /// Authorities of the areas files.
        of: u64,
    },
    /// The files give no observation.
    #[error(
        "the inputs give no observations: {counted} of {transactions} sales count, from {first} \
         to {core}. The shortest window needs 12 covered months. Give files of more months, a wider \
         --covers, or a later --release-month"
    )]
    NoObservation {
        /// Sales that are counted.
        counted: u64,
        /// Sales in the files.
        transactions: u64,
        /// The first month with a sale.
        first: String,
        /// The last month that the release would state.
        core: String,
        /// The counts of the rows read.
        report: Box<Report>,
    },
    /// The release would end before its sales begin.
    #[error(
        "--release-month {month} states sales to {core}, and the first covered month is {first}. \
         {}",
        earliest_release(earliest.as_deref())
    )]
    BeforeTheSales {
        /// The month of the release.
        month: String,
        /// The last month that would be stated.
        core: String,
        /// The first covered month of any authority.
        first: String,
        /// The earliest month of release with a whole window, if the sales reach that far.
        earliest: Option<String>,
    },
    /// A stated month has no sale: the register ends before it.
    #[error(
        "the release would state {month}, but the newest sale is from {newest}. A month without \
         any sale is missing, not zero. Give the files of those months, or an earlier month of \
         release"
    )]
    BeyondTheSales {
        /// The last month that would be stated.
        month: String,
        /// The month of the newest sale.
        newest: String,
    },
    /// Files that are given as complete hold no sale of some month, but sales after it.
    #[error(
        "the price paid files hold no sale in {month}, but one in {after}: a file is missing, \
         or that sale's date is wrong. Give the file, or state the complete months with --covers"
    )]
    Gap {
        /// The first month without a sale.
        month: String,
        /// The month of the next sale.
        after: String,
    },
    /// The areas files hold no authority of England or Wales.
    #[error(
        "the areas files hold no local authority of England or Wales. Give the files of ONS \
         Standard Area Measurements"
    )]
    NoAreas,
}

/// Says which month of release to give.
fn earliest_release(earliest: Option<&str>) -> String {
    match earliest {
        Some(month) => format!("Give --release-month {month} or a later one"),
        None => "Give files of at least 12 months".to_owned(),
    }
}

impl MarketsError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> MarketsError + '_ {
        |source| MarketsError::Io {
            path: path.to_owned(),
            source,
        }
    }
}
