//! The core of a result.

use crate::common::demo::{FLAT, HOUSE, WINDOW, flat, house, house_with, uncertified, welsh};
use crate::v3_single_value::{SIMPLE, STANDARD, estimate, names, service, without_ids};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Replaces the values that depend on the release by their types. This is the shape of an answer,
/// which no new model changes.
fn kinds(document: &Value) -> Value {
    match document {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let chosen = ["execution_id", "valuation_id", "band"].contains(&name.as_str());
                let kind = if chosen { "text".into() } else { kinds(value) };
                (name.clone(), kind)
            })
            .collect(),
        Value::Array(values) => values.first().map(kinds).into_iter().collect(),
        Value::Number(number) if number.is_u64() => "whole number".into(),
        Value::Number(_) => "number".into(),
        other => other.clone(),
    }
}

#[test]
fn a_valued_house_has_every_field_of_the_contract() {
    let (_server, client) = service();
    let mut request = house();
    request["request_reference"] = "loan 7/β".into();
    request["energy"] = json!({"construction_age_band": "E", "rating": "D"});
    let result = client.post(SIMPLE, &request).ok();
    insta::assert_json_snapshot!("a_valued_house", kinds(&result));
}

#[test]
fn ids_are_uuids_and_every_call_has_its_own() {
    let (_server, client) = service();
    let ids: BTreeSet<uuid::Uuid> = (0..3)
        .flat_map(|_| {
            let result = client.post(SIMPLE, &house()).ok();
            ["execution_id", "valuation_id"].map(|id| result[id].as_str().unwrap().parse().unwrap())
        })
        .collect();
    assert_eq!(ids.len(), 6);
}

#[test]
fn the_same_request_twice_gives_the_same_response() {
    let (_server, client) = service();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    for request in [house_with(options), flat(), welsh(), uncertified()] {
        let once = without_ids(client.post(STANDARD, &request).ok());
        let again = without_ids(client.post(STANDARD, &request).ok());
        assert_eq!(once, again);
    }
}

#[test]
fn concurrent_identical_requests_give_the_same_response() {
    let (_server, client) = service();
    let expected = estimate(&client.post(SIMPLE, &house()).ok());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let other = estimate(&client.post(SIMPLE, &flat()).ok());
                    assert_ne!(other, expected);
                    assert_eq!(estimate(&client.post(SIMPLE, &house()).ok()), expected);
                }
            });
        }
    });
}

#[test]
fn a_reference_is_echoed_and_absent_where_none_was_sent() {
    let (_server, client) = service();
    let mut request = house();
    assert!(
        client
            .post(SIMPLE, &request)
            .ok()
            .get("request_reference")
            .is_none()
    );
    for reference in [
        "x",
        "  loan 7 ",
        "\u{feff}loan\u{a0}",
        "\"quoted\" \\ and 𝄞",
        &"r".repeat(200),
    ] {
        request["request_reference"] = reference.into();
        for route in [SIMPLE, STANDARD] {
            assert_eq!(
                client.post(route, &request).ok()["request_reference"],
                reference
            );
        }
    }
}

#[test]
fn the_range_holds_the_estimate_and_states_the_releases_coverage() {
    let (_server, client) = service();
    for request in [house(), flat(), welsh()] {
        let result = client.post(SIMPLE, &request).ok();
        let range = &result["valuation"]["range"];
        let pounds = |name: &str| range[name].as_u64().unwrap();
        assert!(pounds("lower_value_gbp") <= estimate(&result), "{result}");
        assert!(pounds("upper_value_gbp") >= estimate(&result), "{result}");
        assert_eq!(range["nominal_coverage"], 0.8);
    }
}

#[test]
fn confidence_has_a_score_and_the_band_in_which_it_lies() {
    let (_server, client) = service();
    for request in [house(), flat(), welsh(), uncertified()] {
        let result = client.post(SIMPLE, &request).ok();
        let score = result["confidence"]["score"].as_f64().unwrap();
        let band = match score {
            0.7..=1.0 => "high",
            0.4..0.7 => "medium",
            0.0..0.4 => "low",
            _ => panic!("{score}"),
        };
        assert_eq!(result["confidence"]["band"], band);
    }
}

