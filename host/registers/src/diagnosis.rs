//! The reasons why a file is no table of comma-separated text, and the repair.

use encoding_rs::{UTF_16BE, UTF_16LE};
use std::fmt;

/// The form of a file, as its beginning shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// Text in UTF-16, as Excel's "Unicode text" is.
    Utf16(ByteOrder),
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
    /// A spreadsheet's workbook.
    Workbook,
    /// A compressed file that is no zip archive.
    Gzip,
    /// A web page, mostly an error in place of a download.
    WebPage,
}

/// The order of the two bytes of a UTF-16 unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// A byte order mark begins the file.
    Marked,
    /// The low byte comes first, without a mark.
    LittleEnd,
    /// The high byte comes first, without a mark.
    BigEnd,
}

impl ByteOrder {
    /// Returns the encoding's name for `iconv`. Without a mark, `UTF-16` is the machine's order.
    fn encoding(self) -> &'static str {
        match self {
            ByteOrder::Marked => "UTF-16",
            ByteOrder::LittleEnd => "UTF-16LE",
            ByteOrder::BigEnd => "UTF-16BE",
        }
    }
}

/// Bytes of a file's beginning that show its form.
pub(crate) const HEAD: usize = 64 * 1024;
/// Delimiters that are not commas.
const DELIMITERS: [char; 3] = [';', '\t', '|'];

impl Diagnosis {
    /// Diagnoses the beginning of a file, which should hold at least two lines.
    pub fn of(head: &[u8]) -> Option<Diagnosis> {
        let head = head.get(..HEAD).unwrap_or(head);
        if head.starts_with(&[0x1f, 0x8b]) {
            return Some(Diagnosis::Gzip);
        }
        if head.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) || is_workbook(head) {
            return Some(Diagnosis::Workbook);
        }
        if let Some(order) = byte_order(head) {
            return Some(Diagnosis::Utf16(order));
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
        if has_carriage_returns(text) {
            return Some(Diagnosis::CarriageReturns);
        }
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first_line = lines.next()?;
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

    /// Returns a file's beginning as the repair leaves it, where the repair needs no new download.
    pub fn repair(&self, head: &[u8]) -> Option<Vec<u8>> {
        let text = || String::from_utf8_lossy(head);
        let repaired = match self {
            Diagnosis::Utf16(order) => {
                // A byte order mark overrides this choice.
                let encoding = match order {
                    ByteOrder::BigEnd => UTF_16BE,
                    ByteOrder::LittleEnd | ByteOrder::Marked => UTF_16LE,
                };
                encoding.decode(head).0.into_owned()
            }
            Diagnosis::CarriageReturns => text().replace('\r', "\n"),
            Diagnosis::Delimiter(delimiter) => {
                let mut quoted = false;
                let comma = |c: char| {
                    quoted ^= c == '"';
                    if c == *delimiter && !quoted { ',' } else { c }
                };
                text().chars().map(comma).collect()
            }
            Diagnosis::JoinedHeader { last, occurrence } => {
                let text = text();
                let (at, _) = text.match_indices(last.as_str()).nth(occurrence - 1)?;
                let (names, rows) = text.split_at_checked(at + last.len())?;
                format!("{names}\n{rows}")
            }
            _ => return None,
        };
        Some(repaired.into_bytes())
    }
}

/// Reports whether a file is a zip archive that holds a workbook.
fn is_workbook(head: &[u8]) -> bool {
    let holds = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
    head.starts_with(b"PK\x03\x04") && (holds(b"xl/") || holds(b"[Content_Types].xml"))
}

/// Returns the byte order of text in UTF-16: it has a mark, or zeros as every other byte.
fn byte_order(head: &[u8]) -> Option<ByteOrder> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Some(ByteOrder::Marked);
    }
    let begin = head.get(..64).unwrap_or(head);
    let has_zeros = |from: usize| {
        let zeros = begin.iter().skip(from).step_by(2).filter(|b| **b == 0);
        begin.len() >= 16 && zeros.count() * 4 > begin.len()
    };
    match (has_zeros(0), has_zeros(1)) {
        (true, _) => Some(ByteOrder::BigEnd),
        (false, true) => Some(ByteOrder::LittleEnd),
        (false, false) => None,
    }
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

