//! CSV exports of the Bank's database.
//!
//! Layouts that are read: columns headed by series codes (`DATE,IUDBEDR,…`), with or without the
//! block `SERIES,DESCRIPTION` above; one row a value (`DATE,SERIES,VALUE`); the list of Bank Rate
//! changes (`Date Changed,Rate`); and SONIA alone (`Date,SONIA`). Columns of codes that are not
//! used here are left out with a warning. A blank cell is a missing value.

use super::codes::{Code, DatabaseSeries, by_code};
use super::published::Warning;
use super::source::File;
use super::{PublishedRates, RatesError, RatesErrorKind, SourceLocation, dates};

/// The meaning of a column.
#[derive(Clone, Copy)]
enum Column {
    Series(DatabaseSeries),
    BankRateChange,
    LeftOut,
}

/// Reads one file.
pub(super) fn read(file: &File, published: &mut PublishedRates) -> Result<(), RatesError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(file.bytes.as_slice());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| RatesErrorKind::from(error).at(file.place()))?;
        let line = record.position().map_or(0, csv::Position::line);
        records.push((line, record));
    }
    let mut rows = records.iter().skip_while(|(_, r)| blank(r)).peekable();
    if rows
        .peek()
        .is_some_and(|(_, r)| heads(r, &["SERIES", "DESCRIPTION"]))
    {
        rows.next();
        // Titles precede the table. The table's own header ends them.
        while let Some((line, row)) = rows.next_if(|(_, r)| !heads(r, &["DATE"])) {
            if !blank(row) {
                title(file, *line, row)?;
            }
        }
    }
    let Some((line, header)) = rows.next() else {
        return Err(RatesErrorKind::Layout("is empty").at(file.place()));
    };
    if heads(header, &["DATE", "SERIES", "VALUE"]) {
        for (line, row) in rows.filter(|(_, r)| !blank(r)) {
            let code = row.get(1).unwrap_or_default();
            if let Some(known) = by_code(code) {
                let column = Column::Series(known.series);
                cell(file, *line, row, 2, code, column, published)?;
            }
        }
        return Ok(());
    }
    let columns = columns(file, *line, header, published)?;
    for (line, row) in rows.filter(|(_, r)| !blank(r)) {
        for (at, (name, column)) in columns.iter().enumerate() {
            cell(file, *line, row, at + 1, name, *column, published)?;
        }
    }
    Ok(())
}

fn blank(record: &csv::StringRecord) -> bool {
    record.iter().all(str::is_empty)
}

fn heads(record: &csv::StringRecord, names: &[&str]) -> bool {
    let mut cells = record.iter();
    names.iter().all(|name| {
        cells
            .next()
            .is_some_and(|cell| cell.eq_ignore_ascii_case(name))
    })
}

/// Returns the meaning of the columns after the date, with their headers.
fn columns(
    file: &File,
    line: u64,
    header: &csv::StringRecord,
    published: &mut PublishedRates,
) -> Result<Vec<(String, Column)>, RatesError> {
    if heads(header, &["Date Changed", "Rate"]) {
        return Ok(vec![("Rate".to_owned(), Column::BankRateChange)]);
    }
    if !heads(header, &["DATE"]) {
        let fault = RatesErrorKind::Layout("has no header that begins with DATE");
        return Err(fault.at(place(file, line, None)));
    }
    let mut columns = Vec::new();
    let mut used = 0;
    for name in header.iter().skip(1) {
        let series = match by_code(name) {
            Some(code) => Some(code.series),
            None if name.eq_ignore_ascii_case("SONIA") => Some(DatabaseSeries::Sonia),
            None => None,
        };
        let column = match series {
            Some(series) => Column::Series(series),
            None => {
                published.warnings.push(Warning {
                    place: place(file, line, Some(name)),
                    reason: "the code is not one that is used here".to_owned(),
                });
                Column::LeftOut
            }
        };
        used += usize::from(series.is_some());
        columns.push((name.to_owned(), column));
    }
    if used == 0 {
        let fault = RatesErrorKind::Layout("has no column of a series that is used here");
        return Err(fault.at(place(file, line, None)));
    }
    Ok(columns)
}

/// Checks the title that a file gives to a code.
fn title(file: &File, line: u64, row: &csv::StringRecord) -> Result<(), RatesError> {
    let code = row.get(0).unwrap_or_default();
    let title = row.get(1).unwrap_or_default();
    match by_code(code) {
        Some(known) if !Code::answers_to(known, title) => Err(RatesErrorKind::Title {
            code: code.to_owned(),
            title: title.to_owned(),
        }
        .at(place(file, line, None))),
        _ => Ok(()),
    }
}

/// Reads one value; a blank one is missing.
fn cell(
    file: &File,
    line: u64,
    row: &csv::StringRecord,
    at: usize,
    name: &str,
    column: Column,
    published: &mut PublishedRates,
) -> Result<(), RatesError> {
    let text = row.get(at).unwrap_or_default();
    if matches!(column, Column::LeftOut) || text.is_empty() {
        return Ok(());
    }
    let date = row.get(0).unwrap_or_default();
    let day = dates::day(date)
        .ok_or_else(|| RatesErrorKind::Date(date.to_owned()).at(place(file, line, Some("DATE"))))?;
    let here = place(file, line, Some(name));
    let value = text
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .ok_or_else(|| RatesErrorKind::Number(text.to_owned()).at(here.clone()))?;
    match column {
        Column::Series(series) => published.state(series, day, value, &here),
        Column::BankRateChange => {
            published.bank_rate_changes.insert(day, value);
            published.state(DatabaseSeries::BankRate, day, value, &here)
        }
        Column::LeftOut => Ok(()),
    }
}

fn place(file: &File, line: u64, column: Option<&str>) -> SourceLocation {
    SourceLocation {
        cell: Some(match column {
            Some(column) => format!("line {line}, column {column}"),
            None => format!("line {line}"),
        }),
        ..file.place()
    }
}