#[test]
fn the_address_alone_finds_its_uprn_however_it_is_written() {
    let (_server, client) = service();
    let expected = client.post(SIMPLE, &flat()).ok();
    assert_eq!(expected["property"]["uprn"], FLAT);
    for (building, street, postcode) in [
        ("FLAT 3 FERN POINT 60", "ALDER POND AVENUE", "qa11ae"),
        ("Fern Point 60, flat 3", "Alder Pond Ave.", "QA11 AE"),
        (
            "  Flat  3, Fern Point,60 ",
            "alder pond avenue ",
            " QA1 1AE",
        ),
        ("60 Flat 3", "Alder Pond Avenue", "QA1 1AE"),
    ] {
        let mut request = flat();
        request["property"]["building_number_or_name"] = building.into();
        request["property"]["street"] = street.into();
        request["property"]["postcode"] = postcode.into();
        let result = client.post(SIMPLE, &request);
        let result = result.ok();
        assert_eq!(result["property"], expected["property"], "{building}");
        assert_eq!(estimate(&result), estimate(&expected));
    }
}

#[test]
fn a_matching_uprn_changes_nothing() {
    let (_server, client) = service();
    let expected = without_ids(client.post(SIMPLE, &house()).ok());
    let mut request = house();
    request["property"]["uprn"] = HOUSE.into();
    assert_eq!(without_ids(client.post(SIMPLE, &request).ok()), expected);
}

#[test]
fn wales_is_valued_like_england() {
    let (_server, client) = service();
    let result = client.post(SIMPLE, &welsh()).ok();
    assert_eq!(result["status"], "valued");
    assert_eq!(result["property"]["postcode"], "VR1 1AA");
}

#[test]
fn a_referral_points_at_the_given_input() {
    let (_server, client) = service();
    let terms = json!({"start_date": "1960-01-01", "term_years": 70});
    for (lease, field) in [
        (json!({"years_remaining": 3}), "/lease/years_remaining"),
        (terms, "/lease/term_years"),
    ] {
        let mut request = flat();
        request["lease"] = lease;
        let message = client.post(SIMPLE, &request).ok()["referral"]["message"].clone();
        assert!(message.as_str().unwrap().contains(field), "{message}");
    }
}

#[test]
fn a_property_outside_the_market_is_referred_without_an_estimate() {
    let (_server, client) = service();
    let mut short = flat();
    short["lease"] = json!({"years_remaining": 3});
    let mut vast = house();
    vast["size"] = json!({"floor_area_m2": 1999});
    for (request, code) in [(short, "short_lease"), (vast, "unusual_size")] {
        for route in [SIMPLE, STANDARD] {
            let mut request = request.clone();
            request["options"] = json!({"include_comparables": true});
            request["request_reference"] = "kept".into();
            let answer = client.post(route, &request);
            let result = answer.ok();
            assert_eq!(
                names(&result),
                [
                    "api_version",
                    "execution_id",
                    "input_resolution",
                    "property",
                    "referral",
                    "release_id",
                    "request_reference",
                    "status",
                    "valuation",
                    "valuation_id"
                ],
                "{result}"
            );
            assert_eq!(result["status"], "referred");
            assert_eq!(result["referral"]["code"], code);
            assert!(!result["referral"]["message"].as_str().unwrap().is_empty());
            assert_eq!(result["request_reference"], "kept");
            assert!(!answer.text.contains("estimated_value_gbp"), "{result}");
        }
    }
}

#[test]
fn both_ends_of_the_window_are_valued() {
    let (_server, client) = service();
    for day in [WINDOW.0, WINDOW.1] {
        let mut request = house();
        request["property"]["valuation_date"] = day.into();
        let result = client.post(SIMPLE, &request).ok();
        assert_eq!(result["valuation"]["date"], day);
    }
}

#[test]
fn a_valued_request_is_logged_with_the_ids_of_its_response() {
    let (server, client) = service();
    let answer = client.post(SIMPLE, &house());
    let result = answer.ok();
    let id = answer.header("x-service-request-id").unwrap();
    let line = server.await_log(|line| line["request_id"] == id);
    for field in ["execution_id", "valuation_id", "release_id"] {
        assert_eq!(line[field], result[field], "{field}");
        assert!(line[field].is_string());
    }
    assert_eq!(line["status"], 200);
    assert_eq!(line["outcome"], "valued");
    assert_eq!(line["route"], SIMPLE);
}
