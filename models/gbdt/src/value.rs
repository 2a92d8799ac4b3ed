//! One valuation: the reference model's, then what the trees make of it.

use crate::columns::{Column, Target};
use crate::features::Feature;
use crate::features::seen::{Seen, Watched};
use domesday_hedonic::parameters::Parameters;
use domesday_hedonic::value::value as reference_value;
use domesday_sdk::{
    Evidence, FailureReason, Outcome, Referral, ReferralReason, Subject, Valuation, ValueRange,
};
use domesday_trees::{Forest, Scratch};

/// A model: what its release is built from.
#[derive(Clone, Copy)]
pub struct Gbdt<'a> {
    /// The reference model's numbers.
    pub reference: &'a Parameters,
    /// What fills the trees' columns, in their order.
    pub columns: &'a [Column],
    /// What the trees' answer is.
    pub target: Target,
    /// What it is added to.
    pub offset: Option<Feature>,
    /// The packed trees.
    pub trees: &'a [u64],
}

/// Values one property.
///
/// The reference model chooses and names the comparables, refers what should not be valued, and says how strong
/// the evidence is; the trees move its value. What every comparable says the subject is worth, and both ends of the
/// range, move by the same factor. So a range is calibrated on the errors of the whole.
pub fn value(model: &Gbdt<'_>, subject: &Subject, evidence: &dyn Evidence) -> Outcome {
    let watched = Watched::of(evidence);
    let valuation = match reference_value(model.reference, subject, &watched) {
        Outcome::Valued(valuation) => valuation,
        other => return other,
    };
    let Some(seen) = Seen::of(model.reference, subject, &valuation, watched) else {
        return Outcome::Failed(FailureReason::Numeric);
    };
    let Some(estimate) = estimate(model, &seen) else {
        return Outcome::Failed(FailureReason::Numeric);
    };
    let refer = &model.reference.refer;
    let departure = (libm::log(estimate) - seen.log_value).abs();
    if !(refer.least_value..=refer.greatest_value).contains(&estimate)
        || departure > refer.greatest_departure
    {
        return Outcome::Referred(Referral {
            reason: ReferralReason::UnusualValue,
            about: None,
        });
    }
    moved(valuation, estimate).map_or(Outcome::Failed(FailureReason::Numeric), Outcome::Valued)
}

/// What the trees are given, by name, then what their answer is added to. None where no value would be offered.
pub fn inputs<'a>(
    model: &Gbdt<'a>,
    subject: &Subject,
    evidence: &dyn Evidence,
) -> Option<Vec<(&'a str, f64)>> {
    let watched = Watched::of(evidence);
    let Outcome::Valued(valuation) = reference_value(model.reference, subject, &watched) else {
        return None;
    };
    let seen = Seen::of(model.reference, subject, &valuation, watched)?;
    let columns = model.columns.iter();
    let offset = model.offset.map(|offset| ("offset", offset.of(&seen)));
    Some(
        columns
            .map(|column| (column.name, column.of(&seen)))
            .chain(offset)
            .collect(),
    )
}

/// What the trees say, in pounds. None where that is no price.
fn estimate(model: &Gbdt<'_>, seen: &Seen<'_>) -> Option<f64> {
    let forest = Forest::read(model.trees).ok()?;
    let row: Vec<f64> = model.columns.iter().map(|column| column.of(seen)).collect();
    let score = forest.score(&row, &mut Scratch::default());
    let offset = model.offset.map_or(0.0, |offset| offset.of(seen));
    let answer = offset + forest.answer(score);
    let estimate = match model.target {
        Target::Price => answer,
        Target::LogPrice => libm::exp(answer),
    };
    (estimate.is_finite() && estimate > 0.0).then_some(estimate)
}

/// The valuation with another estimate, and with it all that was said in its terms.
fn moved(mut valuation: Valuation, estimate: f64) -> Option<Valuation> {
    let factor = estimate / valuation.estimate;
    for comparable in &mut valuation.comparables {
        comparable.adjusted_price *= factor;
    }
    valuation.range = valuation.range.map(|range| ValueRange {
        // The product may round past the estimate where a range is a point.
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
