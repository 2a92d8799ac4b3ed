//! Features of the home's own earlier sales.

use super::evidence::RowEvidence;

pub(super) fn count(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.own.len() as f64)
}

pub(super) fn years(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.years_since(row.own.first()?.day))
}

pub(super) fn log_price(row: &RowEvidence<'_>) -> Option<f64> {
    let last = row.own.first()?;
    row.log_price_at_valuation(last.price, last.day)
}

pub(super) fn to_reference(row: &RowEvidence<'_>) -> Option<f64> {
    Some(log_price(row)? - row.log_value)
}

pub(super) fn new_build(row: &RowEvidence<'_>) -> Option<f64> {
    Some(f64::from(u8::from(row.own.first()?.new_build)))
}

pub(super) fn former(row: &RowEvidence<'_>) -> Option<f64> {
    let former = row.own.get(1)?;
    Some(row.log_price_at_valuation(former.price, former.day)? - row.log_value)
}
