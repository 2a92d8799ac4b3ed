//! The position of a syntax error, as an editor shows it.

use super::limits::DEPTH_MAX;
use thiserror::Error;

/// The kind of a syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SyntaxErrorKind {
    /// A byte sequence that is not UTF-8.
    #[error("the bytes are not valid UTF-8")]
    Utf8,
    /// A byte order mark before the document.
    #[error("a byte order mark (EF BB BF) stands before the document; send the JSON without it")]
    ByteOrderMark,
    /// The text ends inside a value, or before one.
    #[error("the text ends before the value is complete")]
    End,
    /// Text after the one value.
    #[error("there is more text after the value")]
    Trailing,
    /// Something stands where a value should.
    #[error("a value is expected")]
    Value,
    /// A member's name is not a string in double quotes.
    #[error("a member name in double quotes is expected")]
    Name,
    /// No colon after a member's name.
    #[error("a colon is expected")]
    Colon,
    /// Neither a comma nor the closing bracket.
    #[error("a comma or a closing bracket is expected")]
    Comma,
    /// A number such as `01`, `1.` or `+1`.
    #[error("the number is malformed")]
    Number,
    /// A bare control character within a string.
    #[error("a control character in a string must be escaped")]
    Control,
    /// An escape that does not exist, or half of a surrogate pair.
    #[error("the string holds an invalid escape")]
    Escape,
    /// Objects and arrays nested too deeply.
    #[error("objects and arrays are nested deeper than {} levels", DEPTH_MAX)]
    Depth,
}

/// A syntax error and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{kind} at line {line}, column {column}")]
pub struct SyntaxError {
    /// The kind of error.
    pub kind: SyntaxErrorKind,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

impl SyntaxError {
    /// Returns the error at the position after `before`, the valid part of the text.
    pub(super) fn after(before: &str, kind: SyntaxErrorKind) -> Self {
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            kind,
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before.chars().count() - before[..line_start].chars().count() + 1,
        }
    }
}

/// U+FEFF in UTF-8, which some editors write before a text. RFC 8259 forbids it in JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the body as text.
pub(super) fn utf8(body: &[u8]) -> Result<&str, SyntaxError> {
    check_start(body)?;
    std::str::from_utf8(body).map_err(|error| {
        let sound = body.get(..error.valid_up_to()).unwrap_or_default();
        SyntaxError::after(&String::from_utf8_lossy(sound), SyntaxErrorKind::Utf8)
    })
}

/// Checks that no byte order mark stands before the document.
pub(super) fn check_start(body: &[u8]) -> Result<(), SyntaxError> {
    match body.starts_with(BYTE_ORDER_MARK) {
        true => Err(SyntaxError::after("", SyntaxErrorKind::ByteOrderMark)),
        false => Ok(()),
    }
}
