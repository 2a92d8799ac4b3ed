//! Workbooks of the older format, bounded before they are opened.
//!
//! Their reader makes the rectangle of every sheet while it opens the file. It also makes room for
//! the size that a sheet states. So the places of all cells are looked at first, and stated sizes
//! are hidden. The reader gets a new container with these records alone, since two readers of a
//! damaged container could find different ones.

use std::io::{Cursor, Read as _, Write as _};

use cfb::CompoundFile;

use super::workbook_error::{LARGEST, WorkbookError};

/// Names of the stream that holds all sheets: of Excel 97 and later, and of Excel 5.
const STREAMS: [&str; 2] = ["/Workbook", "/Book"];

// Types of records ([MS-XLS] 2.3).
const FORMULA: u16 = 0x0006;
const END: u16 = 0x000A;
const SHEET: u16 = 0x0085;
const NUMBERS: u16 = 0x00BD;
const RICH_LABEL: u16 = 0x00D6;
const SHARED_LABEL: u16 = 0x00FD;
const STATED_SIZE: u16 = 0x0200;
const NUMBER: u16 = 0x0203;
const LABEL: u16 = 0x0204;
const TRUTH_OR_ERROR: u16 = 0x0205;
const SHORT_NUMBER: u16 = 0x027E;
const BEGIN: u16 = 0x0809;
/// A type that no reader knows.
const HIDDEN: u16 = 0x0FFF;

/// Returns a workbook with the same sheets in a new container.
///
/// # Errors
/// [`WorkbookError`] if the container or a record is damaged, or the cells of a sheet or of all
/// sheets are too far apart.
pub(super) fn with_bounded_sheets(bytes: &[u8]) -> Result<Vec<u8>, WorkbookError> {
    let mut records = workbook_stream(bytes)?;
    for at in stated_sizes(&records)? {
        let hidden = records.get_mut(at..at + 2).ok_or(WorkbookError::Damaged)?;
        hidden.copy_from_slice(&HIDDEN.to_le_bytes());
    }
    // Sheets may overlap, so that a hidden record changed another.
    if !stated_sizes(&records)?.is_empty() {
        return Err(WorkbookError::Damaged);
    }
    check_spans(&records)?;
    contain(&records).map_err(|error| calamine::Error::Io(error).into())
}

/// Returns the stream of a container that holds all sheets.
fn workbook_stream(bytes: &[u8]) -> Result<Vec<u8>, WorkbookError> {
    let unreadable = |error| WorkbookError::from(calamine::Error::Io(error));
    let mut container = CompoundFile::open(Cursor::new(bytes)).map_err(unreadable)?;
    let name = STREAMS.into_iter().find(|name| container.is_stream(name));
    let name = name.ok_or(calamine::Error::Msg("Cannot find the stream of its sheets"))?;
    let mut records = Vec::new();
    let stream = container.open_stream(name).map_err(unreadable)?;
    // No stream is longer than its file.
    stream
        .take(bytes.len() as u64)
        .read_to_end(&mut records)
        .map_err(unreadable)?;
    Ok(records)
}

/// Returns a container with this stream alone.
fn contain(records: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut container = CompoundFile::create(Cursor::new(Vec::new()))?;
    container.create_stream(STREAMS[0])?.write_all(records)?;
    container.flush()?;
    Ok(container.into_inner().into_inner())
}

/// One record of a stream.
struct Record<'s> {
    /// The place of its first byte.
    at: usize,
    kind: u16,
    data: &'s [u8],
}

impl Record<'_> {
    /// Returns the number that two bytes of its data hold, or 0 where it ends before them. The
    /// reader refuses such a record.
    fn number(&self, at: usize) -> u16 {
        let bytes = self.data.get(at..).and_then(|rest| rest.first_chunk());
        bytes.copied().map_or(0, u16::from_le_bytes)
    }

    /// Returns the row, and the first and last column of the cells that it holds, if any.
    fn cells(&self) -> Option<(u16, u16, u16)> {
        let (row, first) = (self.number(0), self.number(2));
        match self.kind {
            NUMBER | LABEL | RICH_LABEL | TRUTH_OR_ERROR | SHORT_NUMBER | SHARED_LABEL
            | FORMULA => Some((row, first, first)),
            NUMBERS => Some((row, first, self.number(self.data.len().saturating_sub(2)))),
            _ => None,
        }
    }
}

/// Walks the records of a stream from a place on. The last is the end of the stream, a damaged
/// record, or the end of this part of it.
fn records(stream: &[u8], from: usize) -> impl Iterator<Item = Record<'_>> {
    let mut at = from;
    let mut depth = 0_usize;
    std::iter::from_fn(move || {
        let head = stream.get(at..)?.first_chunk::<4>()?;
        let kind = u16::from_le_bytes([head[0], head[1]]);
        let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let data = stream.get(at + 4..)?.get(..length)?;
        let record = Record { at, kind, data };
        at += 4 + length;
        match kind {
            BEGIN => depth += 1,
            END => depth = depth.saturating_sub(1),
            _ => {}
        }
        if kind == END && depth == 0 {
            at = stream.len();
        }
        Some(record)
    })
}

/// Returns the place of each sheet's first record. Two sheets may have the same.
fn sheets(stream: &[u8]) -> impl Iterator<Item = usize> {
    let globals = records(stream, 0).filter(|record| record.kind == SHEET);
    globals.map(|record| {
        let (low, high) = (record.number(0), record.number(2));
        usize::from(low) | usize::from(high) << 16
    })
}

/// Returns the places of the records that state the size of a sheet.
fn stated_sizes(stream: &[u8]) -> Result<Vec<usize>, WorkbookError> {
    let mut places = Vec::new();
    let mut looked_at = 0_usize;
    for sheet in sheets(stream) {
        for record in records(stream, sheet) {
            looked_at += 1;
            if record.kind == STATED_SIZE {
                places.push(record.at);
            }
        }
        // Many sheets that share their records would take long.
        if looked_at as u64 > LARGEST {
            return Err(WorkbookError::TooManyCells);
        }
    }
    Ok(places)
}

/// Checks that the rectangles of the sheets are bounded, each and in sum.
fn check_spans(stream: &[u8]) -> Result<(), WorkbookError> {
    let mut sum = 0_u64;
    for sheet in sheets(stream) {
        let mut span: Option<[u16; 4]> = None;
        for (row, first, last) in records(stream, sheet).filter_map(|record| record.cells()) {
            let [top, bottom, left, right] = span.unwrap_or([row, row, first, last]);
            let (left, right) = (left.min(first).min(last), right.max(first).max(last));
            span = Some([top.min(row), bottom.max(row), left, right]);
        }
        let Some([top, bottom, left, right]) = span else {
            continue;
        };
        let (rows, columns) = (u64::from(bottom - top) + 1, u64::from(right - left) + 1);
        if rows * columns > LARGEST {
            return Err(WorkbookError::TooLarge { rows, columns });
        }
        sum += rows * columns;
        if sum > LARGEST {
            return Err(WorkbookError::TooManyCells);
        }
    }
    Ok(())
}
