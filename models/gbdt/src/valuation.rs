//! One valuation: the reference model's, moved to the estimate of the trees or of the stack.

use crate::columns::{Column, Target};
use crate::features::Feature;
use crate::features::evidence::{RecordedEvidence, RowEvidence};
use crate::members::Members;
use crate::stack::Stack;
use domesday_hedonic::parameters::Parameters;
use domesday_hedonic::valuation::value as reference_value;
use domesday_sdk::{
    Evidence, FailureReason, Outcome, Referral, ReferralReason, Subject, Valuation, ValueRange,
};
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

/// Values one property.
///
/// The reference model chooses the comparables, refers properties and scores the evidence. The
/// trees, or the stack, move its estimate. Every adjusted price and both ends of the range move by
/// the same factor. So the calibration covers the errors of the whole.
pub fn value(model: &Gbdt<'_>, subject: &Subject, evidence: &dyn Evidence) -> Outcome {
    let recorded = RecordedEvidence::of(evidence);
    let valuation = match reference_value(model.reference, subject, &recorded) {
        Outcome::Valued(valuation) => valuation,
        other => return other,
    };
    let Some(row) = RowEvidence::of(model.reference, subject, &valuation, recorded) else {
        return Outcome::Failed(FailureReason::Numeric);
    };
    let members = model
        .stack
        .map(|stack| (stack, Members::of(model, stack, &row)));
    let estimate = match &members {
        None => trees_estimate(model, &row),
        Some((_, members)) => members.as_ref().map(Members::estimate),
    };
    let Some(estimate) = estimate else {
        return Outcome::Failed(FailureReason::Numeric);
    };
    let refer = &model.reference.referral;
    let departure = (libm::log(estimate) - row.log_value).abs();
    if !(refer.least_value..=refer.greatest_value).contains(&estimate)
        || departure > refer.greatest_departure
    {
        return Outcome::Referred(Referral {
            reason: ReferralReason::UnusualValue,
            about: None,
        });
    }
    let kind = row.kind;
    let Some(mut moved) = rescale(valuation, estimate) else {
        return Outcome::Failed(FailureReason::Numeric);
    };
    if let Some((stack, Some(members))) = &members {
        members.set_confidence(model, stack, kind, subject, &mut moved);
    }
    Outcome::Valued(moved)
}

/// Returns the trees' inputs by name. The members and weights of a stack follow, then the offset.
/// Returns `None` if there is no value.
pub fn inputs<'a>(
    model: &Gbdt<'a>,
    subject: &Subject,
    evidence: &dyn Evidence,
) -> Option<Vec<(&'a str, f64)>> {
    let recorded = RecordedEvidence::of(evidence);
    let Outcome::Valued(valuation) = reference_value(model.reference, subject, &recorded) else {
        return None;
    };
    let row = RowEvidence::of(model.reference, subject, &valuation, recorded)?;
    let columns = model.columns.iter();
    let offset = model.offset.map(|offset| ("offset", offset.of(&row)));
    let members = match model.stack {
        None => None,
        Some(stack) => Some(Members::of(model, stack, &row)?),
    };
    Some(
        columns
            .map(|column| (column.name, column.of(&row)))
            .chain(members.iter().flat_map(Members::shown))
            .chain(offset)
            .collect(),
    )
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

/// Moves the estimate, and every price and range with it.
fn rescale(mut valuation: Valuation, estimate: f64) -> Option<Valuation> {
    let factor = estimate / valuation.estimate;
    for comparable in &mut valuation.comparables {
        comparable.adjusted_price *= factor;
    }
    valuation.range = valuation.range.map(|range| ValueRange {
        // The product may round past the estimate if the range is a point.
        lower: (range.lower * factor).min(estimate),
        upper: (range.upper * factor).max(estimate),
    });
    valuation.estimate = estimate;
    let prices = valuation.comparables.iter().map(|c| c.adjusted_price);
    let ends = valuation.range.iter().flat_map(|r| [r.lower, r.upper]);
    prices
        .chain(ends)
        .all(|price| price.is_finite() && price > 0.0)
        .then_some(valuation)
}

#[cfg(test)]
mod tests;
