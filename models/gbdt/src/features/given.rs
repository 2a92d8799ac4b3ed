//! Features of the subject alone.

use super::seen::Seen;
use domesday_hedonic::derive::rooms;
use domesday_hedonic::kind::age_index;
use domesday_hedonic::time::{DAYS_A_YEAR, month_of, years_between};
use domesday_sdk::{
    BuildStatus, Country, EnergyRating, FloorType, Glazing, Occupancy, PlacePrecision,
    PropertySubtype, RoofType, Tenure, WallType,
};

/// A case's position in the interface, which is that in the list of the feature; none for `other`.
macro_rules! position {
    ($value:expr, $other:path) => {
        Some($value)
            .filter(|value| *value != $other)
            .map(|value| f64::from(value as u8))
    };
}

pub(super) fn property_type(seen: &Seen<'_>) -> Option<f64> {
    Some(f64::from(seen.kind.property_type() as u8))
}

pub(super) fn subtype(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.subtype, PropertySubtype::Other)
}

pub(super) fn tenure(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.tenure, Tenure::Other)
}

pub(super) fn country(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.country, Country::Other)
}

pub(super) fn precision(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.precision, PlacePrecision::Other)
}

pub(super) fn occupancy(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.occupancy, Occupancy::Other)
}

pub(super) fn wall(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.fabric.wall_type?, WallType::Other)
}

pub(super) fn roof(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.fabric.roof_type?, RoofType::Other)
}

pub(super) fn floor(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.fabric.floor_type?, FloorType::Other)
}

pub(super) fn glazing(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.fabric.glazing?, Glazing::Other)
}

/// The authority is a code; its column finds its number.
pub(super) fn no_number(_: &Seen<'_>) -> Option<f64> {
    None
}

pub(super) fn new_build(seen: &Seen<'_>) -> Option<f64> {
    let new = seen.subject.build_status == BuildStatus::NewBuild;
    Some(f64::from(u8::from(new)))
}

pub(super) fn floor_area(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.size.floor_area
}

pub(super) fn bedrooms(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.size.bedrooms.map(f64::from)
}

pub(super) fn living_rooms(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.size.living_rooms.map(f64::from)
}

pub(super) fn habitable_rooms(seen: &Seen<'_>) -> Option<f64> {
    rooms(seen.subject).map(f64::from)
}

pub(super) fn storeys(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.size.storeys.map(f64::from)
}

pub(super) fn floor_level(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.size.floor_level.map(f64::from)
}

pub(super) fn lease_years(seen: &Seen<'_>) -> Option<f64> {
    Some(seen.subject.lease.as_ref()?.years_remaining)
}

pub(super) fn ground_rent(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.lease.as_ref()?.ground_rent
}

pub(super) fn service_charge(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.lease.as_ref()?.service_charge
}

pub(super) fn age_band(seen: &Seen<'_>) -> Option<f64> {
    age_index(seen.subject.energy.age_band?).map(|band| band as f64)
}

pub(super) fn energy_rating(seen: &Seen<'_>) -> Option<f64> {
    position!(seen.subject.energy.rating?, EnergyRating::Other)
}

pub(super) fn energy_score(seen: &Seen<'_>) -> Option<f64> {
    seen.subject.energy.score.map(f64::from)
}

pub(super) fn easting(seen: &Seen<'_>) -> Option<f64> {
    Some(f64::from(seen.subject.place.easting))
}

pub(super) fn northing(seen: &Seen<'_>) -> Option<f64> {
    Some(f64::from(seen.subject.place.northing))
}

pub(super) fn year(seen: &Seen<'_>) -> Option<f64> {
    Some(1970.0 + f64::from(seen.subject.valuation_day) / DAYS_A_YEAR)
}

pub(super) fn month(seen: &Seen<'_>) -> Option<f64> {
    let (month, _) = month_of(seen.subject.valuation_day);
    Some(f64::from(month.rem_euclid(12) + 1))
}

pub(super) fn unseen_years(seen: &Seen<'_>) -> Option<f64> {
    let through = seen.subject.evidence_through?;
    Some(years_between(through.saturating_add(1), seen.subject.valuation_day).max(0.0))
}
