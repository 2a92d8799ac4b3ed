//! Developments: what a proposed property must say, may not say, and is given.

use crate::common::demo::{at, house};
use crate::common::places::{Places, home};
use crate::common::server::start;
use crate::v3_contract::jobs::completed_results;
use crate::v3_contract::{
    DEVELOPMENT, DEVELOPMENT_BATCH, SIMPLE, all, assert_invalid, batch, contract, estimate, fields,
    proposed, refused, with, without,
};
use serde_json::{Value, json};

/// The postcode of the site.
const POSTCODE: &str = "QA1 1AF";

#[track_caller]
fn post(request: &Value) -> crate::common::raw::HttpResponse {
    let (_contract, client) = all();
    client.post(DEVELOPMENT, request)
}

/// Asserts that the member is unknown to developments, whatever its value, in a batch too.
#[track_caller]
fn assert_unknown(pointer: &str, values: &[Value]) {
    let (_contract, client) = all();
    for value in values {
        let request = with(proposed(), pointer, value.clone());
        let answer = client.post(DEVELOPMENT, &request);
        let field = answer.refusal().2.unwrap();
        assert_eq!(refused(&answer), (422, "unknown_field".to_owned()));
        assert!(pointer.starts_with(&field), "{field}");
        let rows = batch(json!({}), &[request]);
        let envelope = client.post(DEVELOPMENT_BATCH, &rows).ok();
        assert_eq!(envelope["results"][0]["errors"][0]["code"], "unknown_field");
    }
}

#[track_caller]
fn assert_required(pointer: &str) {
    assert_eq!(post(&proposed()).ok()["status"], "valued");
    assert_invalid(
        &post(&without(proposed(), pointer)),
        "missing_field",
        pointer,
    );
}

#[test]
fn service_2_development_is_placed_by_its_site() {
    let result = post(&proposed()).ok();
    assert_eq!(result["status"], "valued");
    assert_eq!(result["property"]["identity_source"], "site_coordinates");
    // Far from its postcode it is not a site of it.
    assert_eq!(
        post(&with(proposed(), "/property/site_latitude", 51.5)).status,
        422
    );
}

#[test]
fn service_6_development_has_no_uprn_and_no_stored_data() {
    let result = post(&proposed()).ok();
    assert_eq!(result["property"]["uprn"], Value::Null);
    assert!(fields(&result, "stored_data_used").is_empty());
}

#[test]
fn endpoint_development_value_answers_a_result() {
    let result = post(&proposed()).ok();
    assert_eq!(result["status"], "valued");
    assert!(estimate(&result) > 0);
}

#[test]
fn endpoint_development_batch_value_answers_an_envelope() {
    let (_contract, client) = all();
    let rows = batch(json!({}), &[proposed(), house()]);
    let envelope = client.post(DEVELOPMENT_BATCH, &rows).ok();
    assert_eq!(envelope["summary"]["valued"], 1);
    assert_eq!(envelope["summary"]["rejected"], 1);
    // The proposed home is the one that is valued: these rows are read as developments.
    assert_eq!(envelope["results"][0]["status"], "valued");
    assert_eq!(envelope["results"][1]["status"], "rejected");
}

#[test]
fn development_envelope_is_that_of_any_request() {
    let mut request = with(proposed(), "/request_reference", "plot 7");
    request["options"] = json!({"include_comparables": true, "comparables_limit": 2,
                                "include_context_metrics": true});
    let result = post(&request).ok();
    assert_eq!(result["request_reference"], "plot 7");
    assert_eq!(result["comparables"].as_array().unwrap().len(), 2);
    assert!(result["context"].is_object());
    for section in ["/property", "/occupancy", "/size"] {
        assert_invalid(
            &post(&without(proposed(), section)),
            "missing_field",
            section,
        );
    }
}

#[test]
fn development_no_uprn_is_taken() {
    assert_unknown("/property/uprn", &[json!("999082968959"), Value::Null]);
}

#[test]
fn development_no_build_status_is_taken() {
    assert_unknown(
        "/property/build_status",
        &[json!("existing"), json!("proposed")],
    );
}

#[test]
fn development_no_fabric_is_taken() {
    assert_unknown("/fabric", &[json!({"wall_type": "cavity"}), json!({})]);
}

#[test]
fn development_no_age_band_is_taken() {
    assert_unknown("/energy/construction_age_band", &[json!("L"), Value::Null]);
}

