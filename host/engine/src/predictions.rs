//! Recorded predictions: rows of a model's own inputs, by the component's export of
//! `wit/predictions`.
//!
//! A team brings the rows with the predictions of the library that trained its model. A fixture
//! cannot hold them, since no home and no evidence has just those inputs. So a package records them
//! beside its fixtures, and a replay proves both.

use crate::evidence::RecordedEvidence;
use crate::fixture::{FixtureError, read_lines, write_lines};
use crate::outcome::RowFailure;
use crate::release::Release;
use crate::replay::Mismatch;
use crate::subject::Subject;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The file of a package that holds them.
pub const FILE: &str = "predictions.jsonl";
/// The export's name.
const PREDICT: &str = "predict";
/// The largest difference from the library's prediction, as a share of it. A library of single
/// precision is no closer.
const TOLERANCE: f64 = 1e-6;
/// Rows of a file and inputs of a row at most. A replay holds them all, and models have fewer.
const MOST_ROWS: usize = 10_000;
const MOST_INPUTS: usize = 4_096;

/// One row of a model's inputs with its predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPrediction {
    /// The row's name in messages; unique in its file.
    pub row: String,
    /// The inputs, in the order of the model's columns. None is a missing one.
    pub inputs: Vec<Option<f64>>,
    /// The prediction of the library that trained the model.
    pub expected: f64,
    /// The prediction of the component, which a replay must repeat to the bit.
    pub prediction: f64,
}

impl RecordedPrediction {
    /// Predicts a row and records it. `stand_in` is any home: no prediction depends on it.
    ///
    /// # Errors
    /// [`Mismatch`] if the component does not predict what the library did, or fails.
    pub fn record(
        row: String,
        release: &Release,
        (inputs, expected): (Vec<Option<f64>>, f64),
        stand_in: &Arc<Subject>,
    ) -> Result<RecordedPrediction, Mismatch> {
        let prediction = predict(release, &row, &inputs, stand_in)?;
        let recorded = RecordedPrediction {
            row,
            inputs,
            expected,
            prediction,
        };
        recorded.agrees_with_library()?;
        Ok(recorded)
    }

    /// Predicts the row again. `stand_in` is any home: no prediction depends on it.
    ///
    /// # Errors
    /// [`Mismatch`] if the component's prediction is not the same to the bit, or not the library's.
    pub fn replay(&self, release: &Release, stand_in: &Arc<Subject>) -> Result<(), Mismatch> {
        let found = predict(release, &self.row, &self.inputs, stand_in)?;
        self.repeats(found)?;
        self.agrees_with_library()
    }

    /// Compares the recorded prediction with one of now, by their bits.
    fn repeats(&self, found: f64) -> Result<(), Mismatch> {
        match found.to_bits() == self.prediction.to_bits() {
            true => Ok(()),
            false => Err(self.mismatch("/prediction", self.prediction, found)),
        }
    }

    fn agrees_with_library(&self) -> Result<(), Mismatch> {
        let difference = (self.prediction - self.expected).abs();
        // No number agrees with nothing.
        match difference <= TOLERANCE * self.expected.abs().max(1.0) {
            true => Ok(()),
            false => Err(self.mismatch("/expected", self.expected, self.prediction)),
        }
    }

