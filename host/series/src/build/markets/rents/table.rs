//! One sheet of a workbook, or one CSV file, as cells that can be named.

use super::super::MarketsError;
use crate::build::sheets::{DateSystem, Workbook, rectangle};
use calamine::{Cell, Data, Range};
use domesday_registers::zip_source;
use domesday_registers::{Day, Diagnosis};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A rectangle of cells.
pub(super) struct Table {
    pub(super) path: PathBuf,
    pub(super) sheet: String,
    cells: Range<Data>,
    date_system: DateSystem,
    /// Set for a CSV file alone.
    text: Option<TextTable>,
}

/// The facts of a table that is text.
struct TextTable {
    /// True if its last line has a line end.
    ended: bool,
}

/// Returns every sheet of a workbook in order. A CSV file is one table.
pub(super) fn tables(path: &Path) -> Result<Vec<Table>, MarketsError> {
    let refuse = |reason: String| MarketsError::Rents {
        path: path.to_owned(),
        reason,
    };
    let bytes = std::fs::read(path).map_err(|source| MarketsError::Io {
        path: path.to_owned(),
        source,
    })?;
    let is_workbook = zip_source::is_workbook(Cursor::new(&bytes));
    if !is_workbook.map_err(|error| refuse(error.to_string()))? {
        if let Some(form) = Diagnosis::of(&bytes).filter(Diagnosis::hides_rows) {
            return Err(refuse(form.to_string()));
        }
        let cells = csv_cells(&bytes).map_err(|error| refuse(error.to_string()))?;
        let ended = bytes.ends_with(b"\n") || bytes.ends_with(b"\r");
        return Ok(vec![Table {
            path: path.to_owned(),
            sheet: path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            cells: rectangle(cells).map_err(|error| refuse(error.to_string()))?,
            date_system: DateSystem::default(),
            text: Some(TextTable { ended }),
        }]);
    }
    zip_source::check_workbook(Cursor::new(&bytes)).map_err(|error| refuse(error.to_string()))?;
    let mut workbook = Workbook::open(&bytes).map_err(|error| refuse(error.to_string()))?;
    let date_system = workbook.date_system();
    let mut tables = Vec::new();
    for sheet in workbook.sheet_names() {
        let cells = workbook
            .cells(&sheet)
            .map_err(|error| refuse(format!("sheet {sheet:?}: {error}")))?;
        tables.push(Table {
            path: path.to_owned(),
            sheet,
            cells,
            date_system,
            text: None,
        });
    }
    Ok(tables)
}

/// Returns the cells of CSV text, or the reason why it cannot be read.
fn csv_cells(text: &[u8]) -> Result<Vec<Cell<Data>>, csv::Error> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text);
    let mut cells = Vec::new();
    for (row, record) in (0..).zip(reader.records()) {
        for (column, text) in (0..).zip(record?.iter()) {
            // A byte order mark may precede the first name.
            let text = text.trim_start_matches('\u{feff}');
            if !text.is_empty() {
                cells.push(Cell::new((row, column), Data::String(text.to_owned())));
            }
        }
    }
    Ok(cells)
}

/// The content of a cell for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// A finite number above zero.
    Is(f64),
    /// Blank, or the publisher's mark for a figure that is not given.
    Unavailable,
}

/// The publisher's marks for missing figures, of 2023 and later.
const MARKS: [&str; 9] = ["", "-", ".", "..", ":", "[x]", "[z]", "[c]", "[u]"];

impl Table {
    /// Returns one past the last row.
    pub(super) fn rows(&self) -> u32 {
        self.cells.end().map_or(0, |(row, _)| row + 1)
    }

