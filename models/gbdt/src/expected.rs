//! Rows of inputs with the predictions that the library gave that trained a model.
//!
//! A team brings them with its model. They go into the file of parameters, so that each build of
//! the component compares the packed trees with the library again.

use domesday_trees::{Arithmetic, Ensemble, Forest, ModelError, PackedError, Scratch, pack};
use serde::{Deserialize, Serialize};

/// The fewest rows that a model brings.
pub const LEAST_ROWS: usize = 10;
/// The largest difference of a prediction, as a share of it. A library's exponential may differ in
/// its last digits, and a file may state fewer of them.
const DOUBLE_TOLERANCE: f64 = 1e-9;
/// The same for XGBoost, which computes in single precision.
const SINGLE_TOLERANCE: f64 = 1e-6;

/// A row of inputs and its prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRow {
    /// The inputs, in the order of the model's. None is a missing one.
    pub inputs: Vec<Option<f64>>,
    /// The prediction of the library: the score after the objective's transform, without an offset.
    pub prediction: f64,
}

/// The reason why expected predictions are refused.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    /// A row has another number of inputs.
    #[error("expected row {row} has {found} inputs, and the model has {needed}")]
    Inputs {
        /// The row, counted from 1.
        row: usize,
        /// Its inputs.
        found: usize,
        /// The model's.
        needed: usize,
    },
    /// The trees predict something else.
    #[error(
        "expected row {row}: the model predicts {found}, and the row expects {expected}; compare the categories and the order of the columns"
    )]
    Prediction {
        /// The row, counted from 1.
        row: usize,
        /// The prediction of the packed trees.
        found: f64,
        /// The expected one.
        expected: f64,
    },
    /// The trees cannot be packed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The packed trees cannot be read.
    #[error(transparent)]
    Packed(#[from] PackedError),
}

/// Compares the packed trees with every row.
///
/// # Errors
/// [`ExpectedError`] for the first row that differs.
pub fn check(trees: &Ensemble, rows: &[ExpectedRow]) -> Result<(), ExpectedError> {
    if rows.is_empty() {
        return Ok(());
    }
    let words = pack(trees)?;
    let forest = Forest::read(&words)?;
    let mut scratch = Scratch::default();
    let tolerance = match trees.arithmetic {
        Arithmetic::LightGbm => DOUBLE_TOLERANCE,
        Arithmetic::XgBoost { .. } => SINGLE_TOLERANCE,
    };
    for (row, expected) in (1..).zip(rows) {
        if expected.inputs.len() != trees.inputs.len() {
            return Err(ExpectedError::Inputs {
                row,
                found: expected.inputs.len(),
                needed: trees.inputs.len(),
            });
        }
        let inputs = expected
            .inputs
            .iter()
            .map(|input| input.unwrap_or(f64::NAN));
        let inputs: Vec<f64> = inputs.collect();
        let found = forest.predict(forest.score(&inputs, &mut scratch));
        let difference = (found - expected.prediction).abs();
        // NaN agrees with nothing.
        let agrees = difference <= tolerance * expected.prediction.abs().max(1.0);
        if !agrees {
            return Err(ExpectedError::Prediction {
                row,
                found,
                expected: expected.prediction,
            });
        }
    }
    Ok(())
}
