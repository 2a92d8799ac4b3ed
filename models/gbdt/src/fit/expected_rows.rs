//! The file of expected predictions that a team brings with its model.

use crate::expected::{ExpectedRow, LEAST_ROWS};
use crate::mapping::{ColumnSource, Mapping};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Its name beside the model.
pub const FILE: &str = "expected.csv";
/// The column of the predictions.
const PREDICTION: &str = "prediction";
/// A missing input, as a library of Python writes one.
const MISSING: &str = "nan";

/// The reason why the file is refused.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedRowsError {
    /// There is no such file.
    #[error(
        "{} is missing; write at least {LEAST_ROWS} rows of the model's columns with the prediction of its own library, under the header of the columns and {PREDICTION}",
        .0.display()
    )]
    Missing(PathBuf),
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the reader.
        source: csv::Error,
    },
    /// It lacks a column.
    #[error("{} has no column {column:?}; its header names each of the model's columns and {PREDICTION}", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A cell is neither a finite number nor a category.
    #[error("{}, row {row}: {column} is {cell:?}, which is neither a finite number nor one of its categories", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// There are too few rows of other inputs.
    #[error(
        "{} has {found} rows, of which {distinct} differ in their inputs; write at least {LEAST_ROWS} that differ",
        path.display()
    )]
    TooFew {
        /// The file.
        path: PathBuf,
        /// Its rows.
        found: usize,
        /// Those whose inputs no earlier row has.
        distinct: usize,
    },
    /// A column of categories has the same one in every row.
    #[error(
        "{}: {column} has fewer than two of its {cases} categories; write rows with others, which tell their order",
        path.display()
    )]
    OneCategory {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The number of its categories.
        cases: usize,
    },
}

/// Reads the rows, with the inputs in the order of the model's `columns`. An empty cell is missing,
/// and so is `nan`. A category may stand by its name in the mapping, or by its number.
///
/// # Errors
/// [`ExpectedRowsError`] if the file is missing, lacks a column, or has too few rows that differ,
/// as a whole or in a column of categories.
pub fn read(
    folder: &Path,
    columns: &[String],
    mapping: &Mapping,
) -> Result<Vec<ExpectedRow>, ExpectedRowsError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Err(ExpectedRowsError::Missing(path));
    }
    let unreadable = |source| ExpectedRowsError::Read {
        path: path.clone(),
        source,
    };
    let mut reader = csv::Reader::from_path(&path).map_err(unreadable)?;
    let header = reader.headers().map_err(unreadable)?.clone();
    let position = |column: &str| {
        let found = header.iter().position(|name| name == column);
        found.ok_or_else(|| ExpectedRowsError::NoColumn {
            path: path.clone(),
            column: column.to_owned(),
        })
    };
    let places = columns.iter().map(|column| position(column));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let prediction = position(PREDICTION)?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let row = rows.len() + 1;
        let wrong = |column: &str, cell: &str| ExpectedRowsError::Cell {
            path: path.clone(),
            row,
            column: column.to_owned(),
            cell: cell.to_owned(),
        };
        let input = |(column, place): (&String, &usize)| match record.get(*place) {
            None | Some("") => Ok(None),
            Some(cell) => match number(cell, mapping.columns.get(column)) {
                Some(number) => Ok(Some(number)),
                None if cell.eq_ignore_ascii_case(MISSING) => Ok(None),
                None => Err(wrong(column, cell)),
            },
        };
        let cell = record.get(prediction).unwrap_or_default();
        rows.push(ExpectedRow {
            inputs: columns
                .iter()
                .zip(&places)
                .map(input)
                .collect::<Result<_, _>>()?,
            prediction: finite(cell).ok_or_else(|| wrong(PREDICTION, cell))?,
        });
    }
    check_variety(path, columns, mapping, &rows)?;
    Ok(rows)
}

/// Refuses rows that repeat each other: a copy of a row tests nothing that the row does not.
fn check_variety(
    path: PathBuf,
    columns: &[String],
    mapping: &Mapping,
    rows: &[ExpectedRow],
) -> Result<(), ExpectedRowsError> {
    let bits = |input: &Option<f64>| input.map(f64::to_bits);
    let inputs = rows.iter().map(|row| row.inputs.iter().map(bits));
    let distinct: BTreeSet<Vec<Option<u64>>> = inputs.map(Iterator::collect).collect();
    if distinct.len() < LEAST_ROWS {
        return Err(ExpectedRowsError::TooFew {
            path,
            found: rows.len(),
            distinct: distinct.len(),
        });
    }
    for (at, column) in columns.iter().enumerate() {
        let cases = mapping.columns.get(column).map_or(0, count_cases);
        let stated: BTreeSet<u64> = distinct.iter().filter_map(|row| row[at]).collect();
        if cases >= 2 && stated.len() < 2 {
            let column = column.clone();
            return Err(ExpectedRowsError::OneCategory {
                path,
                column,
                cases,
            });
        }
    }
    Ok(())
}

