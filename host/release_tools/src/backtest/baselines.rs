//! Two rules that need no model, answered from the evidence that the release is shown.

use domesday_engine::evidence::{
    AreaLevel, EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource,
};
use domesday_engine::subject::Subject;

/// The smallest first.
const LEVELS: [AreaLevel; 3] = [
    AreaLevel::PostcodeSector,
    AreaLevel::PostcodeDistrict,
    AreaLevel::LocalAuthority,
];

/// Returns the property's last category A sale, carried on by the index of its type, pounds.
/// Returns `None` without such a sale, and where the index does not reach back to its month.
///
/// The index is as a reader of the evidence has it: up to the last month that is known, and level
/// from there on.
///
/// # Errors
/// [`EvidenceError`] if the evidence cannot be read.
pub fn last_sale_indexed(
    subject: &Subject,
    evidence: &dyn EvidenceSource,
) -> Result<Option<f64>, EvidenceError> {
    let EvidenceResponse::Sales(own) = evidence.ask(subject, &EvidenceQuery::OwnSales)? else {
        return Ok(None);
    };
    let Some(last) = own.iter().find(|sale| sale.standard && sale.price_gbp > 0) else {
        return Ok(None);
    };
    let then = last.day.month();
    let question = EvidenceQuery::PriceIndex {
        kind: Some(subject.property_type),
        since: i32::MIN,
    };
    let EvidenceResponse::Index(Some(series)) = evidence.ask(subject, &question)? else {
        return Ok(None);
    };
    let Some(&(latest, now)) = series.points.last() else {
        return Ok(None);
    };
    let month = then.min(latest);
    let at_sale = series.points.iter().find(|(known, _)| *known == month);
    Ok(at_sale.map(|(_, value)| last.price_gbp as f64 * now / value))
}

/// Pounds per square metre of the type in the smallest area with the figure, times the floor area.
///
/// # Errors
/// [`EvidenceError`] if the evidence cannot be read.
pub fn local_price_per_sqm(
    subject: &Subject,
    evidence: &dyn EvidenceSource,
) -> Result<Option<f64>, EvidenceError> {
    let Some(area) = subject.size.floor_area_m2 else {
        return Ok(None);
    };
    for level in LEVELS {
        let question = EvidenceQuery::AreaFigures {
            level,
            kind: Some(subject.property_type),
        };
        if let EvidenceResponse::Figures(Some(figures)) = evidence.ask(subject, &question)?
            && let Some(rate) = figures.price_per_sqm_gbp
        {
            return Ok(Some(rate * area));
        }
    }
    Ok(None)
}
