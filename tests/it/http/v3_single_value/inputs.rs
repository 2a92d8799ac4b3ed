//! Explicit over stored over derived, and the record of it.

use crate::common::demo::{flat, house, house_with, uncertified};
use crate::v3_single_value::{SIMPLE, estimate, service};
use serde_json::{Value, json};

/// Returns the fields that a list of the input resolution names.
fn fields<'a>(result: &'a Value, list: &str) -> Vec<&'a str> {
    let list = result["input_resolution"][list].as_array().unwrap();
    list.iter()
        .map(|note| note["field"].as_str().unwrap())
        .collect()
}

#[test]
fn stored_values_fill_blanks_and_are_listed() {
    let (_server, client) = service();
    let mut request = house_with(json!({"use_stored_data": true}));
    request["size"] = json!({"bedrooms": 3});
    let result = client.post(SIMPLE, &request).ok();
    let stored = fields(&result, "stored_data_used");
    assert!(stored.contains(&"/size/floor_area_m2"), "{stored:?}");
    assert!(stored.contains(&"/energy/rating"), "{stored:?}");
    for note in result["input_resolution"]["stored_data_used"]
        .as_array()
        .unwrap()
    {
        assert_eq!(note["source"], "energy_certificate");
    }
}

#[test]
fn explicit_values_take_precedence_over_stored_ones() {
    let (_server, client) = service();
    let mut blank = house_with(json!({"use_stored_data": true}));
    blank["size"] = json!({"bedrooms": 3});
    let stored = client.post(SIMPLE, &blank).ok();
    let mut explicit = blank.clone();
    explicit["size"]["floor_area_m2"] = 60.into();
    explicit["energy"] = json!({"rating": "A"});
    let small = client.post(SIMPLE, &explicit).ok();
    let used = fields(&small, "stored_data_used");
    for given in ["/size/floor_area_m2", "/energy/rating"] {
        assert!(fields(&stored, "stored_data_used").contains(&given));
        assert!(!used.contains(&given), "{used:?}");
    }
    // The value, not the record alone: the certificate says a hundred square metres and more.
    assert!(estimate(&small) < estimate(&stored));
}

#[test]
fn a_type_that_the_stored_record_contradicts_is_reported_without_the_stored_value() {
    let (_server, client) = service();
    let mut detached = house_with(json!({"use_stored_data": true}));
    detached["property"]["type"] = "D".into();
    detached["property"]["subtype"] = "house_detached".into();
    let result = client.post(SIMPLE, &detached).ok();
    let note = |field| json!({"field": field, "source": "energy_certificate"});
    assert_eq!(
        result["input_resolution"]["conflicting_inputs"],
        json!([note("/property/type"), note("/property/subtype")])
    );
    // The statement alone counts, and nothing is said of a record that was not asked for.
    detached["options"] = json!({});
    let unasked = client.post(SIMPLE, &detached).ok();
    let sound = client.post(SIMPLE, &house_with(json!({"use_stored_data": true})));
    for result in [unasked, sound.ok()] {
        assert_eq!(result["input_resolution"].get("conflicting_inputs"), None);
    }
}

#[test]
fn a_tenure_that_the_last_sale_contradicts_is_reported_without_the_stored_value() {
    let (_server, client) = service();
    let mut leasehold = house_with(json!({"use_stored_data": true}));
    leasehold["property"]["title_tenure"] = "leasehold".into();
    leasehold["lease"] = json!({"years_remaining": 120});
    let result = client.post(SIMPLE, &leasehold).ok();
    let note = json!({"field": "/property/title_tenure", "source": "sold_prices"});
    assert_eq!(
        result["input_resolution"]["conflicting_inputs"],
        json!([note])
    );
    // Nothing is said of a sale that was not asked for.
    leasehold["options"] = json!({});
    let unasked = client.post(SIMPLE, &leasehold).ok();
    assert_eq!(unasked["input_resolution"].get("conflicting_inputs"), None);
}

#[test]
fn no_stored_value_is_used_unless_requested() {
    let (_server, client) = service();
    for options in [json!({}), json!({"use_stored_data": false})] {
        let result = client.post(SIMPLE, &house_with(options)).ok();
        assert_eq!(fields(&result, "stored_data_used"), [""; 0]);
    }
}

#[test]
fn stored_data_that_is_not_there_fills_nothing() {
    let (_server, client) = service();
    let mut request = uncertified();
    request["options"] = json!({"use_stored_data": true});
    let result = client.post(SIMPLE, &request).ok();
    assert_eq!(fields(&result, "stored_data_used"), [""; 0]);
    assert_eq!(result["status"], "valued");
}

#[test]
fn inapplicable_inputs_are_listed_with_their_reason_and_change_nothing() {
    let (_server, client) = service();
    for (mut request, field, value, reason) in [
        (house(), "floor_level", 1, "applies_to_flats_only"),
        (flat(), "storeys", 2, "inapplicable_to_flats"),
    ] {
        let without = client.post(SIMPLE, &request).ok();
        request["size"][field] = value.into();
        let with = client.post(SIMPLE, &request).ok();
        let expected = json!([{"field": format!("/size/{field}"), "reason": reason}]);
        assert_eq!(with["input_resolution"]["ignored_inputs"], expected);
        assert_eq!(with["valuation"], without["valuation"]);
        assert_eq!(
            fields(&without, "ignored_inputs"),
            [""; 0],
            "nothing is ignored"
        );
    }
}

#[test]
fn inputs_the_release_derives_are_listed() {
    let (_server, client) = service();
    let mut request = uncertified();
    request["options"] = json!({"use_stored_data": true});
    request["size"] = json!({"bedrooms": 3});
    let result = client.post(SIMPLE, &request).ok();
    assert_eq!(result["status"], "valued");
    let derived = &result["input_resolution"]["derived_inputs"];
    let area = derived.as_array().unwrap().iter();
    let area: Vec<_> = area
        .filter(|note| note["field"] == "/size/floor_area_m2")
        .collect();
    assert_eq!(area.len(), 1, "{derived}");
    assert_eq!(area[0]["source"], "release");
    assert!(area[0]["reason"].is_string());
}

#[test]
fn a_leasehold_is_worth_more_the_longer_it_runs() {
    let (_server, client) = service();
    let worth = |lease: Value| {
        let mut request = flat();
        request["lease"] = lease;
        estimate(&client.post(SIMPLE, &request).ok())
    };
    let simple = worth(json!({"years_remaining": 75}));
    assert!(worth(json!({"years_remaining": 120})) >= simple);
    // 75 years from 2026-10-15: the detailed path says the same, to within a day of 75 years.
    let detailed = worth(json!({"start_date": "2002-10-15", "term_years": 99}));
    assert!(detailed.abs_diff(simple) <= 10, "{detailed} {simple}");
}
