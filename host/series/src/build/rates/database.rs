//! CSV exports of the Bank's database.
//!
//! The reader knows these layouts:
//!
//! - Columns headed by series codes (`DATE,IUDBEDR,…`), with or without the block
//!   `SERIES,DESCRIPTION` above.
//! - One row a value (`DATE,SERIES,VALUE`).
//! - The list of Bank Rate changes (`Date Changed,Rate`).
//! - SONIA alone (`Date,SONIA`).
//!
//! A code may follow its title in one column name, and the date's column may be
//! `observation_date`, as FRED names it. Columns of codes that are not used here are left out with
//! a warning. A blank cell or a full stop is a missing value.

use super::codes::{Code, DatabaseSeries, by_code, by_column};
use super::decimals;
use super::published::Warning;
use super::source::File;
use domesday_registers::Diagnosis;

use super::{PublishedRates, RatesError, RatesErrorKind, SourceLocation, dates};

/// The meaning of a column.
#[derive(Clone, Copy)]
enum Column {
    Series(DatabaseSeries),
    BankRateChange,
    LeftOut,
}

/// The names of the column of dates.
const DATE: [&str; 2] = ["DATE", "observation_date"];

/// Reads one file.
pub(super) fn read(file: &File, published: &mut PublishedRates) -> Result<(), RatesError> {
    let values = table(file, published).map_err(|error| match error {
        RatesError::File { location, kind } => {
            let header = matches!(
                kind,
                RatesErrorKind::Layout(_)
                    | RatesErrorKind::NoSeries { .. }
                    | RatesErrorKind::Csv(_)
            );
            match Diagnosis::of(&file.bytes).filter(|_| header) {
                Some(form) => RatesErrorKind::Form(form).at(file.location()),
                None => RatesError::File { location, kind },
            }
        }
        other => other,
    })?;
    match values {
        0 => Err(
            RatesErrorKind::Layout("holds no value of a known series. Download it again")
                .at(file.location()),
        ),
        _ => Ok(()),
    }
}

/// Reads the table, and returns how many values it holds.
fn table(file: &File, published: &mut PublishedRates) -> Result<u64, RatesError> {
    let mut values = 0;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(file.bytes.as_slice());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| RatesErrorKind::from(error).at(file.location()))?;
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
        return Err(RatesErrorKind::Layout("is empty").at(file.location()));
    };
    if let Some((line, last)) = records.last()
        && last.len() < header.len()
        && !blank(last)
        && !file.bytes.ends_with(b"\n")
    {
        return Err(RatesErrorKind::CutShort.at(location(file, *line, None)));
    }
    if heads(header, &["DATE", "SERIES", "VALUE"]) {
        for (line, row) in rows.filter(|(_, r)| !blank(r)) {
            let code = row.get(1).unwrap_or_default();
            if let Some(known) = by_code(code) {
                let column = Column::Series(known.series);
                values += u64::from(cell(file, *line, row, 2, code, column, published)?);
            }
        }
        return Ok(values);
    }
    let columns = columns(file, *line, header, published)?;
    for (line, row) in rows.filter(|(_, r)| !blank(r)) {
        for (at, (name, column)) in columns.iter().enumerate() {
            let filled = cell(file, *line, row, at + 1, name, *column, published)?;
            values += u64::from(filled);
        }
    }
    Ok(values)
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
    if !DATE.iter().any(|name| heads(header, &[name])) {
        let fault =
            RatesErrorKind::Layout("has no header that begins with DATE or observation_date");
        return Err(fault.at(location(file, line, None)));
    }
    let mut columns = Vec::new();
    let mut used = 0;
    for name in header.iter().skip(1) {
        let series = match by_column(name) {
            Some((code, title)) if !title.is_empty() && !code.answers_to(title) => {
                return Err(RatesErrorKind::Title {
                    code: code.code.to_owned(),
                    title: title.to_owned(),
                }
                .at(location(file, line, None)));
            }
            Some((code, _)) => Some(code.series),
            None if name.eq_ignore_ascii_case("SONIA") => Some(DatabaseSeries::Sonia),
            None => None,
        };
        let column = match series {
            Some(series) => Column::Series(series),
            None => {
                published.warnings.push(Warning {
                    location: location(file, line, Some(name)),
                    reason: "the code is not one that is used here".to_owned(),
                });
                Column::LeftOut
            }
        };
        used += usize::from(series.is_some());
        columns.push((name.to_owned(), column));
    }
    if used == 0 {
        let found = columns.into_iter().map(|(name, _)| name).collect();
        let fault = RatesErrorKind::NoSeries { found };
        return Err(fault.at(location(file, line, None)));
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
        .at(location(file, line, None))),
        _ => Ok(()),
    }
}

