//! Features of the subject alone.

use super::evidence::RowEvidence;
use domesday_hedonic::floor_area::rooms;
use domesday_hedonic::property_kind::age_index;
use domesday_hedonic::time::{DAYS_A_YEAR, month_of, years_between};
use domesday_sdk::{
    BuildStatus, Country, EnergyRating, FloorType, Glazing, Occupancy, PlacePrecision,
    PropertySubtype, RoofType, Tenure, WallType,
};

/// Returns a case's position in the interface and in the feature's list, or `None` for `other`.
macro_rules! position {
    ($value:expr, $other:path) => {
        Some($value)
            .filter(|value| *value != $other)
            .map(|value| f64::from(value as u8))
    };
}

pub(super) fn property_type(row: &RowEvidence<'_>) -> Option<f64> {
    Some(f64::from(row.kind.property_type() as u8))
}

pub(super) fn subtype(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.subtype, PropertySubtype::Other)
}

pub(super) fn tenure(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.tenure, Tenure::Other)
}

pub(super) fn country(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.country, Country::Other)
}

pub(super) fn precision(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.precision, PlacePrecision::Other)
}

pub(super) fn occupancy(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.occupancy, Occupancy::Other)
}

pub(super) fn wall(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.fabric.wall_type?, WallType::Other)
}

pub(super) fn roof(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.fabric.roof_type?, RoofType::Other)
}

pub(super) fn floor(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.fabric.floor_type?, FloorType::Other)
}

pub(super) fn glazing(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.fabric.glazing?, Glazing::Other)
}

/// Returns no number: an authority is a code, which its column converts.
pub(super) fn no_number(_: &RowEvidence<'_>) -> Option<f64> {
    None
}

pub(super) fn new_build(row: &RowEvidence<'_>) -> Option<f64> {
    let new = row.subject.build_status == BuildStatus::NewBuild;
    Some(f64::from(u8::from(new)))
}

pub(super) fn floor_area(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.size.floor_area
}

pub(super) fn bedrooms(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.size.bedrooms.map(f64::from)
}

pub(super) fn living_rooms(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.size.living_rooms.map(f64::from)
}

pub(super) fn habitable_rooms(row: &RowEvidence<'_>) -> Option<f64> {
    rooms(row.subject).map(|rooms| f64::from(rooms.fewest))
}

pub(super) fn storeys(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.size.storeys.map(f64::from)
}

pub(super) fn floor_level(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.size.floor_level.map(f64::from)
}

pub(super) fn lease_years(row: &RowEvidence<'_>) -> Option<f64> {
    Some(row.subject.lease.as_ref()?.years_remaining)
}

pub(super) fn ground_rent(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.lease.as_ref()?.ground_rent
}

pub(super) fn service_charge(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.lease.as_ref()?.service_charge
}

pub(super) fn age_band(row: &RowEvidence<'_>) -> Option<f64> {
    age_index(row.subject.energy.age_band?).map(|band| band as f64)
}

pub(super) fn energy_rating(row: &RowEvidence<'_>) -> Option<f64> {
    position!(row.subject.energy.rating?, EnergyRating::Other)
}

pub(super) fn energy_score(row: &RowEvidence<'_>) -> Option<f64> {
    row.subject.energy.score.map(f64::from)
}

pub(super) fn easting(row: &RowEvidence<'_>) -> Option<f64> {
    Some(f64::from(row.subject.place.easting))
}

pub(super) fn northing(row: &RowEvidence<'_>) -> Option<f64> {
    Some(f64::from(row.subject.place.northing))
}

pub(super) fn year(row: &RowEvidence<'_>) -> Option<f64> {
    Some(1970.0 + f64::from(row.subject.valuation_day) / DAYS_A_YEAR)
}

pub(super) fn month(row: &RowEvidence<'_>) -> Option<f64> {
    let (month, _) = month_of(row.subject.valuation_day);
    Some(f64::from(month.rem_euclid(12) + 1))
}

pub(super) fn unseen_years(row: &RowEvidence<'_>) -> Option<f64> {
    let through = row.subject.evidence_through?;
    Some(years_between(through.saturating_add(1), row.subject.valuation_day).max(0.0))
}
