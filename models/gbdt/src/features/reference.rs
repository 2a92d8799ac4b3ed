//! Features of the reference model's own valuation.

use super::seen::Seen;
use domesday_hedonic::robust;

pub(super) fn log_value(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.log_value)
}

pub(super) fn value(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.reference.estimate)
}

pub(super) fn dispersion(seen: &Seen<'_>) -> Option<f64> {
    seen.reference.dispersion
}

pub(super) fn own_share(seen: &Seen<'_>) -> Option<f64> {
    seen.reference.own_sales_share
}

pub(super) fn similarity(seen: &Seen<'_>) -> Option<f64> {
    let named = &seen.reference.comparables;
    robust::mean(named.iter().map(|sale| (sale.similarity, 1.0)))
}