/// Reads one value, and returns whether there is one; a blank one is missing.
fn cell(
    file: &File,
    line: u64,
    row: &csv::StringRecord,
    at: usize,
    name: &str,
    column: Column,
    published: &mut PublishedRates,
) -> Result<bool, RatesError> {
    let text = row.get(at).unwrap_or_default();
    if matches!(column, Column::LeftOut) || text.is_empty() || text == "." {
        return Ok(false);
    }
    let date = row.get(0).unwrap_or_default();
    let day = dates::day(date).ok_or_else(|| {
        RatesErrorKind::Date(date.to_owned()).at(location(file, line, Some("DATE")))
    })?;
    let here = location(file, line, Some(name));
    let value = decimals::parse(text).map_err(|fault| fault.at(here.clone()))?;
    match column {
        Column::Series(series) => published.state(series, day, value, &here),
        Column::BankRateChange => {
            published.bank_rate_changes.insert(day, value);
            published.state(DatabaseSeries::BankRate, day, value, &here)
        }
        Column::LeftOut => Ok(()),
    }?;
    Ok(true)
}

fn location(file: &File, line: u64, column: Option<&str>) -> SourceLocation {
    SourceLocation {
        cell: Some(match column {
            Some(column) => format!("line {line}, column {column}"),
            None => format!("line {line}"),
        }),
        ..file.location()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(text: &[u8]) -> String {
        let mut published = PublishedRates::default();
        let file = File {
            name: "bank.csv".to_owned(),
            bytes: text.to_vec(),
        };
        match read(&file, &mut published) {
            Err(error) => error.to_string(),
            Ok(()) => format!("{:?}", published.series),
        }
    }

    #[test]
    fn a_code_is_the_last_word_of_a_column_that_has_its_title_too() {
        let title = "Monthly interest rate of sterling 2 year (75% LTV) fixed rate mortgage";
        let read = describe(format!("Date, {title}   IUMBV34\n31 Jan 2025,4.63\n").as_bytes());
        assert_eq!(
            read,
            r#"{Mortgage("owner_occupied_fixed_2y_75ltv"): {2025-01-31: 4.63}}"#
        );
        insta::assert_snapshot!(
            describe(b"Date,5 year (75% LTV) fixed IUMBV34\n31 Jan 2025,4.63\n"),
            @r#"bank.csv, line 1: the title "5 year (75% LTV) fixed" does not match series IUMBV34"#
        );
    }

    #[test]
    fn fred_names_its_dates_observation_date_and_writes_a_stop_for_no_value() {
        let read =
            describe(b"observation_date,IUDSOIA\n2026-08-28,3.7310\n2026-08-31,.\n2026-09-01,\n");
        assert_eq!(read, "{Sonia: {2026-08-28: 3.731}}");
    }

    #[test]
    fn a_file_that_ends_within_a_row_is_refused() {
        let text = "DATE,IUDBEDR,IUDSOIA\n01 Sep 2026,3.75,3.72\n02 Sep 2026,3.";
        insta::assert_snapshot!(
            describe(text.as_bytes()),
            @"bank.csv, line 3: the file ends within this row, so the download broke off. Download it again"
        );
        let ended = describe(format!("{text}\n").as_bytes());
        assert!(ended.contains("2026-09-02: 3"), "{ended}");
    }

    #[test]
    fn a_useless_file_names_the_known_series() {
        insta::assert_snapshot!(describe(b"DATE,XUDLUSS\n01 Sep 2026,1.3\n"));
        insta::assert_snapshot!(
            describe(b"DATE,IUDBEDR\n"),
            @"bank.csv: holds no value of a known series. Download it again"
        );
        assert!(describe(b"DATE;IUDBEDR\n01 Sep 2026;3.75\n").contains("separated by semicolons"));
    }
}