    /// Refuses a CSV file whose last line has no end, and a cell beyond its headings. The first may
    /// have been cut, and the second is what a decimal comma makes.
    pub(super) fn check_text(&self, headings: u32) -> Result<(), MarketsError> {
        let Some(text) = &self.text else {
            return Ok(());
        };
        let filled = |row| {
            (0..self.columns())
                .rev()
                .find(|at| !self.text(row, *at).is_empty())
        };
        let columns = filled(headings).map_or(0, |column| column + 1);
        for row in headings + 1..self.rows() {
            if let Some(column) = filled(row).filter(|column| *column >= columns) {
                let reason =
                    "a cell beyond the headings; write a decimal with a point, not a comma";
                return Err(self.bad(row, column, reason));
            }
        }
        let last = self.rows().saturating_sub(1);
        match filled(last).filter(|_| !text.ended && last > headings) {
            Some(column) => Err(self.bad(
                last,
                column,
                "the file ends with this cell and without a line end, so the download may have \
                 broken off within it; download the file again",
            )),
            None => Ok(()),
        }
    }

    /// Returns one past the last column.
    pub(super) fn columns(&self) -> u32 {
        self.cells.end().map_or(0, |(_, column)| column + 1)
    }

    /// Returns a cell's text, or an empty one.
    pub(super) fn text(&self, row: u32, column: u32) -> &str {
        match self.cells.get_value((row, column)) {
            Some(Data::String(text)) => text.trim(),
            _ => "",
        }
    }

    /// Returns a column's heading in lower case, with one space for every run of other characters.
    pub(super) fn heading(&self, row: u32, column: u32) -> String {
        let text = self.text(row, column).to_lowercase();
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the column of a row that has this heading.
    pub(super) fn column(&self, row: u32, heading: &str) -> Option<u32> {
        (0..self.columns()).find(|column| self.heading(row, *column) == heading)
    }

    /// Returns a rent in pounds.
    pub(super) fn figure(&self, row: u32, column: u32) -> Result<Figure, MarketsError> {
        let number = match self.cells.get_value((row, column)) {
            None | Some(Data::Empty) => return Ok(Figure::Unavailable),
            Some(Data::Float(number)) => Some(*number),
            // Exact far beyond any rent.
            Some(Data::Int(number)) => Some(*number as f64),
            Some(Data::String(text)) => {
                let text = text.trim();
                if MARKS.contains(&text.to_ascii_lowercase().as_str()) {
                    return Ok(Figure::Unavailable);
                }
                text.parse().ok()
            }
            Some(_) => None,
        };
        match number.filter(|number| number.is_finite() && *number > 0.0) {
            Some(number) => Ok(Figure::Is(number)),
            None => Err(self.bad(row, column, "neither a rent above zero nor a known mark")),
        }
    }

    /// Returns a date: a spreadsheet's own, its serial number, or text that begins with
    /// `YYYY-MM-DD`.
    pub(super) fn day(&self, row: u32, column: u32) -> Result<Day, MarketsError> {
        let serial = |number: f64| self.date_system.day(number).map(Day::from);
        let whole = |number: f64| (number.fract() == 0.0).then(|| serial(number))?;
        let day = match self.cells.get_value((row, column)) {
            Some(Data::DateTime(date)) => serial(date.as_f64()),
            Some(Data::Float(number)) => whole(*number),
            Some(Data::Int(number)) => whole(*number as f64),
            Some(Data::DateTimeIso(text) | Data::String(text)) => {
                text.get(..10).and_then(Day::parse_iso)
            }
            _ => None,
        };
        day.ok_or_else(|| self.bad(row, column, "no date"))
    }

    /// Returns the error that names a cell.
    pub(super) fn bad(&self, row: u32, column: u32, reason: &'static str) -> MarketsError {
        let value = self.cells.get_value((row, column));
        MarketsError::Cell {
            path: self.path.clone(),
            sheet: self.sheet.clone(),
            cell: name(row, column),
            reason,
            value: value
                .map(ToString::to_string)
                .unwrap_or_default()
                .chars()
                .take(120)
                .collect(),
        }
    }
}

/// Returns the name of a cell: `H7` for row 6, column 7, both from 0.
pub(super) fn name(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        let digit = (rest - 1) % 26;
        // Below 26.
        letters.push(char::from(b'A' + digit as u8));
        rest = (rest - 1) / 26;
    }
    let letters: String = letters.into_iter().rev().collect();
    format!("{letters}{}", row + 1)
}