#[test]
fn development_no_stored_data_is_taken() {
    assert_unknown("/options/use_stored_data", &[json!(true), json!(false)]);
    let (_contract, client) = all();
    let shared = batch(json!({"use_stored_data": false}), &[proposed()]);
    let answer = client.post(DEVELOPMENT_BATCH, &shared);
    assert_invalid(&answer, "unknown_field", "/options/use_stored_data");
}

#[test]
fn development_postcode_is_required() {
    assert_required("/property/postcode");
}

#[test]
fn development_site_is_required() {
    assert_required("/property/site_latitude");
    assert_required("/property/site_longitude");
    for (name, bad) in [
        ("site_latitude", json!(90.1)),
        ("site_longitude", json!("west")),
    ] {
        let pointer = format!("/property/{name}");
        assert_invalid(
            &post(&with(proposed(), &pointer, bad)),
            "invalid_value",
            &pointer,
        );
    }
}

#[test]
fn development_own_fields_of_every_unit_count() {
    let (_contract, client) = all();
    let small = with(proposed(), "/size/floor_area_m2", 62);
    let nowhere = without(proposed(), "/property/site_latitude");
    let rows = batch(json!({}), &[proposed(), small, nowhere]);
    let envelope = client.post(DEVELOPMENT_BATCH, &rows).ok();
    let results = &envelope["results"];
    assert!(estimate(&results[1]) < estimate(&results[0]));
    assert_eq!(results[2]["errors"][0]["field"], "/property/site_latitude");
}

#[test]
fn development_applied_are_new_build_newest_band_and_modern_fabric() {
    let derived = fields(&post(&proposed()).ok(), "derived_inputs");
    for applied in [
        "/property/build_status",
        "/energy/construction_age_band",
        "/fabric/wall_type",
        "/fabric/glazing",
    ] {
        assert!(
            derived.contains(&applied.to_owned()),
            "{applied}: {derived:?}"
        );
    }
}

#[test]
fn endpoints_10_no_address_is_looked_up() {
    // The provider knows both addresses and would say so; the snapshot knows the first.
    let known = [("15", "Badger Yard Gardens"), ("4711", "No Such Street")];
    let homes = known.map(|(number, street)| {
        let uprn = 990_000_000_000 + number.parse::<u64>().unwrap();
        home(uprn, POSTCODE, number, street)
    });
    let places = Places::of(&homes);
    let server = start().with(&["--address-provider", &places.url()]).go();
    let client = server.demo();
    let rows = known.map(|(number, street)| {
        let request = with(proposed(), "/property/street", street);
        with(request, "/property/building_number_or_name", number)
    });
    let expected = estimate(&client.post(DEVELOPMENT, &proposed()).ok());
    let assert_unresolved = |result: &Value| {
        assert_eq!(result["status"], "valued", "{result}");
        let property = json!({"uprn": null, "postcode": POSTCODE,
                              "identity_source": "site_coordinates"});
        assert_eq!(result["property"], property);
        assert_eq!(estimate(result), expected);
    };
    for row in &rows {
        assert_unresolved(&client.post(DEVELOPMENT, row).ok());
    }
    let envelope = client
        .post(DEVELOPMENT_BATCH, &batch(json!({}), &rows))
        .ok();
    let job = completed_results(&client, &json!({"mode": "development", "requests": rows}));
    for envelope in [&envelope, &job["result"]] {
        let results = envelope["results"].as_array().unwrap();
        assert_eq!(results.len(), rows.len());
        results.iter().for_each(assert_unresolved);
    }
    assert_eq!(places.requests().len(), 0, "{:?}", places.requests());
    // An existing property is looked up there.
    let existing = at("4711", "No Such Street", POSTCODE);
    let found = client.post(SIMPLE, &existing).ok();
    assert_eq!(found["property"]["identity_source"], "identity_provider");
    assert_eq!(places.requests().len(), 1);
}

#[test]
fn authentication_2_development_is_needed_for_developments() {
    let contract = contract();
    for (route, body) in [
        (DEVELOPMENT, proposed()),
        (DEVELOPMENT_BATCH, batch(json!({}), &[proposed()])),
    ] {
        let value = contract.customer("value").post(route, &body);
        assert_eq!(refused(&value), (403, "scope_required".to_owned()));
        assert_eq!(
            contract.customer("development").post(route, &body).status,
            200
        );
    }
    assert_eq!(
        contract
            .customer("development")
            .post(SIMPLE, &house())
            .status,
        403
    );
}
