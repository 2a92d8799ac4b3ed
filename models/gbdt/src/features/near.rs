//! Features of the sales near by.

use super::seen::{Near, Seen};
use domesday_hedonic::robust;
use domesday_sdk::Nearness;

fn median(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    robust::median(values, &mut Vec::new())
}

fn mean(seen: &Seen<'_>, of: fn(&Near) -> f64) -> Option<f64> {
    robust::mean(seen.near().iter().map(|near| (of(near), near.weight)))
}

pub(super) fn count(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.near().len() as f64)
}

pub(super) fn log_price(seen: &Seen<'_>) -> Option<f64> {
    median(seen.near().iter().map(|near| (near.now, near.weight)))
}

pub(super) fn to_reference(seen: &Seen<'_>) -> Option<f64> {
    Some(log_price(seen)? - seen.log_value)
}

pub(super) fn per_sqm(seen: &Seen<'_>) -> Option<f64> {
    median(seen.near().iter().filter_map(|near| {
        let area = near.sold.floor_area?;
        Some((near.now - libm::log(area), near.weight))
    }))
}

pub(super) fn per_sqm_to_reference(seen: &Seen<'_>) -> Option<f64> {
    let area = seen.subject.size.floor_area.filter(|area| *area > 0.0)?;
    Some(per_sqm(seen)? + libm::log(area) - seen.log_value)
}

pub(super) fn spread(seen: &Seen<'_>) -> Option<f64> {
    let middle = log_price(seen)?;
    median(
        seen.near()
            .iter()
            .map(|near| ((near.now - middle).abs(), near.weight)),
    )
}

pub(super) fn distance(seen: &Seen<'_>) -> Option<f64> {
    mean(seen, |near| near.sold.distance)
}

pub(super) fn years(seen: &Seen<'_>) -> Option<f64> {
    mean(seen, |near| near.years)
}

pub(super) fn new_build(seen: &Seen<'_>) -> Option<f64> {
    mean(seen, |near| f64::from(u8::from(near.sold.new_build)))
}

pub(super) fn log_area(seen: &Seen<'_>) -> Option<f64> {
    let known = |near: &Near| Some((libm::log(near.sold.floor_area?), near.weight));
    robust::mean(seen.near().iter().filter_map(known))
}

pub(super) fn nearest_distance(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.near().first()?.sold.distance)
}

pub(super) fn nearest_to_reference(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.near().first()?.now - seen.log_value)
}

fn of_postcode<'s>(seen: &'s Seen<'_>) -> impl Iterator<Item = &'s Near> {
    let here = |near: &&Near| {
        matches!(
            near.sold.nearness,
            Nearness::SamePostcode | Nearness::SameStreet | Nearness::SameBuilding
        )
    };
    seen.near().iter().filter(here)
}

pub(super) fn postcode_count(seen: &Seen<'_>) -> Option<f64> {
    Some(of_postcode(seen).count() as f64)
}

pub(super) fn postcode_to_reference(seen: &Seen<'_>) -> Option<f64> {
    let middle = median(of_postcode(seen).map(|near| (near.now, near.weight)))?;
    Some(middle - seen.log_value)
}
