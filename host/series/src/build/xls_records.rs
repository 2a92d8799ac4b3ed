//! Records of the older format's stream of sheets ([MS-XLS] 2.1.4).

use super::workbook_error::WorkbookError;

// Types of records ([MS-XLS] 2.3.2).
pub(super) const FORMULA: u16 = 0x0006;
pub(super) const EOF: u16 = 0x000A;
pub(super) const DATE_1904: u16 = 0x0022;
pub(super) const FILE_PASS: u16 = 0x002F;
pub(super) const CONTINUE: u16 = 0x003C;
pub(super) const CODE_PAGE: u16 = 0x0042;
pub(super) const BOUND_SHEET_8: u16 = 0x0085;
pub(super) const MUL_RK: u16 = 0x00BD;
pub(super) const R_STRING: u16 = 0x00D6;
pub(super) const XF: u16 = 0x00E0;
pub(super) const SST: u16 = 0x00FC;
pub(super) const LABEL_SST: u16 = 0x00FD;
pub(super) const NUMBER: u16 = 0x0203;
pub(super) const LABEL: u16 = 0x0204;
pub(super) const BOOL_ERR: u16 = 0x0205;
pub(super) const STRING: u16 = 0x0207;
pub(super) const RK: u16 = 0x027E;
pub(super) const FORMAT: u16 = 0x041E;
pub(super) const BOF: u16 = 0x0809;

/// One record of a stream.
pub(super) struct Record<'s> {
    pub(super) kind: u16,
    pub(super) data: &'s [u8],
    /// True if a Continue record is the next one.
    pub(super) continued: bool,
}

/// Walks the records of a stream to its end. Nothing after an error is of use.
pub(super) struct Records<'s> {
    rest: &'s [u8],
}

impl<'s> Records<'s> {
    pub(super) fn new(stream: &'s [u8]) -> Records<'s> {
        Records { rest: stream }
    }

    /// Takes a record from the front, or returns None where its data ends early.
    fn split(&mut self) -> Option<Record<'s>> {
        let (head, rest) = self.rest.split_first_chunk::<4>()?;
        let [low, high, short, long] = *head;
        let length = usize::from(u16::from_le_bytes([short, long]));
        let (data, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(Record {
            kind: u16::from_le_bytes([low, high]),
            data,
            continued: rest.starts_with(&CONTINUE.to_le_bytes()),
        })
    }
}

impl<'s> Iterator for Records<'s> {
    type Item = Result<Record<'s>, WorkbookError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        Some(self.split().ok_or(WorkbookError::Damaged))
    }
}

/// Returns the number in two bytes from an offset on, or 0 where the data ends before them. The
/// reader of workbooks refuses such a record.
pub(super) fn number(data: &[u8], offset: usize) -> u16 {
    let bytes = data.get(offset..).and_then(|rest| rest.first_chunk());
    bytes.copied().map_or(0, u16::from_le_bytes)
}

/// Returns the number in four bytes from an offset on, or None where the data ends before them.
pub(super) fn long_number(data: &[u8], offset: usize) -> Option<usize> {
    let bytes = data.get(offset..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

/// Adds a record to a stream.
///
/// # Errors
/// [`WorkbookError::Damaged`] if a record cannot hold the data.
pub(super) fn put(stream: &mut Vec<u8>, kind: u16, data: &[u8]) -> Result<(), WorkbookError> {
    let length = u16::try_from(data.len()).map_err(|_| WorkbookError::Damaged)?;
    stream.extend_from_slice(&kind.to_le_bytes());
    stream.extend_from_slice(&length.to_le_bytes());
    stream.extend_from_slice(data);
    Ok(())
}
