//! Features of the reference model's valuation.

use super::evidence::RowEvidence;
use domesday_hedonic::robust_statistics;

pub(super) fn log_value(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.log_value)
}

pub(super) fn value(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.reference.estimate)
}

pub(super) fn dispersion(row: &RowEvidence<'_>) -> Option<f64> {
    row.reference.dispersion
}

pub(super) fn own_share(row: &RowEvidence<'_>) -> Option<f64> {
    row.reference.own_sales_share
}

pub(super) fn similarity(row: &RowEvidence<'_>) -> Option<f64> {
    let named = &row.reference.comparables;
    robust_statistics::mean(named.iter().map(|sale| (sale.similarity, 1.0)))
}
