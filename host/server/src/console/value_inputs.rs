//! The values that stored data gave for blank inputs, which a response names without their values.

use domesday_property::{Attributes, Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::AgeBand;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the stored values of a valued home as at its valuation date, by the JSON Pointer of their
/// input. Blocks.
///
/// # Errors
/// The snapshot cannot be read.
pub(super) fn stored_values(
    snapshot: &Snapshot,
    response: &Value,
) -> Result<BTreeMap<String, String>, SnapshotError> {
    let uprn = response["property"]["uprn"].as_str();
    let uprn = uprn.and_then(|uprn| uprn.parse().ok());
    let day = response["valuation"]["date"].as_str();
    let (Some(uprn), Some(day)) = (uprn, day.and_then(Day::parse_iso)) else {
        return Ok(BTreeMap::new());
    };
    let property = snapshot.property(uprn)?;
    let stored = property.and_then(|property| property.attributes_before(day));
    Ok(stored.map_or_else(BTreeMap::new, |stored| values_of(&stored)))
}

fn values_of(stored: &Attributes) -> BTreeMap<String, String> {
    let values = [
        ("/size/floor_area_m2", words(stored.floor_area_m2)),
        ("/size/habitable_rooms", words(stored.habitable_rooms)),
        ("/size/floor_level", words(stored.floor_level)),
        ("/fabric/wall_type", words(stored.wall_type)),
        ("/fabric/roof_type", words(stored.roof_type)),
        ("/fabric/floor_type", words(stored.floor_type)),
        ("/fabric/glazing", words(stored.glazing)),
        (
            "/energy/construction_age_band",
            stored.age_band.map(|band| age_words(band).to_owned()),
        ),
        ("/energy/rating", words(stored.rating)),
        ("/energy/efficiency_score", words(stored.efficiency_score)),
    ];
    let known = values.into_iter();
    let known = known.filter_map(|(field, value)| Some((field.to_owned(), value?)));
    known.collect()
}

/// Returns a value as a page writes it.
fn words(value: Option<impl Serialize>) -> Option<String> {
    match serde_json::to_value(value?).ok()? {
        Value::String(text) => Some(text.replace('_', " ")),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn age_words(band: AgeBand) -> &'static str {
    match band {
        AgeBand::A => "before 1900",
        AgeBand::B => "1900 to 1929",
        AgeBand::C => "1930 to 1949",
        AgeBand::D => "1950 to 1966",
        AgeBand::E => "1967 to 1975",
        AgeBand::F => "1976 to 1982",
        AgeBand::G => "1983 to 1990",
        AgeBand::H => "1991 to 1995",
        AgeBand::I => "1996 to 2002",
        AgeBand::J => "2003 to 2006",
        AgeBand::K => "2007 to 2011",
        AgeBand::L => "2012 onwards",
    }
}
