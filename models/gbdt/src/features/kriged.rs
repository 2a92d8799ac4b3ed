//! Features of the second estimate, by kriging.

use super::seen::Seen;

pub(super) fn log_value(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.kriged()?.log_value)
}

pub(super) fn to_reference(seen: &Seen<'_>) -> Option<f64> {
    Some(log_value(seen)? - seen.log_value)
}

pub(super) fn deviation(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.kriged()?.deviation)
}

/// Half-way between the two estimates, and the reference model's where there is no other.
pub(super) fn middle(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.log_value + to_reference(seen).unwrap_or(0.0) / 2.0)
}
