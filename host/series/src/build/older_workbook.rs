//! Workbooks of the older format, bounded before they are opened.
//!
//! Their reader makes the rectangle of every sheet while it opens the file. It makes room for the
//! sizes that records state, and copies strings and formulas. So it gets a new container, which has
//! the cells alone. The cells are counted while they are copied. No two sheets of the copy share
//! records. Two readers of a damaged container could find different streams, but the copy has one.

use std::io::{Cursor, Read as _, Write as _};

use calamine::XlsError;
use cfb::{CompoundFile, Version};

use super::shared_strings::lengths;
use super::workbook_error::WorkbookError;
use super::xls_records::{
    BOF, BOUND_SHEET_8, CODE_PAGE, CONTINUE, DATE_1904, EOF, FILE_PASS, FORMAT, Records, SST, XF,
    long_number, number, put,
};
use super::xls_sheets::Copier;

/// Names of the stream that holds all sheets: of Excel 97 and later, and of Excel 5.
const STREAMS: [&str; 2] = ["/Workbook", "/Book"];

/// Returns a workbook with the same sheets in a new container, or None where the bytes are no
/// workbook of this format.
///
/// # Errors
/// [`WorkbookError`] if a record is damaged, or the sheets hold too much.
pub(super) fn with_bounded_sheets(bytes: &[u8]) -> Result<Option<Vec<u8>>, WorkbookError> {
    let Some(stream) = workbook_stream(bytes) else {
        return Ok(None);
    };
    let copy = contain(&with_cells_alone(&stream)?);
    Ok(Some(copy.map_err(calamine::Error::Io)?))
}

/// Returns the stream of a container that holds all sheets.
fn workbook_stream(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut container = CompoundFile::open(Cursor::new(bytes)).ok()?;
    let name = STREAMS.into_iter().find(|name| container.is_stream(name))?;
    let mut records = Vec::new();
    let stream = container.open_stream(name).ok()?;
    // No stream is longer than its file.
    let mut stream = stream.take(bytes.len() as u64);
    stream.read_to_end(&mut records).ok()?;
    Some(records)
}

/// Returns a container with this stream alone. The reader takes one of version 4 without short
/// streams for an empty one.
fn contain(records: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut container = CompoundFile::create_with_version(Version::V3, Cursor::new(Vec::new()))?;
    container.create_stream(STREAMS[0])?.write_all(records)?;
    container.flush()?;
    Ok(container.into_inner().into_inner())
}

/// Returns a stream of the same sheets with the records that cells need.
fn with_cells_alone(stream: &[u8]) -> Result<Vec<u8>, WorkbookError> {
    let mut copy = Vec::new();
    let globals = copy_globals(stream, &mut copy)?;
    let mut copier = Copier::new(stream.len(), lengths(&globals.shared_strings)?);
    for sheet in globals.sheets {
        let offset = u32::try_from(copy.len()).map_err(|_| WorkbookError::Damaged)?;
        let field = copy.get_mut(sheet.field..sheet.field + 4);
        let field = field.ok_or(WorkbookError::Damaged)?;
        field.copy_from_slice(&offset.to_le_bytes());
        let records = stream.get(sheet.offset..).ok_or(WorkbookError::Damaged)?;
        copier.copy(records, &mut copy)?;
    }
    Ok(copy)
}

/// The records that all sheets use.
#[derive(Default)]
struct Globals<'s> {
    sheets: Vec<BoundSheet>,
    /// Data of the SST record and its Continue records.
    shared_strings: Vec<&'s [u8]>,
}

/// One sheet of a workbook.
struct BoundSheet {
    /// The offset of its first record in the stream.
    offset: usize,
    /// The offset of the field in the copy that states where its first record is.
    field: usize,
}

/// Copies the records that all sheets use, without names and formulas.
fn copy_globals<'s>(stream: &'s [u8], into: &mut Vec<u8>) -> Result<Globals<'s>, WorkbookError> {
    let mut globals = Globals::default();
    let mut shares = false;
    for record in Records::new(stream) {
        let record = record?;
        shares = record.kind == SST || (record.kind == CONTINUE && shares);
        match record.kind {
            FILE_PASS if number(record.data, 0) != 0 => {
                return Err(calamine::Error::Xls(XlsError::Password).into());
            }
            BOUND_SHEET_8 => globals.sheets.push(BoundSheet {
                offset: long_number(record.data, 0).ok_or(WorkbookError::Damaged)?,
                field: into.len() + 4,
            }),
            // A workbook has one table of strings.
            SST if !globals.shared_strings.is_empty() => return Err(WorkbookError::Damaged),
            SST | BOF | EOF | CODE_PAGE | DATE_1904 | FORMAT | XF => {}
            CONTINUE if shares => {}
            _ => continue,
        }
        put(into, record.kind, record.data)?;
        if shares {
            globals.shared_strings.push(record.data);
        }
        if record.kind == EOF {
            break;
        }
    }
    Ok(globals)
}
