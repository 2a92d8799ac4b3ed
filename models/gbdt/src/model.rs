//! The parts of a release's model, and the estimate of its trees.

use crate::columns::{Column, Target};
use crate::features::Feature;
use crate::features::evidence::RowEvidence;
use crate::stack::Stack;
use domesday_hedonic::parameters::Parameters;
use domesday_trees::{Forest, Scratch};

/// The parts of a release's model.
#[derive(Clone, Copy)]
pub struct Gbdt<'a> {
    /// Parameters of the reference model.
    pub reference: &'a Parameters,
    /// Columns of the trees, in their order.
    pub columns: &'a [Column],
    /// Meaning of the trees' score.
    pub target: Target,
    /// Feature that the score is added to.
    pub offset: Option<Feature>,
    /// The packed trees.
    pub trees: &'a [u64],
    /// Weights of the members. Without them the trees alone give the estimate.
    pub stack: Option<&'a Stack>,
}

/// Returns the weight of the home's own sales in the trees' estimate, from 0 to 1, where the
/// reference model states its own.
///
/// It is that of the value which the trees correct. Trees that give the price outright count with
/// the reference model's, since no weight can be read off them.
pub(crate) fn trees_own_share(model: &Gbdt<'_>, row: &RowEvidence<'_>) -> Option<f64> {
    let reference = row.reference.own_sales_share?;
    Some(match model.offset {
        Some(Feature::KrigedLogValue) => row.kriged_own_share().unwrap_or(reference),
        Some(Feature::MiddleLogValue) => {
            let kriged = row.kriged_own_share().unwrap_or(reference);
            (reference + kriged) / 2.0
        }
        _ => reference,
    })
}

/// Returns the trees' prediction for a row of their inputs, without the offset. Returns `None` if
/// the trees have another number of columns.
pub fn predict(model: &Gbdt<'_>, inputs: &[f64]) -> Option<f64> {
    let forest = Forest::read(model.trees).ok()?;
    (inputs.len() == model.columns.len())
        .then(|| forest.predict(forest.score(inputs, &mut Scratch::default())))
}

/// Returns the trees' estimate in pounds, or `None` if it is not a price.
pub(crate) fn trees_estimate(model: &Gbdt<'_>, row: &RowEvidence<'_>) -> Option<f64> {
    let forest = Forest::read(model.trees).ok()?;
    let inputs: Vec<f64> = model.columns.iter().map(|column| column.of(row)).collect();
    let score = forest.score(&inputs, &mut Scratch::default());
    let offset = model.offset.map_or(0.0, |offset| offset.of(row));
    let prediction = offset + forest.predict(score);
    let estimate = match model.target {
        Target::Price => prediction,
        Target::LogPrice => libm::exp(prediction),
    };
    (estimate.is_finite() && estimate > 0.0).then_some(estimate)
}
