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
//! `observation_date`, as FRED names it. Columns and rows of codes that are not used here are left
//! out, with one warning a code. A blank cell or a full stop is a missing value.

use std::collections::BTreeSet;

use super::codes::{Code, DatabaseSeries, by_code, by_column};
use super::decimals;
use super::published::{Warning, WarningKind};
use super::rows::{self, Row};
use super::source::File;
use domesday_registers::Diagnosis;

use super::{PublishedRates, RatesError, RatesErrorKind, dates};

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
            RatesErrorKind::NoValue("holds no value of a known series. Download it again")
                .at(file.location()),
        ),
        _ => Ok(()),
    }
}

/// Reads the table, and returns how many values it holds.
fn table(file: &File, published: &mut PublishedRates) -> Result<u64, RatesError> {
    let all = rows::read(file)?;
    let mut rows = all.iter().skip_while(|row| row.is_blank()).peekable();
    if rows
        .peek()
        .is_some_and(|row| heads(row, &["SERIES", "DESCRIPTION"]))
    {
        rows.next();
        // Titles precede the table. The table's own header ends them.
        while let Some(row) = rows.next_if(|row| !heads(row, &["DATE"])) {
            if !row.is_blank() {
                title(file, row)?;
            }
        }
    }
    let Some(header) = rows.next() else {
        return Err(RatesErrorKind::Layout("is empty").at(file.location()));
    };
    let rows: Vec<&Row> = rows.filter(|row| !row.is_blank()).collect();
    let width = header.filled_cells();
    published
        .warnings
        .extend(rows::undecided_days(file, rows.iter().copied()));
    let mut values = 0;
    if heads(header, &["DATE", "SERIES", "VALUE"]) {
        rows::check_end(file, &all, header)?;
        let mut left_out = BTreeSet::new();
        for row in rows {
            row.check_width(file, width)?;
            let code = row.cells.get(1).unwrap_or_default();
            let Some(known) = by_code(code) else {
                if !code.is_empty() && left_out.insert(code.to_ascii_uppercase()) {
                    published.warnings.push(unused_code(file, row, code));
                }
                continue;
            };
            let column = Column::Series(known.series);
            let filled = u64::from(cell(file, row, 2, code, column, published)?);
            values += filled;
            published.rows_with_values += filled;
        }
        return Ok(values);
    }
    let columns = columns(file, header, published)?;
    check_joined(file, header, &columns)?;
    rows::check_end(file, &all, header)?;
    for row in rows {
        row.check_width(file, width)?;
        let mut filled = 0;
        for (at, (name, column)) in columns.iter().enumerate() {
            filled += u64::from(cell(file, row, at + 1, name, *column, published)?);
        }
        values += filled;
        published.rows_with_values += u64::from(filled > 0);
    }
    Ok(values)
}

fn heads(row: &Row, names: &[&str]) -> bool {
    let mut cells = row.cells.iter();
    names.iter().all(|name| {
        cells
            .next()
            .is_some_and(|cell| cell.eq_ignore_ascii_case(name))
    })
}

/// Returns the remark on a code that is not used, where a row names it first.
fn unused_code(file: &File, row: &Row, code: &str) -> Warning {
    Warning {
        kind: WarningKind::LeftOut,
        location: row.location(file, Some(code)),
        reason: "the code is not one that is used here".to_owned(),
    }
}

