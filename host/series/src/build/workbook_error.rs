//! The reasons why a workbook cannot be read, and the bound on its cells.

/// The most cells of a rectangle: those of a whole sheet in the older format.
pub(super) const LARGEST: u64 = 1 << 24;

/// The reason why a workbook or a sheet cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    /// Not a workbook, or a damaged one.
    #[error("{0}")]
    Unreadable(#[from] calamine::Error),
    /// The reader gave up on a part that no sound workbook has.
    #[error("a part of it is damaged")]
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
        most = LARGEST
    )]
    TooManyCells,
}
