//! The repair of each form of a file: its sentence, and its effect on the file's beginning.

use crate::diagnosis::Diagnosis;
use crate::text_encoding::{decode_utf16, decode_utf32};
use std::fmt;

impl Diagnosis {
    /// Returns a file's beginning as the repair leaves it, where the repair needs no new download.
    pub fn apply_repair(&self, head: &[u8]) -> Option<Vec<u8>> {
        let text = || String::from_utf8_lossy(head);
        let repaired = match self {
            Diagnosis::Utf16(order) => decode_utf16(head, *order),
            Diagnosis::Utf32(order) => decode_utf32(head, *order),
            Diagnosis::CarriageReturns => text().replace('\r', "\n"),
            Diagnosis::Delimiter(delimiter) => {
                let mut quoted = false;
                let comma = |c: char| {
                    quoted ^= c == '"';
                    if c == *delimiter && !quoted { ',' } else { c }
                };
                text().chars().map(comma).collect()
            }
            Diagnosis::SeparatorLine => without_lines(&text(), 1),
            Diagnosis::LinesBefore(lines) => without_lines(&text(), *lines),
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

    /// Returns the sentence of the form with the repair of a file within an archive.
    pub fn in_archive(&self) -> String {
        match self {
            Diagnosis::Binary | Diagnosis::WebPage | Diagnosis::Document(_) => self.to_string(),
            _ => format!(
                "{}. Unpack the archive, then {}",
                self.problem(),
                self.repair()
            ),
        }
    }

    fn problem(&self) -> String {
        let problem = match self {
            Diagnosis::Utf16(_) => "the text is UTF-16, not UTF-8",
            Diagnosis::Utf32(_) => "the text is UTF-32, not UTF-8",
            Diagnosis::Binary => "the file is no text",
            Diagnosis::CarriageReturns => "lines end in a carriage return alone, not a line feed",
            Diagnosis::Delimiter(delimiter) => {
                let name = match delimiter {
                    ';' => "semicolons",
                    '\t' => "tabs",
                    _ => "vertical bars",
                };
                return format!("cells are separated by {name}, not commas");
            }
            Diagnosis::JoinedHeader { .. } => "the column names and the first row share line 1",
            Diagnosis::JoinedRows => "line 1 holds two rows",
            Diagnosis::NoHeader => "line 1 is a row, and the table begins with column names",
            Diagnosis::SeparatorLine => "line 1 is a spreadsheet's sep= and no column names",
            Diagnosis::LinesBefore(1) => "line 1 stands before the column names",
            Diagnosis::LinesBefore(lines) => {
                return format!("lines 1 to {lines} stand before the column names");
            }
            Diagnosis::Workbook => "the file is a workbook, not comma-separated text",
            Diagnosis::Archive => "the file is a zip archive",
            Diagnosis::Gzip => "the file is compressed by gzip",
            Diagnosis::WebPage => "the file is a web page, not a table",
            Diagnosis::Document(format) => return format!("the file is {format}, not a table"),
        };
        problem.to_owned()
    }

    fn repair(&self) -> String {
        let repair = match self {
            Diagnosis::Utf16(order) => {
                let ending = order.ending();
                return format!("convert it: iconv -f UTF-16{ending} -t UTF-8 IN > OUT");
            }
            Diagnosis::Utf32(order) => {
                let ending = order.ending();
                return format!("convert it: iconv -f UTF-32{ending} -t UTF-8 IN > OUT");
            }
            Diagnosis::Binary => "download it again, or give the publisher's file unchanged",
            Diagnosis::CarriageReturns => "convert them: tr '\\r' '\\n' < IN > OUT",
            Diagnosis::Delimiter(delimiter) => {
                let code = match delimiter {
                    '\t' => "\\t".to_owned(),
                    other => other.to_string(),
                };
                return format!(
                    "convert it: python3 -c \"import csv, sys; \
                     csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter='{code}'))\" < IN > OUT"
                );
            }
            // No command holds a character that a terminal or a shell may act on.
            Diagnosis::JoinedHeader { last, .. } if last.contains(char::is_control) => {
                "put a line end after the last name"
            }
            Diagnosis::JoinedHeader { last, occurrence } => {
                let pattern = sed_pattern(last);
                let which = match occurrence {
                    1 => String::new(),
                    later => later.to_string(),
                };
                return format!(
                    "put a line end after the last name: sed '1s/{pattern}/&\\n/{which}' IN > OUT"
                );
            }
            Diagnosis::JoinedRows => "put a line end after the last cell of the first",
            Diagnosis::NoHeader => "put the publisher's line of column names before it",
            Diagnosis::SeparatorLine | Diagnosis::LinesBefore(1) => "delete it: sed 1d IN > OUT",
            Diagnosis::LinesBefore(lines) => {
                return format!("delete them: sed 1,{lines}d IN > OUT");
            }
            Diagnosis::Workbook => "save its sheet as CSV UTF-8",
            Diagnosis::Archive => "unpack it: unzip IN",
            Diagnosis::Gzip => "unpack it: gunzip -c IN > OUT",
            Diagnosis::WebPage => "download it again and look at the page's message",
            Diagnosis::Document(_) => "download the publisher's CSV file",
        };
        repair.to_owned()
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repair = self.repair();
        let mut rest = repair.chars();
        let first = rest.next().map(|c| c.to_ascii_uppercase());
        write!(f, "{}. ", self.problem())?;
        first.map_or(Ok(()), |first| write!(f, "{first}"))?;
        f.write_str(rest.as_str())
    }
}

/// Returns a text without its first lines.
fn without_lines(text: &str, lines: usize) -> String {
    text.split_inclusive('\n').skip(lines).collect()
}

/// Returns a text as a pattern of sed that matches it alone, within a shell's single quotes.
fn sed_pattern(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        // A shell knows no escape within single quotes. They end before the mark and begin again.
        '\'' => r"'\''".to_owned(),
        c if r"/\.*[]^$".contains(c) => format!("\\{c}"),
        c => c.to_string(),
    });
    escaped.collect()
}