/// Returns the meaning of the columns after the date, with their headers.
fn columns(
    file: &File,
    header: &Row,
    published: &mut PublishedRates,
) -> Result<Vec<(String, Column)>, RatesError> {
    if heads(header, &["Date Changed", "Rate"]) {
        return Ok(vec![("Rate".to_owned(), Column::BankRateChange)]);
    }
    if !DATE.iter().any(|name| heads(header, &[name])) {
        let fault =
            RatesErrorKind::Layout("has no header that begins with DATE or observation_date");
        return Err(fault.at(header.location(file, None)));
    }
    let mut columns = Vec::new();
    let mut used = 0;
    for name in header.cells.iter().skip(1) {
        let series = match by_column(name) {
            Some((code, title)) if !title.is_empty() && !code.answers_to(title) => {
                return Err(RatesErrorKind::Title {
                    code: code.code.to_owned(),
                    title: title.to_owned(),
                }
                .at(header.location(file, None)));
            }
            Some((code, _)) => Some(code.series),
            None if name.eq_ignore_ascii_case("SONIA") => Some(DatabaseSeries::Sonia),
            None => None,
        };
        let column = match series {
            Some(series) => Column::Series(series),
            None if name.is_empty() => Column::LeftOut,
            None => {
                published.warnings.push(unused_code(file, header, name));
                Column::LeftOut
            }
        };
        used += usize::from(series.is_some());
        columns.push((name.to_owned(), column));
    }
    if used == 0 {
        let found = columns.into_iter().map(|(name, _)| name).collect();
        let fault = RatesErrorKind::NoSeries { found };
        return Err(fault.at(header.location(file, None)));
    }
    Ok(columns)
}

/// Refuses a header whose line holds the first row as well: its values are names of columns then.
fn check_joined(file: &File, header: &Row, columns: &[(String, Column)]) -> Result<(), RatesError> {
    let left_out =
        |(name, column): &(String, Column)| matches!(column, Column::LeftOut) && !name.is_empty();
    if !columns.iter().any(left_out) {
        return Ok(());
    }
    // Titles may precede the header.
    let before = usize::try_from(header.line.saturating_sub(1)).unwrap_or_default();
    let lines = file.bytes.split_inclusive(|byte| *byte == b'\n');
    let table: Vec<u8> = lines.skip(before).flatten().copied().collect();
    let Some(Diagnosis::JoinedHeader { last, occurrence }) = Diagnosis::of(&table) else {
        return Ok(());
    };
    // A cell that is a name alone shares no day.
    let name = last.trim_matches('"');
    let mut days = header
        .cells
        .iter()
        .filter_map(|cell| cell.strip_prefix(name));
    if !days.any(|day| dates::day(day.trim_matches('"')).is_some()) {
        return Ok(());
    }
    Err(match before {
        0 => RatesErrorKind::Form(Diagnosis::JoinedHeader { last, occurrence }).at(file.location()),
        _ => RatesErrorKind::JoinedHeader { last }.at(header.location(file, None)),
    })
}

/// Checks the title that a file gives to a code.
fn title(file: &File, row: &Row) -> Result<(), RatesError> {
    let code = row.cells.get(0).unwrap_or_default();
    let title = row.cells.get(1).unwrap_or_default();
    match by_code(code) {
        Some(known) if !Code::answers_to(known, title) => Err(RatesErrorKind::Title {
            code: code.to_owned(),
            title: title.to_owned(),
        }
        .at(row.location(file, None))),
        _ => Ok(()),
    }
}

