//! A packed model, used in place.

mod columns;
mod forest;
pub(crate) mod layout;
pub(crate) mod walk;

pub use forest::{Forest, PackedError};

use walk::Walks;

/// Buffers for one row, reused between rows.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    columns: Vec<u16>,
    walks: Walks,
}

impl Forest<'_> {
    /// Returns the number of inputs of a row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the raw score of a row, bit-identical to the library's.
    ///
    /// # Panics
    /// If the row has fewer numbers than the model has inputs.
    pub fn score(&self, row: &[f64], scratch: &mut Scratch) -> f64 {
        self.fill(row, &mut scratch.columns);
        self.walk(&scratch.columns, &mut scratch.walks);
        self.arithmetic.sum(scratch.walks.values.iter().copied())
    }

    /// Returns the prediction of a raw score.
    pub fn predict(&self, score: f64) -> f64 {
        let score = if self.averaged && !self.firsts.is_empty() {
            score / self.firsts.len() as f64
        } else {
            score
        };
        self.transform.apply(score)
    }
}

#[cfg(test)]
mod tests;