/// Returns the number of a column's categories, 0 of a numeric one.
fn count_cases(source: &ColumnSource) -> usize {
    match source {
        ColumnSource::Categories(of) => of.categories.len(),
        ColumnSource::Feature(name) => {
            let feature = crate::features::table::Feature::from_name(name);
            feature.map_or(0, |feature| feature.cases().len())
        }
    }
}

/// Returns the number of a cell, which may name a category.
fn number(cell: &str, source: Option<&ColumnSource>) -> Option<f64> {
    let by_name = || match source? {
        ColumnSource::Categories(of) => of.categories.iter().position(|case| case == cell),
        ColumnSource::Feature(name) => {
            let feature = crate::features::table::Feature::from_name(name)?;
            feature.cases().iter().position(|case| *case == cell)
        }
    };
    finite(cell).or_else(|| by_name().map(|at| at as f64))
}

/// Returns the number of a cell. JSON, which holds the rows later, has no others than finite ones.
fn finite(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPING: &str = r#"
        target = "price"
        [columns]
        area = "floor_area_m2"
        type = { feature = "property_type", categories = ["flat", "terraced"] }
    "#;

    fn refusal(text: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            std::fs::write(folder.path().join(FILE), text).unwrap();
        }
        let mapping: Mapping = toml::from_str(MAPPING).unwrap();
        let columns = ["type", "area"].map(str::to_owned);
        match read(folder.path(), &columns, &mapping) {
            Ok(rows) => format!("{:?} of {}", rows[0], rows.len()),
            Err(error) => error.to_string(),
        }
    }

    /// Returns `count` rows of different areas. The last has the second type, the others the first.
    fn rows(count: usize, types: [&str; 2]) -> String {
        let row = |at: usize| {
            let of = types[usize::from(at + 1 == count)];
            format!("{}.5,{of},1000\n", 80 + at)
        };
        let rows: String = (0..count).map(row).collect();
        format!("area,type,prediction\n{rows}")
    }

    #[test]
    fn rows_are_read_by_name_in_the_models_order() {
        let read = refusal(Some(&rows(LEAST_ROWS, ["terraced", "flat"])));
        let first = "ExpectedRow { inputs: [Some(1.0), Some(80.5)], prediction: 1000.0 }";
        assert_eq!(read, format!("{first} of {LEAST_ROWS}"));
        let missing = rows(LEAST_ROWS, ["0", "1"]).replacen("80.5,0,1000", ",0,-0.5", 1);
        let read = refusal(Some(&missing));
        assert!(
            read.contains("[Some(0.0), None], prediction: -0.5"),
            "{read}"
        );
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused_and_nan_is_missing() {
        let with = |cells: &str| {
            let rows = rows(LEAST_ROWS, ["0", "1"]);
            refusal(Some(&rows.replacen("80.5,0,1000", cells, 1)))
        };
        for missing in ["nan", "NaN"] {
            let read = with(&format!("{missing},0,1000"));
            assert!(read.contains("[Some(0.0), None]"), "{read}");
        }
        for (cells, expected) in [
            (
                "inf,0,1000",
                "row 1: area is \"inf\", which is neither a finite",
            ),
            ("80.5,-inf,1000", "row 1: type is \"-inf\""),
            ("80.5,0,nan", "row 1: prediction is \"nan\""),
            ("80.5,0,1e999", "row 1: prediction is \"1e999\""),
        ] {
            let refused = with(cells);
            assert!(refused.contains(expected), "{refused}");
        }
    }

    #[test]
    fn copies_of_a_row_do_not_count() {
        let nine = rows(LEAST_ROWS - 1, ["terraced", "flat"]);
        let copied = refusal(Some(&format!("{nine}{}", "80.5,terraced,1000\n".repeat(9))));
        let expected = "has 18 rows, of which 9 differ in their inputs; write at least 10";
        assert!(copied.contains(expected), "{copied}");
        let enough = refusal(Some(&format!("{nine}80.5,flat,1000\n")));
        assert!(enough.ends_with("of 10"), "{enough}");
    }

    #[test]
    fn a_column_needs_two_of_its_categories() {
        // The other rows leave the type out, which tells nothing of the order.
        for other in ["terraced", ""] {
            let refused = refusal(Some(&rows(LEAST_ROWS, ["terraced", other])));
            let expected = "type has fewer than two of its 2 categories";
            assert!(refused.contains(expected), "{refused}");
        }
    }

    #[test]
    fn a_refusal_names_the_column_the_row_or_the_count() {
        for (text, expected) in [
            (None, "expected.csv is missing; write at least 10 rows"),
            (Some("area,prediction\n"), "has no column \"type\""),
            (Some("area,type\n"), "has no column \"prediction\""),
            (
                Some("area,type,prediction\n80,bungalow,1\n"),
                "row 1: type is \"bungalow\"",
            ),
            (
                Some("area,type,prediction\n80,flat,dear\n"),
                "row 1: prediction is \"dear\"",
            ),
            (
                Some("area,type,prediction\n80,flat,1\n"),
                "has 1 rows, of which 1 differ in their inputs; write at least 10",
            ),
        ] {
            let refused = refusal(text);
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
