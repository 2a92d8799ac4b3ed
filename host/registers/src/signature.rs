//! The first bytes of files that are no text.

/// The beginning of a zip archive, and of one without members.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// The beginning of an `.xls` workbook.
const XLS: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0];

/// Reports whether a file that begins so is a zip archive.
pub fn is_zip(beginning: &[u8]) -> bool {
    ZIP.iter().any(|magic| beginning.starts_with(magic))
}

/// Reports whether a file that begins so is an `.xls` workbook.
pub(crate) fn is_xls(beginning: &[u8]) -> bool {
    beginning.starts_with(XLS)
}
