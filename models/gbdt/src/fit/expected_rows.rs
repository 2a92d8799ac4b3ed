//! The file of expected predictions that a team brings with its model.

use crate::expected::{ExpectedRow, LEAST_ROWS};
use crate::mapping::{ColumnSource, Mapping};
use std::path::{Path, PathBuf};

/// Its name beside the model.
pub const FILE: &str = "expected.csv";
/// The column of the predictions.
const PREDICTION: &str = "prediction";

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
    /// A cell is neither a number nor a category.
    #[error("{}, row {row}: {column} is {cell:?}, which is neither a number nor one of its categories", path.display())]
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
    /// There are too few rows.
    #[error("{} has {found} rows; write at least {LEAST_ROWS}", path.display())]
    TooFew {
        /// The file.
        path: PathBuf,
        /// Its rows.
        found: usize,
    },
}

/// Reads the rows, with the inputs in the order of the model's `columns`. An empty cell is missing.
/// A category may stand by its name in the mapping, or by its number.
///
/// # Errors
/// [`ExpectedRowsError`] if the file is missing, lacks a column, or has too few rows.
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
            Some(cell) => number(cell, mapping.columns.get(column))
                .map(Some)
                .ok_or_else(|| wrong(column, cell)),
        };
        let cell = record.get(prediction).unwrap_or_default();
        rows.push(ExpectedRow {
            inputs: columns
                .iter()
                .zip(&places)
                .map(input)
                .collect::<Result<_, _>>()?,
            prediction: cell.parse().map_err(|_| wrong(PREDICTION, cell))?,
        });
    }
    match rows.len() {
        found if found < LEAST_ROWS => Err(ExpectedRowsError::TooFew { path, found }),
        _ => Ok(rows),
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
    cell.parse().ok().or_else(|| by_name().map(|at| at as f64))
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

    #[test]
    fn rows_are_read_by_name_in_the_models_order() {
        let rows = "80.5,terraced,1000\n".repeat(LEAST_ROWS);
        let read = refusal(Some(&format!("area,type,prediction\n{rows}")));
        let first = "ExpectedRow { inputs: [Some(1.0), Some(80.5)], prediction: 1000.0 }";
        assert_eq!(read, format!("{first} of {LEAST_ROWS}"));
        let rows = ",0,-0.5\n".repeat(LEAST_ROWS);
        let read = refusal(Some(&format!("area,type,prediction\n{rows}")));
        assert!(
            read.contains("[Some(0.0), None], prediction: -0.5"),
            "{read}"
        );
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
                "has 1 rows; write at least 10",
            ),
        ] {
            let refused = refusal(text);
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
