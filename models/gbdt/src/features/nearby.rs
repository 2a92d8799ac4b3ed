//! Features of nearby sales.

use super::evidence::{NearbySale, RowEvidence};
use domesday_hedonic::robust_statistics;
use domesday_sdk::Nearness;

fn median(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    robust_statistics::median(values, &mut Vec::new())
}

fn mean(row: &RowEvidence<'_>, of: fn(&NearbySale) -> f64) -> Option<f64> {
    robust_statistics::mean(row.nearby().iter().map(|near| (of(near), near.weight)))
}

pub(super) fn count(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.nearby().len() as f64)
}

/// Returns the log price of a sale on the valuation day, and its weight.
fn weigh_price(near: &NearbySale) -> Option<(f64, f64)> {
    Some((near.now?, near.weight))
}

pub(super) fn log_price(row: &RowEvidence<'_>) -> Option<f64> {
    median(row.nearby().iter().filter_map(weigh_price))
}

pub(super) fn to_reference(row: &RowEvidence<'_>) -> Option<f64> {
    Some(log_price(row)? - row.log_value)
}

pub(super) fn per_sqm(row: &RowEvidence<'_>) -> Option<f64> {
    median(row.nearby().iter().filter_map(|near| {
        let area = near.sold.floor_area?;
        Some((near.now? - libm::log(area), near.weight))
    }))
}

pub(super) fn per_sqm_to_reference(row: &RowEvidence<'_>) -> Option<f64> {
    let area = row.subject.size.floor_area.filter(|area| *area > 0.0)?;
    Some(per_sqm(row)? + libm::log(area) - row.log_value)
}

pub(super) fn spread(row: &RowEvidence<'_>) -> Option<f64> {
    let middle = log_price(row)?;
    let priced = row.nearby().iter().filter_map(weigh_price);
    median(priced.map(|(price, weight)| ((price - middle).abs(), weight)))
}

pub(super) fn distance(row: &RowEvidence<'_>) -> Option<f64> {
    mean(row, |near| near.sold.distance)
}

pub(super) fn years(row: &RowEvidence<'_>) -> Option<f64> {
    mean(row, |near| near.years)
}

pub(super) fn new_build(row: &RowEvidence<'_>) -> Option<f64> {
    mean(row, |near| f64::from(u8::from(near.sold.new_build)))
}

pub(super) fn log_area(row: &RowEvidence<'_>) -> Option<f64> {
    let known = |near: &NearbySale| Some((libm::log(near.sold.floor_area?), near.weight));
    robust_statistics::mean(row.nearby().iter().filter_map(known))
}

pub(super) fn nearest_distance(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.nearby().first()?.sold.distance)
}

pub(super) fn nearest_to_reference(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.nearby().first()?.now? - row.log_value)
}

fn of_postcode<'s>(row: &'s RowEvidence<'_>) -> impl Iterator<Item = &'s NearbySale> {
    let here = |near: &&NearbySale| {
        matches!(
            near.sold.nearness,
            Nearness::SamePostcode | Nearness::SameStreet | Nearness::SameBuilding
        )
    };
    row.nearby().iter().filter(here)
}

pub(super) fn postcode_count(row: &RowEvidence<'_>) -> Option<f64> {
    Some(of_postcode(row).count() as f64)
}

pub(super) fn postcode_to_reference(row: &RowEvidence<'_>) -> Option<f64> {
    let middle = median(of_postcode(row).filter_map(weigh_price))?;
    Some(middle - row.log_value)
}
