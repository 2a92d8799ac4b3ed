//! Curve tables: our own CSV layout, for curves that come from elsewhere than the Bank's workbooks.
//!
//! The first cell of the header is the dataset that the table is for, such as `ois_spot_curve`; the
//! other cells are maturities in whole months. Each row is a day, `YYYY-MM-DD`, and rates in per
//! cent; a blank cell is a missing node.

use super::curve_kind::{CurveKind, MATURITIES};
use super::rows::{self, Row};
use super::source::File;
use super::{PublishedRates, RatesError, RatesErrorKind, dates};

/// Reads one table, and returns how many rates it holds.
pub(super) fn read(file: &File, published: &mut PublishedRates) -> Result<u64, RatesError> {
    let all = rows::read(file)?;
    let Some((header, rows)) = all.split_first() else {
        return Err(RatesErrorKind::Layout("is empty").at(file.location()));
    };
    let name = header.cells.get(0).unwrap_or_default();
    let curve = CurveKind::all()
        .find(|(kind, side)| kind.dataset(*side) == name)
        .ok_or_else(|| {
            let kind = match is_of_curves(header, rows) {
                true => RatesErrorKind::UnknownCurve {
                    name: name.to_owned(),
                },
                false => RatesErrorKind::Layout("has a first cell that names no curve dataset"),
            };
            kind.at(header.location(file, Some(name)))
        })?;
    let mut maturities = Vec::new();
    for cell in header.cells.iter().skip(1) {
        let months: u32 = cell
            .parse()
            .ok()
            .filter(|months| MATURITIES.contains(months))
            .ok_or_else(|| {
                RatesErrorKind::Maturity(cell.to_owned()).at(header.location(file, Some(cell)))
            })?;
        maturities.push(months);
    }
    rows::check_end(file, &all, header)?;
    published.warnings.extend(rows::undecided_days(file, rows));
    let mut values = 0;
    for row in rows {
        let (cells, columns) = (row.cells.len(), header.cells.len());
        if cells != columns {
            return Err(RatesErrorKind::Cells { cells, columns }.at(row.location(file, None)));
        }
        let date = row.cells.get(0).unwrap_or_default();
        let day = dates::day(date).ok_or_else(|| {
            RatesErrorKind::Date(date.to_owned()).at(row.location(file, Some(name)))
        })?;
        let before = values;
        for (months, cell) in maturities.iter().zip(row.cells.iter().skip(1)) {
            if cell.is_empty() {
                continue;
            }
            let here = || row.location(file, Some(&months.to_string()));
            let rate = cell
                .parse::<f64>()
                .ok()
                .filter(|rate| rate.is_finite())
                .ok_or_else(|| RatesErrorKind::Number(cell.to_owned()).at(here()))?;
            published.node(curve, day, *months, rate, &here())?;
            values += 1;
        }
        published.rows_with_values += u64::from(values > before);
    }
    Ok(values)
}

/// Reports whether a table has the form of curves: maturities beside a name, and rows of days.
fn is_of_curves(header: &Row, rows: &[Row]) -> bool {
    let mut cells = header.cells.iter();
    let named = cells
        .next()
        .is_some_and(|name| name.starts_with(char::is_alphabetic));
    let maturities = header.cells.len() > 1 && cells.all(|cell| cell.parse::<u32>().is_ok());
    let day = |row: &Row| row.cells.get(0).and_then(dates::day).is_some();
    named && maturities && rows.first().is_some_and(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(text: &str) -> String {
        let mut published = PublishedRates::default();
        let file = File {
            name: "curve.csv".to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        match read(&file, &mut published) {
            Err(error) => error.to_string(),
            Ok(_) => format!("{:?}", published.curves),
        }
    }

    #[test]
    fn a_row_with_another_number_of_cells_is_refused_with_the_repair() {
        insta::assert_snapshot!(
            describe("ois_spot_curve,1,2\n2026-09-30,3.91,3,90\n"),
            @"curve.csv, line 2: the row has 4 cells and the table 3 columns. Write a decimal with a point, 3.75 and not 3,75"
        );
        insta::assert_snapshot!(
            describe("ois_spot_curve,1,2\n2026-09-30,3.91\n"),
            @"curve.csv, line 2: the row has 2 cells and the table 3 columns. Leave the cell of a missing value blank"
        );
    }

    #[test]
    fn a_table_of_an_unknown_curve_is_refused_with_the_names_that_there_are() {
        let refused = describe("sonia_curve,1,2\n2026-09-30,3.91,3.90\n");
        assert!(
            refused.starts_with(
                "curve.csv, line 1, column sonia_curve: \"sonia_curve\" names no curve"
            ) && refused.contains("ois_spot_curve, "),
            "{refused}"
        );
        // Another table is none of curves.
        for other in [
            "sonia_curve,1,2\n",
            "year,1,2\nRose,3,4\n",
            "DATE,IUDBEDR\n01 Sep 2026,3\n",
        ] {
            let refused = describe(other);
            assert!(
                refused.contains("has a first cell that names no"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_maturity_is_a_whole_number_of_months_up_to_a_hundred_years() {
        let longest = describe("ois_spot_curve,1,1200\n2026-09-30,3.91,3.90\n");
        assert!(longest.contains("{1: 3.91, 1200: 3.9}"), "{longest}");
        for months in ["0", "-1", "1.5", "1201", "48000"] {
            let refused = describe(&format!("ois_spot_curve,{months}\n2026-09-30,3.91\n"));
            assert_eq!(
                refused,
                format!(
                    "curve.csv, line 1, column {months}: the maturity {months} is not a whole \
                     number of months from 1 to 1200. Correct it, or give the publisher's file \
                     unchanged"
                )
            );
        }
    }

    #[test]
    fn a_table_that_ends_within_its_last_cell_is_refused() {
        let text = "ois_spot_curve,1,2\n2026-09-30,3.91,3.90\n2026-10-01,3.92,3.9";
        let refused = describe(text);
        assert!(
            refused.contains("line 3: the last line has no line end"),
            "{refused}"
        );
        let ended = describe(&format!("{text}\n"));
        assert!(ended.contains("2026-10-01: {1: 3.92, 2: 3.9}"), "{ended}");
    }
}