/// Returns a text as a pattern of sed that matches it alone.
fn sed_pattern(text: &str) -> String {
    let special = |c: char| r"/\.*[]^$".contains(c);
    let escaped = text.chars().map(|c| match special(c) {
        true => format!("\\{c}"),
        false => c.to_string(),
    });
    escaped.collect()
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Diagnosis::Utf16(order) => write!(
                f,
                "the text is UTF-16, not UTF-8. Convert it: iconv -f {} -t UTF-8 IN > OUT",
                order.encoding()
            ),
            Diagnosis::CarriageReturns => f.write_str(
                "lines end in a carriage return alone, not a line feed. Convert them: \
                 tr '\\r' '\\n' < IN > OUT",
            ),
            Diagnosis::Delimiter(delimiter) => {
                let (name, code) = match delimiter {
                    ';' => ("semicolons", ";"),
                    '\t' => ("tabs", "\\t"),
                    _ => ("vertical bars", "|"),
                };
                write!(
                    f,
                    "cells are separated by {name}, not commas. Convert it: python3 -c \"import csv, sys; \
                     csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter='{code}'))\" < IN > OUT"
                )
            }
            Diagnosis::JoinedHeader { last, occurrence } => {
                let pattern = sed_pattern(last);
                let which = match occurrence {
                    1 => String::new(),
                    later => later.to_string(),
                };
                write!(
                    f,
                    "the column names and the first row share line 1. Put a line end after the \
                     last name: sed '1s/{pattern}/&\\n/{which}' IN > OUT"
                )
            }
            Diagnosis::JoinedRows => f.write_str(
                "line 1 holds two rows. Put a line end after the last cell of the first",
            ),
            Diagnosis::NoHeader => f.write_str(
                "line 1 is a row, and the table begins with column names. Put the publisher's line \
                 of column names before it",
            ),
            Diagnosis::Workbook => f.write_str(
                "the file is a workbook, not comma-separated text. Save its sheet as CSV UTF-8",
            ),
            Diagnosis::Gzip => {
                f.write_str("the file is compressed by gzip. Unpack it: gunzip -c IN > OUT")
            }
            Diagnosis::WebPage => f.write_str(
                "the file is a web page, not a table. Download it again and look at the page's \
                 message",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = "unique_id,price_paid,linked_data_uri";

    #[test]
    fn the_bytes_of_a_broken_archive_have_no_line_ends() {
        let found = Diagnosis::of(b"\x00\x12a\rb\r\x00c\rd\r");
        assert_ne!(found, Some(Diagnosis::CarriageReturns));
    }

    #[test]
    fn a_joined_header_is_found_however_the_first_value_is_written() {
        for value in [
            "\"8A78\",\"170000\",\"http://a/1\"",
            "{8A78},170000,A",
            "8A78,170000,A",
        ] {
            let text = format!("{NAMES}{value}\n{value}\n");
            let found = Diagnosis::of(text.as_bytes());
            let expected = Diagnosis::JoinedHeader {
                last: "linked_data_uri".to_owned(),
                occurrence: 1,
            };
            assert_eq!(found, Some(expected), "{text}");
        }
    }

    #[test]
    fn the_last_name_ends_where_the_value_of_the_first_column_begins() {
        for (names, first, next, last, occurrence) in [
            (
                "Date Changed,Rate",
                "18-Dec-25,3.75",
                "7-Aug-25,4",
                "Rate",
                1,
            ),
            (
                "DATE,IUMBV34",
                "31 Jan 2025,4.63",
                "28 Feb 2025,4.65",
                "IUMBV34",
                1,
            ),
            (
                "LAD23CD,LAD23NM",
                "E06000001,Hull",
                "E06000002,York",
                "LAD23NM",
                1,
            ),
            (
                "Date,SalesVolume,FlatSalesVolume",
                "1995-01-01,2,3",
                "1995-02-01,2,3",
                "FlatSalesVolume",
                1,
            ),
            // The name stands within an earlier one.
            (
                "Date,OldPrice,Price",
                "1995-01-01,2,3",
                "1995-02-01,2,3",
                "Price",
                2,
            ),
            ("Date,SONIA", ",", ",", "SONIA", 1),
            (
                "\"Date\",\"Rate\"",
                "\"18-Dec-25\",\"3.75\"",
                "\"7-Aug-25\",\"4\"",
                "\"Rate\"",
                1,
            ),
        ] {
            let found = Diagnosis::of(format!("{names}{first}\n{next}\n{first}\n").as_bytes());
            let expected = Diagnosis::JoinedHeader {
                last: last.to_owned(),
                occurrence,
            };
            assert_eq!(found, Some(expected.clone()), "{names}");
            let repaired = expected.repair(format!("{names}{first}\n{next}\n{first}\n").as_bytes());
            let whole = format!("{names}\n{first}\n{next}\n{first}\n").into_bytes();
            assert_eq!(repaired, Some(whole), "{names}");
        }
    }

    #[test]
    fn the_repair_of_a_joined_header_is_a_command_for_this_line() {
        let joined = |last: &str, occurrence| {
            let last = last.to_owned();
            Diagnosis::JoinedHeader { last, occurrence }.to_string()
        };
        assert!(joined("Price", 2).ends_with(r"sed '1s/Price/&\n/2' IN > OUT"));
        assert!(joined("a/b.c", 1).ends_with(r"sed '1s/a\/b\.c/&\n/' IN > OUT"));
    }

    #[test]
    fn encodings_and_delimiters_are_named() {
        let utf16: Vec<u8> = NAMES.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let little = Diagnosis::Utf16(ByteOrder::LittleEnd);
        assert_eq!(Diagnosis::of(&utf16), Some(little));
        let utf16: Vec<u8> = NAMES.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let big = Diagnosis::Utf16(ByteOrder::BigEnd);
        assert_eq!(Diagnosis::of(&utf16), Some(big));
        for delimiter in DELIMITERS {
            let text = NAMES.replace(',', &delimiter.to_string());
            let found = Diagnosis::of(text.as_bytes());
            assert_eq!(found, Some(Diagnosis::Delimiter(delimiter)));
        }
        assert_eq!(
            Diagnosis::of(b"<!DOCTYPE html>\n<p>"),
            Some(Diagnosis::WebPage)
        );
        assert_eq!(Diagnosis::of(b"\x1f\x8b\x08"), Some(Diagnosis::Gzip));
        assert_eq!(Diagnosis::of(b"a,1\nb,2\n"), Some(Diagnosis::NoHeader));
    }

    #[test]
    fn a_sound_beginning_shows_nothing() {
        assert_eq!(
            Diagnosis::of(format!("{NAMES}\nA,1,http://a;b\n").as_bytes()),
            None
        );
        assert_eq!(Diagnosis::of(b""), None);
    }
}
