//! Options of single requests, and the rules that a single request shows.

use crate::common::demo::{house, house_with};
use crate::v3_contract::{
    DEVELOPMENT, SIMPLE, STANDARD, all, assert_invalid, estimate, fields, proposed, refused, value,
    with,
};
use serde_json::{Value, json};

/// Asserts that the option takes booleans and nothing else.
#[track_caller]
fn assert_boolean(name: &str) {
    let (_contract, client) = all();
    for good in [true, false] {
        let answer = client.post(STANDARD, &house_with(json!({name: good})));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    for bad in [json!(1), json!("true")] {
        let answer = client.post(STANDARD, &house_with(json!({name: bad})));
        assert_invalid(&answer, "invalid_value", &format!("/options/{name}"));
    }
}

fn value_with(options: Value) -> Value {
    let (_contract, client) = all();
    client.post(STANDARD, &house_with(options)).ok()
}

/// Asserts that the option adds this section where it is true, and nowhere else, on the standard
/// and the development route.
#[track_caller]
fn assert_adds(name: &str, section: &str) {
    assert_boolean(name);
    let (_contract, client) = all();
    for (route, request) in [(STANDARD, house()), (DEVELOPMENT, proposed())] {
        let sections = |options: Value| {
            let result = client.post(route, &with(request.clone(), "/options", options));
            let sections = ["comparables", "context"].into_iter();
            let result = result.ok();
            let present = sections.filter(|&section| result.get(section).is_some());
            present.collect::<Vec<_>>()
        };
        assert_eq!(sections(json!({name: true})), [section], "{route}");
        assert_eq!(sections(json!({name: false})), [""; 0], "{route}");
        assert_eq!(sections(json!({})), [""; 0], "{route}");
    }
}

#[test]
fn option_include_comparables_adds_the_section() {
    assert_adds("include_comparables", "comparables");
    let result = value_with(json!({"include_comparables": true}));
    assert_eq!(result["comparables"].as_array().unwrap().len(), 5);
}

#[test]
fn option_comparables_limit_bounds_the_list_and_moves_no_value() {
    let most = value_with(json!({"include_comparables": true, "comparables_limit": 10}));
    for limit in [0, 1, 9, 10] {
        let result = value_with(json!({"include_comparables": true, "comparables_limit": limit}));
        assert_eq!(result["comparables"].as_array().unwrap().len(), limit);
        assert_eq!(result["valuation"], most["valuation"]);
        assert_eq!(result["confidence"], most["confidence"]);
    }
}

#[test]
fn option_include_context_metrics_adds_the_section() {
    assert_adds("include_context_metrics", "context");
    let result = value_with(json!({"include_context_metrics": true}));
    assert_eq!(result["context"]["postcode_sector"], "QA1 1");
}

#[test]
fn option_use_stored_data_lets_stored_values_fill_blanks() {
    assert_boolean("use_stored_data");
    let (_contract, client) = all();
    let mut blank = house_with(json!({"use_stored_data": true}));
    blank["size"] = json!({"bedrooms": 3});
    let filled = client.post(SIMPLE, &blank).ok();
    assert!(fields(&filled, "stored_data_used").contains(&"/size/floor_area_m2".to_owned()));
    blank["options"] = json!({"use_stored_data": false});
    let answer = client.post(SIMPLE, &blank);
    assert_invalid(&answer, "missing_field", "/size/floor_area_m2");
    // The house states no fabric, which the register knows.
    let wall = "/fabric/wall_type".to_owned();
    let used = |options: Value| fields(&value_with(options), "stored_data_used");
    assert!(used(json!({"use_stored_data": true})).contains(&wall));
    assert!(used(json!({"use_stored_data": false})).is_empty());
    assert!(used(json!({})).is_empty());
}

#[test]
fn options_1_a_null_option_is_refused() {
    let (_contract, client) = all();
    for name in [
        "include_comparables",
        "comparables_limit",
        "include_context_metrics",
        "use_stored_data",
    ] {
        let answer = client.post(STANDARD, &house_with(json!({name: null})));
        assert_invalid(&answer, "null_option", &format!("/options/{name}"));
    }
}

#[test]
fn options_8_simple_routes_show_the_core_alone() {
    let (_contract, client) = value();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let result = client.post(SIMPLE, &house_with(options)).ok();
    assert!(result.get("comparables").is_none() && result.get("context").is_none());
    assert!(result["valuation"]["range"].is_object());
    assert!(result["confidence"]["score"].is_number());
}

#[test]
fn options_9_stored_data_needs_its_scope() {
    let (contract, client) = value();
    let request = house_with(json!({"use_stored_data": true}));
    let answer = refused(&client.post(SIMPLE, &request));
    assert_eq!(answer, (403, "scope_required".to_owned()));
    assert_eq!(contract.customer("all").post(SIMPLE, &request).status, 200);
}

#[test]
fn options_9_explicit_values_override_stored_ones() {
    let (_contract, client) = all();
    let request = house_with(json!({"use_stored_data": true}));
    let own = client.post(SIMPLE, &request).ok();
    assert!(!fields(&own, "stored_data_used").contains(&"/size/floor_area_m2".to_owned()));
    let smaller = with(request, "/size/floor_area_m2", 52);
    assert!(estimate(&client.post(SIMPLE, &smaller).ok()) < estimate(&own));
    assert_ne!(house()["size"]["floor_area_m2"], 52);
}
