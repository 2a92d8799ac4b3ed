//! Homes of the made-up country that `domesday demo-data --seed 1086` writes; no such place exists.

use serde_json::{Value, json};

/// The demo's release.
pub const RELEASE: &str = "synthetic-hedonic-2027-05";
/// The snapshot that it is pinned to.
pub const SNAPSHOT: &str = "synthetic-2026-09";
/// The first and the last valuation date that it takes.
pub const WINDOW: (&str, &str) = ("2026-10-01", "2027-12-31");
/// UPRN of the house.
pub const HOUSE: &str = "999082968959";
/// UPRN of the house next door.
pub const NEIGHBOUR: &str = "999470389448";
/// UPRN of the flat.
pub const FLAT: &str = "999884241135";
/// A postcode of the house's street.
pub const POSTCODE: &str = "QA1 1AF";

/// Returns the request for a semi-detached house with two certificates, fully described.
pub fn house() -> Value {
    json!({
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "QA1 1AF",
            "building_number_or_name": "15",
            "street": "Badger Yard Gardens",
            "type": "S",
            "subtype": "house_semi_detached",
            "title_tenure": "freehold"
        },
        "occupancy": {"status": "owner_occupied"},
        "size": {"floor_area_m2": 104, "bedrooms": 3, "living_rooms": 2, "storeys": 2}
    })
}

/// Returns the house's request with these options.
pub fn house_with(options: Value) -> Value {
    let mut request = house();
    request["options"] = options;
    request
}

/// Returns the request for a flat on a lease of 90 years.
pub fn flat() -> Value {
    json!({
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "QA1 1AE",
            "building_number_or_name": "Flat 3, Fern Point, 60",
            "street": "Alder Pond Avenue",
            "type": "F",
            "subtype": "flat_purpose_built",
            "title_tenure": "leasehold"
        },
        "occupancy": {"status": "tenanted"},
        "size": {"floor_area_m2": 55, "bedrooms": 2},
        "lease": {"years_remaining": 90}
    })
}

/// Returns the house's request at another address.
pub fn at(building: &str, street: &str, postcode: &str) -> Value {
    let mut request = house();
    request["property"]["building_number_or_name"] = building.into();
    request["property"]["street"] = street.into();
    request["property"]["postcode"] = postcode.into();
    request
}

/// Returns the request for a building of three flats, without the number of a flat.
pub fn divided() -> Value {
    at("7", "Beacon Road", "QA1 1AL")
}

/// Returns the request for a shop.
pub fn shop() -> Value {
    at("3", "Falcon Yard Grove", "QA1 2AR")
}

/// Returns a request with a postcode of Scotland.
pub fn scottish() -> Value {
    at("1", "High Street", "XS1 1AA")
}

/// Returns the request for a house without a certificate.
pub fn uncertified() -> Value {
    at("8", "Amber Street", "QA1 1AB")
}

/// Returns the request for a house in Wales.
pub fn welsh() -> Value {
    at("1", "Ffordd Wharf Lark", "VR1 1AA")
}
