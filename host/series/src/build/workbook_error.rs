//! The reasons why a workbook cannot be read, and the bounds on its cells.

/// The most cells of a rectangle: those of a whole sheet in the older format.
pub(super) const LARGEST: u64 = 1 << 24;
/// The most cells of all sheets in the older format, whose reader holds them at once: 64 columns of
/// a sheet's 65,536 rows.
pub(super) const LARGEST_OLDER: u64 = 1 << 22;
/// The most characters of a workbook's cells in the older format, and of a sheet's in the newer.
/// They take at most 256 MiB.
pub(super) const MOST_CHARACTERS: u64 = 1 << 26;

/// The reason why a workbook or a sheet cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    /// Not a workbook, or a damaged one.
    #[error("{0}")]
    Unreadable(#[from] calamine::Error),
    /// The reader gave up on a part that no sound workbook has.
    #[error("a part of it is damaged. Download it again")]
    Damaged,
    /// Cells far apart.
    #[error(
        "its cells span {rows} rows and {columns} columns, more than {most} cells. Delete cells far \
         from the table",
        most = LARGEST
    )]
    TooLarge {
        /// Rows from the first to the last cell.
        rows: u64,
        /// Columns from the first to the last cell.
        columns: u64,
    },
    /// Many sheets with cells far apart, in the older format.
    #[error(
        "its sheets together span more than {most} cells. Delete cells far from the tables, or \
         save it as .xlsx",
        most = LARGEST_OLDER
    )]
    TooManyCells,
    /// Long texts in many cells.
    #[error("its cells hold more than {most} characters of text. Delete the text beside the tables", most = MOST_CHARACTERS)]
    TooMuchText,
    /// Several sheets in one part of the older format's stream.
    #[error("its sheets share records, and those of a sound workbook do not. Download it again")]
    SharedRecords,
}
