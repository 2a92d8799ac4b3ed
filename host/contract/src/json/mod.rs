//! A strict reader of JSON that can say everything which is wrong with a document.
//!
//! A derived `Deserialize` stops at the first error and cannot point at the others. It silently
//! takes the last of two equal members. It refuses `1e400` as broken JSON, where the contract wants
//! an error at its field. So this reader has two steps. [`read`] checks the whole grammar and keeps
//! a small borrowed tree. A [`Section`] walks one object of the tree and finds unknown members.
//!
//! The tree is small whatever the client sends. Apart from the rows of a batch, no field of the
//! contract is an array. No field lies deeper than a section of the top-level object. The parser
//! checks the grammar of anything else and drops it. An object keeps its first [`MEMBERS_MAX`]
//! members, which is enough to report more errors than are ever listed.

mod limits;
mod parser;
mod plain_text;
mod position;
mod section;
#[cfg(test)]
mod tests;
mod tree;
pub mod values;

pub use limits::{DEPTH_MAX, MEMBERS_MAX};
pub use position::{SyntaxError, SyntaxErrorKind};
pub use section::{Section, Shape};
pub use tree::{Member, Object, Rows, Value};

use parser::Parser;

/// Reads one JSON document.
///
/// # Errors
/// Text that is not UTF-8, not JSON, followed by more text, or nested deeper than
/// [`DEPTH_MAX`], with its line and column.
pub fn read(body: &[u8]) -> Result<Value<'_>, SyntaxError> {
    Parser::new(position::utf8(body)?, None).document()
}

/// Reads one JSON document, as [`read`] does, from text.
///
/// # Errors
/// As [`read`].
pub fn read_text(text: &str) -> Result<Value<'_>, SyntaxError> {
    position::check_start(text.as_bytes())?;
    Parser::new(text, None).document()
}

/// Reads one JSON document. Where the top-level member `list` is an array, the text of each element
/// is kept ([`Value::Rows`]). All elements are checked for grammar and counted; the first
/// `rows_max` are stored.
///
/// # Errors
/// As [`read`].
pub fn read_with_rows<'a>(
    body: &'a [u8],
    list: &'static str,
    rows_max: usize,
) -> Result<Value<'a>, SyntaxError> {
    Parser::new(position::utf8(body)?, Some((list, rows_max))).document()
}
