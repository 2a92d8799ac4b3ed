//! Copies of the older format's sheets, with their cells alone.
//!
//! A copy has no sizes that a sheet states, no merged cells, no charts and no formulas. A formula's
//! cell is copied as the value that it had.

use std::borrow::Cow;

use super::workbook_error::{LARGEST, LARGEST_OLDER, MOST_CHARACTERS, WorkbookError};
use super::xls_records::{
    BOF, BOOL_ERR, EOF, FORMULA, LABEL, LABEL_SST, MUL_RK, NUMBER, R_STRING, RK, Record, Records,
    STRING, long_number, number, put,
};

/// The row, the column and the format of a cell, with which its record begins.
type CellHead = [u8; 6];

/// The copier of the sheets of one workbook, with counts of their cells.
pub(super) struct Copier {
    /// Bytes of the stream that no sheet has taken yet.
    unread: usize,
    /// The number of characters of each shared string.
    shared: Vec<u16>,
    /// Characters of all cells.
    characters: u64,
    /// Cells of all rectangles.
    cells: u64,
}

/// The state of a sheet while it is copied.
#[derive(Default)]
struct Sheet {
    /// The cell of the last formula. Its text is in a record of another type.
    formula: CellHead,
    /// The first and last row, and the first and last column.
    span: Option<[u16; 4]>,
}

impl Copier {
    /// Begins to copy the sheets of a stream of this length.
    pub(super) fn new(length: usize, shared: Vec<u16>) -> Copier {
        Copier {
            unread: length,
            shared,
            characters: 0,
            cells: 0,
        }
    }

    /// Copies the sheet that begins with the stream.
    ///
    /// # Errors
    /// [`WorkbookError`] if a record is damaged, or the sheets hold too much.
    pub(super) fn copy(&mut self, stream: &[u8], into: &mut Vec<u8>) -> Result<(), WorkbookError> {
        let mut sheet = Sheet::default();
        let mut begun = false;
        // Charts inside the sheet have records like those of cells.
        let mut depth = 0_usize;
        for record in Records::new(stream) {
            let record = record?;
            self.unread = self
                .unread
                .checked_sub(4 + record.data.len())
                .ok_or(WorkbookError::SharedRecords)?;
            match record.kind {
                BOF if begun => depth += 1,
                BOF => {
                    begun = true;
                    put(into, BOF, record.data)?;
                }
                EOF if depth == 0 => break,
                EOF => depth -= 1,
                _ if depth == 0 => self.copy_cell(&record, &mut sheet, into)?,
                _ => {}
            }
        }
        put(into, EOF, &[])?;
        self.count_cells(&sheet)
    }

    /// Copies a record if it is one of cells.
    fn copy_cell(
        &mut self,
        record: &Record<'_>,
        sheet: &mut Sheet,
        into: &mut Vec<u8>,
    ) -> Result<(), WorkbookError> {
        let (kind, mut data) = match record.kind {
            NUMBER | LABEL | R_STRING | BOOL_ERR | RK | LABEL_SST | MUL_RK => {
                (record.kind, Cow::Borrowed(record.data))
            }
            FORMULA => {
                let (head, value) = formula(record.data).ok_or(WorkbookError::Damaged)?;
                sheet.formula = head;
                let Some((kind, value)) = cached_value(value)? else {
                    return Ok(());
                };
                (kind, Cow::Owned([&head[..], &value[..]].concat()))
            }
            STRING => (
                LABEL,
                Cow::Owned([&sheet.formula[..], record.data].concat()),
            ),
            _ => return Ok(()),
        };
        match kind {
            LABEL | R_STRING => {
                let (stated, held) = (usize::from(number(&data, 6)), data.len().saturating_sub(8));
                if stated > held {
                    // The rest of a long text is in Continue records, which the reader ignores.
                    let held = u16::try_from(held).map_err(|_| WorkbookError::Damaged)?;
                    let length = data.to_mut().get_mut(6..8).filter(|_| record.continued);
                    let length = length.ok_or(WorkbookError::Damaged)?;
                    length.copy_from_slice(&held.to_le_bytes());
                }
                self.count_characters(stated.min(held))?;
            }
            LABEL_SST => {
                let string = long_number(&data, 6).and_then(|at| self.shared.get(at));
                let length = string.copied().map_or(0, usize::from);
                self.count_characters(length)?;
            }
            _ => {}
        }
        let (row, first) = (number(&data, 0), number(&data, 2));
        let last = match kind {
            MUL_RK => number(&data, data.len().saturating_sub(2)),
            _ => first,
        };
        let [top, bottom, left, right] = sheet.span.unwrap_or([row, row, first, last]);
        let (left, right) = (left.min(first).min(last), right.max(first).max(last));
        sheet.span = Some([top.min(row), bottom.max(row), left, right]);
        put(into, kind, &data)
    }

    /// Counts the characters of a cell.
    fn count_characters(&mut self, count: usize) -> Result<(), WorkbookError> {
        self.characters += count as u64;
        if self.characters > MOST_CHARACTERS {
            return Err(WorkbookError::TooMuchText);
        }
        Ok(())
    }

    /// Counts the cells of a sheet's rectangle.
    fn count_cells(&mut self, sheet: &Sheet) -> Result<(), WorkbookError> {
        let Some([top, bottom, left, right]) = sheet.span else {
            return Ok(());
        };
        let (rows, columns) = (u64::from(bottom - top) + 1, u64::from(right - left) + 1);
        if rows * columns > LARGEST {
            return Err(WorkbookError::TooLarge { rows, columns });
        }
        self.cells += rows * columns;
        if self.cells > LARGEST_OLDER {
            return Err(WorkbookError::TooManyCells);
        }
        Ok(())
    }
}

/// Returns the cell of a formula and the value that it had.
fn formula(data: &[u8]) -> Option<(CellHead, [u8; 8])> {
    let (head, rest) = data.split_first_chunk::<6>()?;
    Some((*head, *rest.first_chunk::<8>()?))
}

/// Returns a formula's value as the type and the data of another record, after the cell's head. A
/// text has none, since it is in a record after the formula ([MS-XLS] 2.5.133).
fn cached_value(value: [u8; 8]) -> Result<Option<(u16, Vec<u8>)>, WorkbookError> {
    Ok(match value {
        [0, .., 0xFF, 0xFF] => None,
        [1, _, truth, .., 0xFF, 0xFF] => Some((BOOL_ERR, vec![truth, 0])),
        [2, _, error, .., 0xFF, 0xFF] => Some((BOOL_ERR, vec![error, 1])),
        // An empty text: no characters, and no flags.
        [3, .., 0xFF, 0xFF] => Some((LABEL, vec![0; 3])),
        [.., 0xFF, 0xFF] => return Err(WorkbookError::Damaged),
        float => Some((NUMBER, float.to_vec())),
    })
}
