//! Lengths of the strings that the cells of an older workbook share.
//!
//! The reader of workbooks copies a shared string into every cell that refers to it. So the length
//! of each is known before a cell is read.

use super::workbook_error::{LARGEST_OLDER, WorkbookError};

/// The most Continue records after the table: 160 MB of text. The reader takes each from the front
/// of all that are left.
const MOST_CONTINUES: usize = 20_000;

// Flags of a string ([MS-XLS] 2.5.293).
const HIGH_BYTE: u8 = 0x01;
const EXTENDED: u8 = 0x04;
const RICH: u8 = 0x08;

/// Returns the number of characters of each shared string. The parts are the data of the SST record
/// and of its Continue records.
///
/// # Errors
/// [`WorkbookError::Damaged`] if a string ends early, or no sound workbook has as many.
pub(super) fn lengths(parts: &[&[u8]]) -> Result<Vec<u16>, WorkbookError> {
    let Some((first, continues)) = parts.split_first() else {
        return Ok(Vec::new());
    };
    if continues.len() > MOST_CONTINUES || continues.iter().any(|part| part.is_empty()) {
        return Err(WorkbookError::Damaged);
    }
    // The two numbers of strings before the first string are not used.
    let data = first.get(8..).ok_or(WorkbookError::Damaged)?;
    let mut table = Table {
        data,
        continues: continues.iter(),
    };
    let mut lengths = Vec::new();
    while !table.data.is_empty() || table.go_on() {
        lengths.push(table.skip_string()?);
        // A workbook has no more different strings than cells.
        if lengths.len() as u64 > LARGEST_OLDER {
            return Err(WorkbookError::Damaged);
        }
    }
    Ok(lengths)
}

/// The part of the table that is not read yet.
struct Table<'s> {
    data: &'s [u8],
    continues: std::slice::Iter<'s, &'s [u8]>,
}

impl Table<'_> {
    /// Goes on with the next Continue record, and returns whether there was one.
    fn go_on(&mut self) -> bool {
        let next = self.continues.next();
        self.data = next.copied().unwrap_or(self.data);
        next.is_some()
    }

    /// Takes bytes that one record holds.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], WorkbookError> {
        let (bytes, rest) = self
            .data
            .split_first_chunk::<N>()
            .ok_or(WorkbookError::Damaged)?;
        self.data = rest;
        Ok(*bytes)
    }

    /// Goes past bytes that several records may hold.
    fn skip(&mut self, mut length: usize) -> Result<(), WorkbookError> {
        while length > 0 {
            if self.data.is_empty() && !self.go_on() {
                return Err(WorkbookError::Damaged);
            }
            let step = length.min(self.data.len());
            self.data = self.data.get(step..).unwrap_or_default();
            length -= step;
        }
        Ok(())
    }

    /// Goes past characters. A Continue record inside a string begins with the string's flags.
    fn skip_characters(&mut self, count: u16, mut flags: u8) -> Result<(), WorkbookError> {
        let mut left = usize::from(count);
        while left > 0 {
            let width = if flags & HIGH_BYTE == 0 { 1 } else { 2 };
            let held = left.min(self.data.len() / width);
            self.data = self.data.get(held * width..).unwrap_or_default();
            left -= held;
            if left > 0 {
                if !self.go_on() {
                    return Err(WorkbookError::Damaged);
                }
                [flags] = self.take::<1>()?;
            }
        }
        Ok(())
    }

    /// Goes past one string, and returns how many characters it has.
    fn skip_string(&mut self) -> Result<u16, WorkbookError> {
        let [low, high, flags] = self.take::<3>()?;
        let count = u16::from_le_bytes([low, high]);
        let mut runs = 0;
        if flags & RICH != 0 {
            runs = u16::from_le_bytes(self.take::<2>()?);
        }
        let mut extension = 0;
        if flags & EXTENDED != 0 {
            extension = i32::from_le_bytes(self.take::<4>()?);
        }
        self.skip_characters(count, flags)?;
        self.skip(usize::from(runs) * 4)?;
        self.skip(usize::try_from(extension).map_err(|_| WorkbookError::Damaged)?)?;
        Ok(count)
    }
}
