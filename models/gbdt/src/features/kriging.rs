//! Features of the kriging estimate.

use super::evidence::RowEvidence;

pub(super) fn log_value(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.kriging_estimate()?.log_value)
}

pub(super) fn to_reference(row: &RowEvidence<'_>) -> Option<f64> {
    Some(log_value(row)? - row.log_value)
}

pub(super) fn deviation(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.kriging_estimate()?.deviation)
}

/// Returns the mean of the two estimates, or the reference model's alone.
pub(super) fn middle(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.log_value + to_reference(row).unwrap_or(0.0) / 2.0)
}
