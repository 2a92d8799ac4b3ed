//! Sheets of the publishers' workbooks, within bounds.
//!
//! A sheet is read as a rectangle that holds all its cells. Two cells at opposite corners would
//! make one of seventeen thousand million, so the rectangle is bounded before it is made.

use calamine::{Cell, Data, Range, Reader, Xls, Xlsx, XlsxError};
use domesday_registers::zip_source::is_zip;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The most cells of a rectangle: those of a whole sheet in the older format.
const LARGEST: u64 = 1 << 24;

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
}

/// An open workbook of either format.
pub(crate) enum Workbook<'b> {
    /// The older format, whose sheets are all in memory.
    Xls(Xls<Cursor<&'b [u8]>>),
    /// The newer format, an archive.
    Xlsx(Xlsx<Cursor<&'b [u8]>>),
}

impl<'b> Workbook<'b> {
    /// Opens a workbook.
    ///
    /// # Errors
    /// [`WorkbookError::Unreadable`] and [`WorkbookError::Damaged`].
    pub(crate) fn open(bytes: &'b [u8]) -> Result<Workbook<'b>, WorkbookError> {
        let source = Cursor::new(bytes);
        let opened = catch_damage(|| match is_zip(bytes) {
            true => Xlsx::new(source).ok().map(Workbook::Xlsx),
            false => Xls::new(source).ok().map(Workbook::Xls),
        })?;
        opened.ok_or_else(|| calamine::Error::Msg("Cannot detect file format").into())
    }

    /// Returns the names of its sheets, in order.
    pub(crate) fn sheet_names(&self) -> Vec<String> {
        match self {
            Workbook::Xls(book) => book.sheet_names(),
            Workbook::Xlsx(book) => book.sheet_names(),
        }
    }

    /// Returns the cells of a sheet.
    ///
    /// # Errors
    /// [`WorkbookError`] if a cell cannot be read, or the cells are too far apart.
    pub(crate) fn cells(&mut self, sheet: &str) -> Result<Range<Data>, WorkbookError> {
        match self {
            Workbook::Xls(book) => {
                Ok(book.worksheet_range(sheet).map_err(calamine::Error::from)?)
            }
            Workbook::Xlsx(book) => {
                let cells = catch_damage(|| filled_cells(book, sheet))?;
                rectangle(cells.map_err(calamine::Error::from)?)
            }
        }
    }
}

/// Runs the reader of workbooks, which panics where a length or an offset of a file is wrong.
fn catch_damage<T>(read: impl FnOnce() -> T) -> Result<T, WorkbookError> {
    // After a panic nothing of the workbook is used.
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| WorkbookError::Damaged)
}

/// Returns the cells of a sheet that are not blank. A sheet of a drawing has none.
fn filled_cells(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str) -> Result<Vec<Cell<Data>>, XlsxError> {
    let mut reader = match book.worksheet_cells_reader(sheet) {
        Err(XlsxError::NotAWorksheet(_)) => return Ok(Vec::new()),
        reader => reader?,
    };
    let mut cells = Vec::new();
    while let Some(cell) = reader.next_cell()? {
        let value = Data::from(cell.get_value().clone());
        if value != Data::Empty {
            cells.push(Cell::new(cell.get_position(), value));
        }
    }
    Ok(cells)
}

/// Returns the rectangle of these cells.
///
/// # Errors
/// [`WorkbookError::TooLarge`].
pub(crate) fn rectangle(cells: Vec<Cell<Data>>) -> Result<Range<Data>, WorkbookError> {
    let span = |of: fn((u32, u32)) -> u32| {
        let places = || cells.iter().map(|cell| u64::from(of(cell.get_position())));
        let (first, last) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
        last - first + 1
    };
    let (rows, columns) = (span(|(row, _)| row), span(|(_, column)| column));
    if rows.saturating_mul(columns) > LARGEST {
        return Err(WorkbookError::TooLarge { rows, columns });
    }
    Ok(Range::from_sparse(cells))
}