/// Reads one value, and returns whether there is one; a blank one is missing.
fn cell(
    file: &File,
    row: &Row,
    at: usize,
    name: &str,
    column: Column,
    published: &mut PublishedRates,
) -> Result<bool, RatesError> {
    let text = row.cells.get(at).unwrap_or_default();
    if matches!(column, Column::LeftOut) || text.is_empty() || text == "." {
        return Ok(false);
    }
    let date = row.cells.get(0).unwrap_or_default();
    let day = dates::day(date).ok_or_else(|| {
        RatesErrorKind::Date(date.to_owned()).at(row.location(file, Some("DATE")))
    })?;
    let here = row.location(file, Some(name));
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
    fn a_code_may_be_in_small_letters() {
        for text in [
            "date,iudbedr\n01 Sep 2026,3.75\n",
            "Date,Series,Value\n01 Sep 2026,Iudbedr,3.75\n",
        ] {
            assert_eq!(describe(text.as_bytes()), "{BankRate: {2026-09-01: 3.75}}");
        }
    }

    #[test]
    fn a_code_that_is_not_used_is_reported_once_in_either_layout() {
        let remarks = |text: &str| {
            let mut published = PublishedRates::default();
            let file = File {
                name: "bank.csv".to_owned(),
                bytes: text.as_bytes().to_vec(),
            };
            read(&file, &mut published).unwrap();
            let remarks = published.warnings.iter().map(ToString::to_string);
            remarks.collect::<Vec<_>>()
        };
        assert_eq!(
            remarks("DATE,IUDBEDR,XUDLUSS\n01 Sep 2026,3.75,1.3\n02 Sep 2026,3.75,1.3\n"),
            ["left out: bank.csv, line 1, column XUDLUSS: the code is not one that is used here"]
        );
        assert_eq!(
            remarks(
                "DATE,SERIES,VALUE\n01 Sep 2026,IUDBEDR,3.75\n01 Sep 2026,XUDLUSS,1.3\n\
                 02 Sep 2026,xudluss,1.3\n02 Sep 2026,IUDXXX,2\n02 Sep 2026,,\n"
            ),
            [
                "left out: bank.csv, line 3, column XUDLUSS: the code is not one that is used here",
                "left out: bank.csv, line 5, column IUDXXX: the code is not one that is used here",
            ]
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
        // The same cut of a table of one column leaves a whole row.
        let text = "DATE,IUDBEDR\n01 Sep 2026,3.75\n02 Sep 2026,3";
        insta::assert_snapshot!(
            describe(text.as_bytes()),
            @"bank.csv, line 3: the last line has no line end, so the download may have broken off within its last cell. Download it again, or compare the cell and add a line end"
        );
        for end in ["\n", "\r\n", "\r"] {
            let ended = describe(format!("{text}{end}").as_bytes());
            assert!(ended.contains("2026-09-02: 3"), "{ended}");
        }
        let list = "Date Changed,Rate\n18-Dec-25,3.75\n07-Aug-25,4";
        assert!(describe(list.as_bytes()).contains("line 3: the last line"));
        let rows = "DATE,SERIES,VALUE\n01 Sep 2026,IUDBEDR,3.75\n02 Sep 2026,IUDBEDR,3";
        assert!(describe(rows.as_bytes()).contains("line 3: the last line"));
    }

    #[test]
    fn a_header_that_the_first_row_follows_on_its_line_is_refused() {
        let names = "DATE,IUMBV34,IUMBV37,IUMAMNPY";
        let rows = "31 Jan 2025,4.63,4.5,4.66\n28 Feb 2025,4.65,4.52,4.68\n";
        insta::assert_snapshot!(
            describe(format!("{names}{rows}").as_bytes()),
            @r"bank.csv: the column names and the first row share line 1. Put a line end after the last name: sed '1s/IUMAMNPY/&\n/' IN > OUT"
        );
        let titles = "SERIES,DESCRIPTION\nIUMBV34,2 year (75% LTV) fixed\n\n";
        insta::assert_snapshot!(
            describe(format!("{titles}{names}{rows}").as_bytes()),
            @"bank.csv, line 4: the column names and the first row share this line. Put a line end after IUMAMNPY"
        );
        // A column that is not used shares nothing, nor does one whose rows leave out its cell.
        for text in [
            format!("{titles}{names}\n{rows}"),
            "DATE,IUMBV34,IUMAMNPY\n31 Jan 2025,4.63\n28 Feb 2025,4.65\n".to_owned(),
        ] {
            let read = describe(text.as_bytes());
            assert!(read.contains("2025-01-31: 4.63"), "{read}");
        }
    }

    #[test]
    fn a_decimal_comma_is_refused_with_the_row_and_the_columns() {
        insta::assert_snapshot!(
            describe(b"DATE,IUDBEDR\n01 Sep 2026,3,75\n"),
            @"bank.csv, line 2: the row has 3 cells and the table 2 columns. Write a decimal with a point, 3.75 and not 3,75"
        );
        for text in [
            // A column without a name takes no value.
            "DATE,IUDBEDR,\n01 Sep 2026,3,75\n",
            "DATE,SERIES,VALUE\n01 Sep 2026,IUDBEDR,3,75\n",
            "Date Changed,Rate\r\n18-Dec-25,4\r\n07-Aug-25,3,75\r\n",
        ] {
            let refused = describe(text.as_bytes());
            assert!(
                refused.contains("Write a decimal with a point"),
                "{refused}"
            );
        }
        let blank = describe(b"DATE,IUDBEDR\n01 Sep 2026,3.75,,\n");
        assert_eq!(blank, "{BankRate: {2026-09-01: 3.75}}");
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
