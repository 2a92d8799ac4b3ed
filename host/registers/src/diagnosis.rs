//! The reasons why a file is no table of comma-separated text. `repairs` has the repair of each.

use crate::signature::{is_xls, is_zip};
pub use crate::text_encoding::ByteOrder;
use crate::text_encoding::{is_binary, utf16_order, utf32_order};

/// The form of a file, as its beginning shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// Text in UTF-16, as Excel's "Unicode text" is.
    Utf16(ByteOrder),
    /// Text in UTF-32.
    Utf32(ByteOrder),
    /// Bytes that are no text.
    Binary,
    /// Lines end in a carriage return alone.
    CarriageReturns,
    /// Cells are separated by another character.
    Delimiter(char),
    /// The first row follows the column names on their own line.
    JoinedHeader {
        /// The last column's name, as the line writes it.
        last: String,
        /// The occurrence on the line that is the name, counted from 1.
        occurrence: usize,
    },
    /// Two rows stand on the first line.
    JoinedRows,
    /// The first line is a row, but the table begins with column names.
    NoHeader,
    /// The first line is `sep=` with a delimiter, for a spreadsheet.
    SeparatorLine,
    /// Lines such as a title stand before the column names.
    LinesBefore(usize),
    /// A spreadsheet's workbook.
    Workbook,
    /// A zip archive that is no workbook.
    Archive,
    /// A compressed file that is no zip archive.
    Gzip,
    /// A web page, mostly an error in place of a download.
    WebPage,
    /// A document of this format.
    Document(&'static str),
}

/// Bytes of a file's beginning that show its form.
pub(crate) const HEAD: usize = 64 * 1024;
/// Longest line of `sep=`: the delimiter and quotation marks around it.
const SEPARATOR_LINE: usize = 8;
/// Delimiters that are not commas.
const DELIMITERS: [char; 3] = [';', '\t', '|'];

impl Diagnosis {
    /// Diagnoses the beginning of a file, which should hold at least two lines.
    pub fn of(head: &[u8]) -> Option<Diagnosis> {
        let head = head.get(..HEAD).unwrap_or(head);
        if head.starts_with(&[0x1f, 0x8b]) {
            return Some(Diagnosis::Gzip);
        }
        if is_xls(head) || is_workbook(head) {
            return Some(Diagnosis::Workbook);
        }
        if is_zip(head) {
            return Some(Diagnosis::Archive);
        }
        if head.starts_with(b"%PDF") {
            return Some(Diagnosis::Document("a PDF document"));
        }
        // The low mark of UTF-32 begins with that of UTF-16.
        if let Some(order) = utf32_order(head) {
            return Some(Diagnosis::Utf32(order));
        }
        if let Some(order) = utf16_order(head) {
            return Some(Diagnosis::Utf16(order));
        }
        if is_binary(head) {
            return Some(Diagnosis::Binary);
        }
        // Bytes of a broken archive are no text.
        if head.contains(&0) {
            return None;
        }
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let begin = text.get(..16).unwrap_or(text).to_ascii_lowercase();
        if begin.starts_with("<!doctype") || begin.starts_with("<html") {
            return Some(Diagnosis::WebPage);
        }
        if begin.starts_with("<?xml") {
            return Some(Diagnosis::Document("XML"));
        }
        if is_json(text) {
            return Some(Diagnosis::Document("JSON"));
        }
        if has_carriage_returns(text) {
            return Some(Diagnosis::CarriageReturns);
        }
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first_line = lines.next()?;
        if begin.trim_start_matches('"').starts_with("sep=") && first_line.len() <= SEPARATOR_LINE {
            return Some(Diagnosis::SeparatorLine);
        }
        let first = cells(first_line, ',');
        let delimiter = DELIMITERS
            .into_iter()
            .find(|delimiter| cells(first_line, *delimiter).len() > first.len());
        if let Some(delimiter) = delimiter {
            return Some(Diagnosis::Delimiter(delimiter));
        }
        let following: Vec<Vec<&str>> = lines.take(20).map(|line| cells(line, ',')).collect();
        let value = |cell: &&str| !cell.is_empty() && cell.parse::<f64>().is_ok();
        if let Some(last) = last_joined_name(&first, &following) {
            let columns = first.len().div_ceil(2);
            let names = first.get(..columns - 1).unwrap_or_default();
            let mut cells = first.iter().take(columns);
            return Some(match cells.any(|cell| value(&cell.trim_matches('"'))) {
                true => Diagnosis::JoinedRows,
                false => Diagnosis::JoinedHeader {
                    last: last.to_owned(),
                    occurrence: 1 + names
                        .iter()
                        .map(|name| name.matches(last).count())
                        .sum::<usize>(),
                },
            });
        }
        first
            .iter()
            .any(|cell| value(&cell.trim_matches('"')))
            .then_some(Diagnosis::NoHeader)
    }

