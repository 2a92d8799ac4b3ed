//! Features of the home's own earlier sales.

use super::seen::Seen;

pub(super) fn count(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.own.len() as f64)
}

pub(super) fn years(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.years_since(seen.own.first()?.day))
}

pub(super) fn log_price(seen: &Seen<'_>) -> Option<f64> {
    let last = seen.own.first()?;
    Some(seen.carried(last.price, last.day))
}

pub(super) fn to_reference(seen: &Seen<'_>) -> Option<f64> {
    Some(log_price(seen)? - seen.log_value)
}

pub(super) fn new_build(seen: &Seen<'_>) -> Option<f64> {
    Some(f64::from(u8::from(seen.own.first()?.new_build)))
}

pub(super) fn former(seen: &Seen<'_>) -> Option<f64> {
    let former = seen.own.get(1)?;
    Some(seen.carried(former.price, former.day) - seen.log_value)
}
