//! The valuation result, field by field.

use crate::common::demo::{FLAT, HOUSE, RELEASE, flat, house, uncertified};
use crate::v3_contract::{SIMPLE, STANDARD, all, estimate, fields, is_uuid, names, value, with};
use serde_json::{Value, json};

/// Values the house on a single route.
fn valued() -> Value {
    let (_contract, client) = value();
    client.post(STANDARD, &house()).ok()
}

#[test]
fn result_api_version_is_v3() {
    assert_eq!(valued()["api_version"], "v3");
}

#[test]
fn result_execution_id_is_a_uuid_of_the_servers() {
    let (one, other) = (valued(), valued());
    assert!(is_uuid(&one["execution_id"]));
    assert_ne!(one["execution_id"], other["execution_id"]);
}

#[test]
fn result_property_states_uprn_postcode_and_who_vouches() {
    let expected = json!({"uprn": HOUSE, "postcode": "QA1 1AF",
                          "identity_source": "verified_identity_store"});
    assert_eq!(valued()["property"], expected);
}

#[test]
fn result_valuation_states_day_and_whole_pounds() {
    let result = valued();
    assert_eq!(result["valuation"]["date"], "2026-10-15");
    assert!(estimate(&result) > 0);
    assert_eq!(
        names(&result["valuation"]),
        ["date", "estimated_value_gbp", "range"]
    );
}

#[test]
fn result_range_has_two_ends_in_whole_pounds_and_its_coverage() {
    let result = valued();
    let range = &result["valuation"]["range"];
    assert!(range["lower_value_gbp"].as_u64().unwrap() < estimate(&result));
    assert!(range["upper_value_gbp"].as_u64().unwrap() > estimate(&result));
    assert_eq!(range["nominal_coverage"], 0.8);
}

#[test]
fn result_confidence_has_a_score_and_its_band() {
    let (_contract, client) = value();
    for request in [house(), flat(), uncertified()] {
        let result = client.post(SIMPLE, &request).ok();
        let band = match result["confidence"]["score"].as_f64().unwrap() {
            0.7..=1.0 => "high",
            0.4..0.7 => "medium",
            0.0..0.4 => "low",
            score => panic!("{score}"),
        };
        assert_eq!(result["confidence"]["band"], band);
    }
}

#[test]
fn result_input_resolution_lists_stored_ignored_and_derived_inputs() {
    let (_contract, client) = all();
    let mut request = with(house(), "/options", json!({"use_stored_data": true}));
    request["size"] = json!({"bedrooms": 3, "floor_level": 1});
    let result = client.post(SIMPLE, &request).ok();
    let area = "/size/floor_area_m2".to_owned();
    assert!(fields(&result, "stored_data_used").contains(&area));
    assert_eq!(fields(&result, "ignored_inputs"), ["/size/floor_level"]);
    let mut request = with(uncertified(), "/options", json!({"use_stored_data": true}));
    request["size"] = json!({"bedrooms": 3});
    let result = client.post(SIMPLE, &request).ok();
    assert!(
        fields(&result, "derived_inputs").contains(&area),
        "{result}"
    );
}

#[test]
fn result_referred_has_no_estimate() {
    let (_contract, client) = value();
    let request = with(flat(), "/lease", json!({"years_remaining": 3}));
    let answer = client.post(STANDARD, &request);
    let result = answer.ok();
    assert_eq!(result["status"], "referred");
    assert_eq!(result["property"]["uprn"], FLAT);
    assert!(!answer.text.contains("estimated_value_gbp"), "{result}");
    assert_eq!(result["valuation"]["range"], Value::Null);
}

#[test]
fn result_release_id_names_the_release() {
    assert_eq!(valued()["release_id"], RELEASE);
}

#[test]
fn result_request_reference_is_echoed_where_it_was_sent() {
    let (_contract, client) = value();
    let request = with(house(), "/request_reference", "loan 7/\u{3b2}");
    let result = client.post(SIMPLE, &request).ok();
    assert_eq!(result["request_reference"], "loan 7/\u{3b2}");
    assert!(valued().get("request_reference").is_none());
}

#[test]
fn result_valuation_id_is_a_uuid_of_the_servers() {
    let (one, other) = (valued(), valued());
    assert!(is_uuid(&one["valuation_id"]) && is_uuid(&other["valuation_id"]));
    assert_ne!(one["valuation_id"], other["valuation_id"]);
    assert_ne!(one["valuation_id"], one["execution_id"]);
}
