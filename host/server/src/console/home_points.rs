//! The points of a value's map, read from the snapshot of its release.

use domesday_console::home_map::{GridLocation, Point};
use domesday_console::number::{pounds_of, text_of};
use domesday_property::{PostcodeLocation, Snapshot};
use domesday_registers::Postcode;
use serde_json::Value;

/// Returns the places of the postcodes of the home's sector.
pub(super) fn sector(snapshot: &Snapshot, response: &Value) -> Vec<GridLocation> {
    let postcode = response["property"]["postcode"].as_str();
    postcode.map_or_else(Vec::new, |postcode| sector_places(snapshot, postcode))
}

/// Returns the points of the home and of its comparables.
pub(super) fn points(snapshot: &Snapshot, response: &Value) -> Vec<Point> {
    let words = |price: &Value, done: &str, day: &Value| {
        format!("{}, {done} {}", pounds_of(price), text_of(day))
    };
    let value = &response["valuation"];
    let home = response["property"]["postcode"].as_str();
    let home = home.and_then(|postcode| {
        let words = words(&value["estimated_value_gbp"], "as at", &value["date"]);
        point(snapshot, postcode, None, words)
    });
    let comparables = response["comparables"].as_array().into_iter().flatten();
    let others = comparables.filter_map(|comparable| {
        let words = words(&comparable["price_gbp"], "sold", &comparable["sale_date"]);
        let rank = comparable["rank"].to_string();
        point(
            snapshot,
            comparable["postcode"].as_str()?,
            Some(rank),
            words,
        )
    });
    others.chain(home).collect()
}

/// Returns the point of a postcode, where the snapshot has it.
fn point(
    snapshot: &Snapshot,
    postcode: &str,
    label: Option<String>,
    words: String,
) -> Option<Point> {
    // A damaged row is found and logged by the valuation itself.
    let location = snapshot.postcode(&Postcode::parse(postcode)?).ok()??;
    Some(Point {
        label,
        words,
        place: place_of(&location),
    })
}

/// Returns the places of the postcodes of a postcode's sector.
fn sector_places(snapshot: &Snapshot, postcode: &str) -> Vec<GridLocation> {
    let locations = Postcode::parse(postcode).map(|postcode| snapshot.sector_locations(&postcode));
    let locations = locations.and_then(Result::ok).unwrap_or_default();
    locations.iter().map(place_of).collect()
}

fn place_of(location: &PostcodeLocation) -> GridLocation {
    GridLocation {
        easting: location.easting,
        northing: location.northing,
    }
}
