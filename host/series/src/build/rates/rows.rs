//! Rows of a CSV file, each with the line that it begins on.

use super::published::{Warning, WarningKind};
use super::source::File;
use super::{RatesError, RatesErrorKind, SourceLocation, dates};
use domesday_registers::Diagnosis;

/// One row of a table.
pub(super) struct Row {
    /// The line on which it begins, counted from 1.
    pub(super) line: u64,
    /// Its cells, without the white space around them.
    pub(super) cells: csv::StringRecord,
}

impl Row {
    /// Returns whether every cell is blank.
    pub(super) fn is_blank(&self) -> bool {
        self.cells.iter().all(str::is_empty)
    }

    /// Returns how many cells there are up to the last one that is filled.
    pub(super) fn filled_cells(&self) -> usize {
        let cells = (1..).zip(self.cells.iter());
        let filled = cells.filter(|(_, cell)| !cell.is_empty());
        filled.last().map_or(0, |(number, _)| number)
    }

    /// Returns the row as a location, or one of its columns.
    pub(super) fn location(&self, file: &File, column: Option<&str>) -> SourceLocation {
        let line = self.line;
        SourceLocation {
            cell: Some(match column {
                Some(column) => format!("line {line}, column {column}"),
                None => format!("line {line}"),
            }),
            ..file.location()
        }
    }

    /// Refuses a filled cell beyond the columns of the header.
    ///
    /// # Errors
    /// [`RatesErrorKind::Cells`], as where a decimal comma makes two cells of one value.
    pub(super) fn check_width(&self, file: &File, columns: usize) -> Result<(), RatesError> {
        let cells = self.filled_cells();
        match cells > columns {
            true => Err(RatesErrorKind::Cells { cells, columns }.at(self.location(file, None))),
            false => Ok(()),
        }
    }
}

/// Reads every row. Lines that are empty have none.
///
/// # Errors
/// [`RatesErrorKind::Form`] if the file's encoding or delimiter hides its rows, and
/// [`RatesErrorKind::Csv`].
pub(super) fn read(file: &File) -> Result<Vec<Row>, RatesError> {
    if let Some(form) = Diagnosis::of(&file.bytes).filter(Diagnosis::hides_rows) {
        return Err(RatesErrorKind::Form(form).at(file.location()));
    }
    // A character of another encoding is of no value, or makes it unreadable in its own cell.
    let text = String::from_utf8_lossy(&file.bytes);
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    let (mut line, mut counted) = (1, text);
    for record in reader.records() {
        let cells = record.map_err(|error| RatesErrorKind::from(error).at(file.location()))?;
        // The reader's own line is that before, where lines end in two characters.
        let begin = cells.position().map_or(0, |at| at.byte());
        let begin = usize::try_from(begin).ok().and_then(|at| text.get(at..));
        let begin = begin.unwrap_or_default().trim_start_matches(['\r', '\n']);
        let before = counted.len().saturating_sub(begin.len());
        line += line_ends(counted.get(..before).unwrap_or_default());
        counted = begin;
        rows.push(Row { line, cells });
    }
    Ok(rows)
}

fn line_ends(text: &str) -> u64 {
    let pairs = text.matches("\r\n").count();
    let ends = text.matches(['\r', '\n']).count();
    (ends - pairs) as u64
}

/// Refuses a last row whose line has no end, unless it is the header's.
///
/// The Bank's own files end with a line end. Without one a download broke off, perhaps within the
/// last cell.
///
/// # Errors
/// [`RatesErrorKind::CutShort`] if cells are missing, and else [`RatesErrorKind::NoLineEnd`].
pub(super) fn check_end(file: &File, rows: &[Row], header: &Row) -> Result<(), RatesError> {
    let ends_with = |end: &[u8]| file.bytes.ends_with(end);
    // A quotation mark closes the last cell, so that it is whole.
    let quoted = ends_with(b"\"") && !ends_with(b",\"");
    let ended = ends_with(b"\n") || ends_with(b"\r") || quoted;
    let last = rows.last().filter(|last| last.line > header.line);
    let Some(last) = last.filter(|last| !ended && !last.is_blank()) else {
        return Ok(());
    };
    let kind = match last.cells.len() < header.cells.len() {
        true => RatesErrorKind::CutShort,
        false => RatesErrorKind::NoLineEnd,
    };
    Err(kind.at(last.location(file, None)))
}

/// Returns a remark on the order of day and month if every day of the rows is one in both orders.
pub(super) fn undecided_days<'r>(
    file: &File,
    rows: impl IntoIterator<Item = &'r Row>,
) -> Option<Warning> {
    let cells = rows.into_iter().filter_map(|row| row.cells.get(0));
    let (cell, day) = dates::find_undecided(cells)?;
    Some(Warning {
        kind: WarningKind::Assumed,
        location: file.location(),
        reason: format!(
            "days are read with the day first, so that {cell} is {}. No row decides it. Write days \
             as {day} if the month comes first",
            day.format("%-d %B %Y")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u64, usize)> {
        let file = File {
            name: "bank.csv".to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        let rows = read(&file).unwrap();
        rows.iter()
            .map(|row| (row.line, row.filled_cells()))
            .collect()
    }

    #[test]
    fn another_encoding_or_delimiter_is_named_before_a_row_is_read() {
        let text = "DATE,IUDBEDR\n01 Sep 2026,3.75\n02 Sep 2026,3.75\n";
        let utf16 = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect();
        let utf32 = text.chars().flat_map(|c| u32::from(c).to_le_bytes());
        for (bytes, form) in [
            (utf16(u16::to_le_bytes), "iconv -f UTF-16LE"),
            (utf16(u16::to_be_bytes), "iconv -f UTF-16BE"),
            (utf32.collect(), "iconv -f UTF-32LE"),
            (text.replace(',', ";").into_bytes(), "delimiter=';'"),
        ] {
            let name = "bank.csv".to_owned();
            let refused = read(&File { name, bytes }).err().unwrap().to_string();
            assert!(refused.contains(form), "{refused}");
        }
    }

    #[test]
    fn an_undecided_order_of_day_and_month_is_remarked_with_the_repair() {
        let remark = |text: &str| {
            let bytes = text.as_bytes().to_vec();
            let name = "bank.csv".to_owned();
            let file = File { name, bytes };
            let rows = read(&file).unwrap();
            undecided_days(&file, &rows).map(|warning| warning.to_string())
        };
        assert_eq!(
            remark("DATE,IUDBEDR\n03/07/2026,3.75\n03/08/2026,3.75\n").as_deref(),
            Some(
                "assumed: bank.csv: days are read with the day first, so that 03/07/2026 is 3 July \
                 2026. No row decides it. Write days as 2026-07-03 if the month comes first"
            )
        );
        assert_eq!(
            remark("DATE,IUDBEDR\n03/07/2026,3.75\n31/07/2026,3.75\n"),
            None
        );
    }

    #[test]
    fn a_row_has_the_line_that_it_begins_on_however_lines_end() {
        let expected = [(1, 2), (2, 2), (4, 1), (6, 2)];
        for end in ["\n", "\r\n", "\r"] {
            let rows = ["a,b", "c,\"d", "e\"", "f,", "", "g,h"];
            assert_eq!(lines(&rows.join(end)), expected, "{end:?}");
            let marked = format!("\u{feff}{}{end}", rows.join(end));
            assert_eq!(lines(&marked), expected, "{end:?}");
        }
    }
}
