//! One valuation: the reference model's, moved to the estimate of the trees or of the stack.

use crate::features::evidence::{RecordedEvidence, RowEvidence};
use crate::members::Members;
use crate::model::{Gbdt, trees_estimate, trees_own_share};
use domesday_hedonic::valuation::value as reference_value;
use domesday_sdk::{
    Evidence, FailureReason, Outcome, Referral, ReferralReason, Subject, Valuation, ValueRange,
};

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
    let own_sales_share = match &members {
        Some((_, Some(members))) => members.own_sales_share(),
        _ => trees_own_share(model, &row),
    };
    let Some(mut moved) = rescale(valuation, estimate) else {
        return Outcome::Failed(FailureReason::Numeric);
    };
    moved.own_sales_share = own_sales_share;
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
            .chain(members.iter().flat_map(Members::by_name))
            .chain(offset)
            .collect(),
    )
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
