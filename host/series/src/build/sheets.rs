//! Sheets of the publishers' workbooks, within bounds.
//!
//! A sheet is read as a rectangle that holds all its cells. Two cells at opposite corners would
//! make one of seventeen thousand million, so the rectangle is bounded before it is made.

use super::older_workbook::with_bounded_sheets;
use super::workbook_error::{LARGEST, MOST_CHARACTERS, WorkbookError};
use calamine::{
    Cell, Data, DataRef, ExcelDateTime, ExcelDateTimeType, Range, Reader, Xls, Xlsx, XlsxError,
};
use chrono::NaiveDate;
use domesday_registers::zip_source::is_zip;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An open workbook of either format.
pub(crate) enum Workbook<'b> {
    /// The older format, whose sheets are all in memory.
    Xls(Xls<Cursor<Vec<u8>>>),
    /// The newer format, an archive.
    Xlsx(Xlsx<Cursor<&'b [u8]>>),
}

impl<'b> Workbook<'b> {
    /// Opens a workbook.
    ///
    /// # Errors
    /// [`WorkbookError`] if it is not a workbook, damaged, or its sheets are too large.
    pub(crate) fn open(bytes: &'b [u8]) -> Result<Workbook<'b>, WorkbookError> {
        let opened = match is_zip(bytes) {
            true => catch_damage(|| Xlsx::new(Cursor::new(bytes)).ok().map(Workbook::Xlsx))?,
            false => Workbook::open_older(bytes)?,
        };
        opened.ok_or_else(|| calamine::Error::Msg("Cannot detect file format").into())
    }

    /// Opens a workbook of the older format, or returns None where it is none.
    fn open_older(bytes: &[u8]) -> Result<Option<Workbook<'b>>, WorkbookError> {
        let Some(bounded) = catch_damage(|| with_bounded_sheets(bytes))?? else {
            return Ok(None);
        };
        let opened = catch_damage(|| Xls::new(Cursor::new(bounded)))?;
        Ok(Some(Workbook::Xls(opened.map_err(calamine::Error::from)?)))
    }

    /// Returns the names of its sheets, in order.
    pub(crate) fn sheet_names(&self) -> Vec<String> {
        match self {
            Workbook::Xls(book) => book.sheet_names(),
            Workbook::Xlsx(book) => book.sheet_names(),
        }
    }

    /// Returns the day from which it counts others.
    pub(crate) fn date_system(&self) -> DateSystem {
        let from_1904 = match self {
            Workbook::Xls(book) => book.has_1904_epoch(),
            Workbook::Xlsx(book) => book.has_1904_epoch(),
        };
        match from_1904 {
            true => DateSystem::From1904,
            false => DateSystem::From1900,
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
            Workbook::Xlsx(book) => rectangle(catch_damage(|| filled_cells(book, sheet))??),
        }
    }
}

/// The day from which a workbook counts others. A setting of the workbook chooses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DateSystem {
    /// The first of January 1900 is day 1.
    #[default]
    From1900,
    /// The first of January 1904 is day 0.
    From1904,
}

impl DateSystem {
    /// Returns the day of a serial number. A time of day is left out.
    pub(crate) fn day(self, serial: f64) -> Option<NaiveDate> {
        // The reader has a date for every number, also for those that are none.
        if !(1.0..100_000.0).contains(&serial) {
            return None;
        }
        let from_1904 = self == DateSystem::From1904;
        let moment = ExcelDateTime::new(serial.floor(), ExcelDateTimeType::DateTime, from_1904);
        let (year, month, day, ..) = moment.to_ymd_hms_milli();
        NaiveDate::from_ymd_opt(year.into(), month.into(), day.into())
    }
}

/// Runs the reader of workbooks, which panics where a length or an offset of a file is wrong.
fn catch_damage<T>(read: impl FnOnce() -> T) -> Result<T, WorkbookError> {
    // After a panic nothing of the workbook is used.
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| WorkbookError::Damaged)
}

/// Returns the cells of a sheet that are not blank. A sheet of a drawing has none.
///
/// # Errors
/// [`WorkbookError`] if a cell cannot be read, or the cells hold too much text.
fn filled_cells(
    book: &mut Xlsx<Cursor<&[u8]>>,
    sheet: &str,
) -> Result<Vec<Cell<Data>>, WorkbookError> {
    let mut reader = match book.worksheet_cells_reader(sheet) {
        Err(XlsxError::NotAWorksheet(_)) => return Ok(Vec::new()),
        reader => reader.map_err(calamine::Error::from)?,
    };
    let mut cells = Vec::new();
    let mut characters = 0_u64;
    while let Some(cell) = reader.next_cell().map_err(calamine::Error::from)? {
        // Each cell gets its own copy of a string that cells share.
        if let DataRef::SharedString(text) = cell.get_value() {
            characters += text.chars().count() as u64;
        }
        if characters > MOST_CHARACTERS {
            return Err(WorkbookError::TooMuchText);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_days_of_their_date_system() {
        use DateSystem::{From1900, From1904};
        let date = NaiveDate::from_ymd_opt;
        assert_eq!(From1900.day(45_931.0), date(2025, 10, 1));
        assert_eq!(From1904.day(44_469.0), date(2025, 10, 1));
        assert_eq!(From1900.day(45_931.75), date(2025, 10, 1));
        assert_eq!(From1900.day(61.0), date(1900, 3, 1));
        // Spreadsheets have a 29 February 1900.
        for none in [60.0, 0.0, -1.0, 100_000.0, f64::NAN, f64::INFINITY] {
            assert_eq!(From1900.day(none), None, "{none}");
        }
    }
}