    /// Returns whether no row of the file can be read before its repair.
    pub fn hides_rows(&self) -> bool {
        match self {
            Diagnosis::Utf16(_)
            | Diagnosis::Utf32(_)
            | Diagnosis::Binary
            | Diagnosis::Delimiter(_)
            | Diagnosis::SeparatorLine
            | Diagnosis::Workbook
            | Diagnosis::Archive
            | Diagnosis::Gzip
            | Diagnosis::WebPage
            | Diagnosis::Document(_) => true,
            Diagnosis::CarriageReturns
            | Diagnosis::LinesBefore(_)
            | Diagnosis::JoinedHeader { .. }
            | Diagnosis::JoinedRows
            | Diagnosis::NoHeader => false,
        }
    }
}

/// The beginnings of the names of a workbook's members.
const WORKBOOK_MEMBERS: [&[u8]; 4] = [b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/"];

/// Reports whether a file is a zip archive whose first member is one of a workbook.
fn is_workbook(head: &[u8]) -> bool {
    // The name follows 30 bytes of the member's own header.
    let name = head.get(30..).unwrap_or_default();
    is_zip(head) && WORKBOOK_MEMBERS.iter().any(|it| name.starts_with(it))
}

/// Reports whether a text begins as JSON does. A row may begin with a brace, too.
fn is_json(text: &str) -> bool {
    let after = |bracket| text.strip_prefix(bracket).map(str::trim_start);
    after('{').is_some_and(|rest| rest.starts_with(['"', '}']))
        || after('[').is_some_and(|rest| rest.starts_with(['{', '[', '"', ']']))
}

/// Reports whether a carriage return ends a row within the first line, outside quotation marks.
fn has_carriage_returns(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut quoted = false;
    line.chars().any(|c| {
        quoted ^= c == '"';
        c == '\r' && !quoted
    })
}

/// Splits a line where a delimiter stands outside quotation marks.
fn cells(line: &str, delimiter: char) -> Vec<&str> {
    let mut quoted = false;
    line.split(|c: char| {
        quoted ^= c == '"';
        c == delimiter && !quoted
    })
    .map(str::trim)
    .collect()
}

/// Returns the last column's name if the line holds the names and the first row. A row of as many
/// cells as the line after it, and as many names, share one cell.
fn last_joined_name<'t>(first: &[&'t str], following: &[Vec<&str>]) -> Option<&'t str> {
    let columns = following.first()?.len();
    if columns < 2 || first.len() != 2 * columns - 1 {
        return None;
    }
    let shared = *first.get(columns - 1)?;
    let values: Vec<&str> = following
        .iter()
        .filter_map(|row| row.first().copied())
        .collect();
    let value = value_begin(shared, &values).unwrap_or_else(|| name_end(shared));
    shared.get(..value).filter(|name| !name.is_empty())
}

/// Returns where a value begins behind a name: its form is that of the same column's next values.
fn value_begin(shared: &str, values: &[&str]) -> Option<usize> {
    let next = *values.first()?;
    let length_of = |value: &str| value.chars().count();
    let one_length = values
        .iter()
        .all(|value| length_of(value) == length_of(next));
    let length = length_of(shared).saturating_sub(length_of(next));
    let same_length = shared.char_indices().map(|(at, _)| at).nth(length);
    let same_length = same_length.unwrap_or(shared.len());
    let tail = shared.get(same_length..)?;
    let alike = |form: fn(char) -> char| tail.chars().map(form).eq(next.chars().map(form));
    if one_length
        && same_length > 0
        && (alike(kind) || alike(|c| if c.is_alphanumeric() { 'x' } else { c }))
    {
        return Some(same_length);
    }
    // Days and numbers may have more or fewer digits: a name's own last digits are then unknown.
    let runs = |text: &str| {
        let mut runs: Vec<char> = text.chars().map(kind).collect();
        runs.dedup_by(|a, b| a == b && a.is_alphanumeric());
        runs
    };
    let next = runs(next);
    let mut begins = shared.char_indices().map(|(at, _)| at).skip(1);
    begins.find(|at| shared.get(*at..).is_some_and(|tail| runs(tail) == next))
}

/// Returns a character that stands for all of its kind.
fn kind(c: char) -> char {
    match c {
        c if c.is_ascii_digit() => '9',
        c if c.is_uppercase() => 'A',
        c if c.is_alphabetic() => 'a',
        c => c,
    }
}

/// Returns where a name ends before a value that begins with a mark or in other letters.
fn name_end(shared: &str) -> usize {
    let quotes = shared.len() - shared.trim_start_matches('"').len();
    let name = shared.get(quotes..).unwrap_or_default();
    let lower = name.starts_with(|c: char| c.is_ascii_lowercase());
    let other = |c: char| match lower {
        true => c.is_ascii_uppercase() || c.is_ascii_digit(),
        false => c.is_ascii_lowercase() || c.is_ascii_digit(),
    };
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ' ') || other(c));
    let end = end.unwrap_or(name.len());
    // A quoted name ends behind its second quotation mark.
    let closed = quotes > 0 && name.get(end..).is_some_and(|rest| rest.starts_with('"'));
    quotes + end + usize::from(closed)
}

#[cfg(test)]
#[path = "diagnosis_tests.rs"]
mod tests;
