//! The rows of expected predictions that a model brings, as recorded predictions of the package.

use super::{BuildError, Component};
use domesday_engine::predictions::{RecordedPrediction, write};
use domesday_engine::subject::Subject;
use serde::Deserialize;
use std::sync::Arc;

/// The part of a file of parameters that has the rows. Each model has a format for the rest.
#[derive(Deserialize)]
struct WithExpected {
    #[serde(default)]
    expected: Vec<ExpectedRow>,
}

/// One row that a team brings.
#[derive(Deserialize)]
struct ExpectedRow {
    inputs: Vec<Option<f64>>,
    prediction: f64,
}

/// Predicts the rows that the parameters state under `expected`, and returns the file that records
/// them. Returns `None` where the component does not predict, or the parameters state none.
/// `stand_in` is any home.
///
/// # Errors
/// [`BuildError::Prediction`] if the component does not predict what the library did.
/// [`BuildError::Json`] if the rows are not of this shape.
pub fn record(
    parameters: &[u8],
    component: &Component,
    stand_in: &Arc<Subject>,
) -> Result<Option<Vec<u8>>, BuildError> {
    if !component.release.predicts() {
        return Ok(None);
    }
    let rows = read(parameters)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let record = |(number, row): (usize, ExpectedRow)| {
        let name = format!("expected-{number}");
        let row = (row.inputs, row.prediction);
        RecordedPrediction::record(name, &component.release, row, stand_in)
    };
    let recorded = (1..).zip(rows).map(record);
    let recorded = recorded.collect::<Result<Vec<_>, _>>()?;
    let mut lines = Vec::new();
    write(&recorded, &mut lines)?;
    Ok(Some(lines))
}

fn read(parameters: &[u8]) -> Result<Vec<ExpectedRow>, serde_json::Error> {
    Ok(serde_json::from_slice::<WithExpected>(parameters)?.expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_whatever_else_the_parameters_hold() {
        let found =
            read(br#"{"a": 1, "expected": [{"inputs": [1.5, null], "prediction": 12.25}]}"#);
        let found = found.unwrap();
        assert_eq!(found[0].inputs, [Some(1.5), None]);
        assert_eq!(found[0].prediction.to_bits(), 12.25_f64.to_bits());
        assert!(read(br#"{"trees": ""}"#).unwrap().is_empty());
        assert!(read(br#"{"expected": [1]}"#).is_err());
    }
}