    fn mismatch(&self, field: &str, expected: f64, found: f64) -> Mismatch {
        Mismatch {
            row: self.row.clone(),
            field: field.to_owned(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

fn predict(
    release: &Release,
    row: &str,
    inputs: &[Option<f64>],
    stand_in: &Arc<Subject>,
) -> Result<f64, Mismatch> {
    let numbers: Vec<f64> = inputs
        .iter()
        .map(|input| input.unwrap_or(f64::NAN))
        .collect();
    let mismatch = |found: String| Mismatch {
        row: row.to_owned(),
        field: "/prediction".to_owned(),
        expected: "a prediction".to_owned(),
        found,
    };
    match release.predict(&numbers, stand_in) {
        Ok(Some(prediction)) if prediction.is_finite() => Ok(prediction),
        Ok(Some(prediction)) => Err(mismatch(prediction.to_string())),
        Ok(None) => Err(mismatch(format!(
            "none: the model does not have {} inputs",
            inputs.len()
        ))),
        Err(failure) => Err(mismatch(failure.to_string())),
    }
}

impl Release {
    /// Reports whether the component predicts from its model's inputs alone.
    pub fn predicts(&self) -> bool {
        self.has_export(PREDICT)
    }

    /// Returns the model's prediction for a row of its inputs, or `None` if it has another number
    /// of them. `stand_in` is the subject of the sandbox, which has no evidence.
    ///
    /// # Errors
    /// As a valuation: the release's own failure, or the host's. A component without the export
    /// fails.
    pub fn predict(
        &self,
        inputs: &[f64],
        stand_in: &Arc<Subject>,
    ) -> Result<Option<f64>, RowFailure> {
        let evidence = Arc::new(RecordedEvidence::new(Vec::new()));
        let (prediction,) = self.call_export(PREDICT, (stand_in, evidence), (inputs,))?;
        Ok(prediction)
    }
}

/// Reads a file of recorded predictions. Empty lines are passed over.
///
/// # Errors
/// [`FixtureError::NotAFixture`] or [`FixtureError::NameRepeated`] with the number of the bad line.
/// [`FixtureError::Empty`] if there is no line. [`FixtureError::TooLarge`] above 10,000 rows or
/// 4,096 inputs of a row.
pub fn read(from: impl BufRead) -> Result<Vec<RecordedPrediction>, FixtureError> {
    read_lines(from, |row: &RecordedPrediction| &row.row, admit)
}

/// Returns the bound and its kind where a row with its number exceeds one.
fn admit(number: usize, row: &RecordedPrediction) -> Result<(), (usize, &'static str)> {
    if number > MOST_ROWS {
        Err((MOST_ROWS, "rows"))
    } else if row.inputs.len() > MOST_INPUTS {
        Err((MOST_INPUTS, "inputs a row"))
    } else {
        Ok(())
    }
}

/// Writes recorded predictions, one a line.
///
/// # Errors
/// [`FixtureError::Io`] if writing fails. [`FixtureError::TooLarge`] where no file could be read.
pub fn write(rows: &[RecordedPrediction], to: impl Write) -> Result<(), FixtureError> {
    for (line, row) in (1..).zip(rows) {
        let too_large = |(most, what)| FixtureError::TooLarge { line, most, what };
        admit(line, row).map_err(too_large)?;
    }
    write_lines(rows, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(expected: f64, prediction: f64) -> RecordedPrediction {
        RecordedPrediction {
            row: "expected-1".to_owned(),
            inputs: vec![Some(0.1), None],
            expected,
            prediction,
        }
    }

    #[test]
    fn a_prediction_agrees_within_a_millionth_of_the_librarys() {
        assert_eq!(row(250_000.0, 250_000.2).agrees_with_library(), Ok(()));
        assert_eq!(row(0.0, 9e-7).agrees_with_library(), Ok(()));
        let found = row(250_000.0, 250_000.3).agrees_with_library();
        let found = found.unwrap_err().to_string();
        assert_eq!(
            found,
            "row \"expected-1\": /expected was 250000 and is 250000.3"
        );
        assert!(row(f64::NAN, 1.0).agrees_with_library().is_err());
    }

    /// A prediction that the library's tolerance admits.
    #[test]
    fn the_last_bit_of_a_prediction_counts() {
        let recorded = row(250_000.0, 250_000.1);
        assert_eq!(recorded.repeats(250_000.1), Ok(()));
        for found in [250_000.1_f64.next_up(), 250_000.1_f64.next_down()] {
            let mismatch = recorded.repeats(found).unwrap_err();
            assert_eq!(mismatch.field, "/prediction");
            assert_eq!(row(250_000.0, found).agrees_with_library(), Ok(()));
        }
        assert!(row(0.0, 0.0).repeats(-0.0).is_err());
    }

    #[test]
    fn a_file_of_too_many_rows_or_inputs_is_refused() {
        let of = |rows: usize, inputs: usize| {
            let row = |at: usize| RecordedPrediction {
                row: at.to_string(),
                inputs: vec![None; if at == 0 { inputs } else { 1 }],
                ..row(1.0, 1.0)
            };
            let rows: Vec<RecordedPrediction> = (0..rows).map(row).collect();
            let mut written = Vec::new();
            write_lines(&rows, &mut written).unwrap();
            let read = read(written.as_slice()).map(|rows| rows.len());
            // No build writes what no check reads.
            assert_eq!(write(&rows, Vec::new()).is_ok(), read.is_ok());
            read
        };
        assert_eq!(of(MOST_ROWS, MOST_INPUTS).unwrap(), MOST_ROWS);
        let refused = of(MOST_ROWS + 1, 1).unwrap_err().to_string();
        assert_eq!(refused, "line 10001: the file may have 10000 rows");
        let refused = of(1, MOST_INPUTS + 1).unwrap_err().to_string();
        assert_eq!(refused, "line 1: the file may have 4096 inputs a row");
    }

    #[test]
    fn rows_are_read_as_they_were_written_and_a_name_may_not_repeat() {
        let rows = [row(12.1, 12.100_000_000_000_01)];
        let mut written = Vec::new();
        write(&rows, &mut written).unwrap();
        assert_eq!(read(written.as_slice()).unwrap(), rows);
        write(&rows, &mut written).unwrap();
        assert!(matches!(
            read(written.as_slice()),
            Err(FixtureError::NameRepeated { line: 2, .. })
        ));
        assert!(matches!(read(&b"\n"[..]), Err(FixtureError::Empty)));
    }
}
