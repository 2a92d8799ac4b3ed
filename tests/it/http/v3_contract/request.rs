//! The existing-property request, field by field.

use crate::common::demo::{HOUSE, NEIGHBOUR, at, divided, flat, house, scottish};
use crate::v3_contract::{
    SIMPLE, STANDARD, assert_invalid, estimate, fields, value, with, without,
};
use serde_json::{Value, json};

/// Asserts that a request without this member is refused for its absence, and one with it valued.
#[track_caller]
fn assert_required(pointer: &str) {
    let (_contract, client) = value();
    assert_eq!(client.post(SIMPLE, &house()).ok()["status"], "valued");
    let answer = client.post(SIMPLE, &without(house(), pointer));
    assert_invalid(&answer, "missing_field", pointer);
}

/// Asserts that the member takes each of these values.
#[track_caller]
fn assert_takes(request: &Value, pointer: &str, good: &[Value]) {
    let (_contract, client) = value();
    for good in good {
        let answer = client.post(SIMPLE, &with(request.clone(), pointer, good.clone()));
        assert_eq!(answer.status, 200, "{good}: {answer:?}");
    }
}

/// Asserts that the member refuses each of these values where it stands.
#[track_caller]
fn assert_refuses(request: &Value, pointer: &str, bad: &[Value]) {
    let (_contract, client) = value();
    for bad in bad {
        let answer = client.post(SIMPLE, &with(request.clone(), pointer, bad.clone()));
        assert_invalid(&answer, "invalid_value", pointer);
    }
}

#[test]
fn request_reference_is_optional_echoed_and_no_identifier() {
    let (_contract, client) = value();
    let plain = client.post(SIMPLE, &house()).ok();
    assert!(plain.get("request_reference").is_none());
    let request = with(house(), "/request_reference", "twice");
    let (once, again) = (
        client.post(SIMPLE, &request).ok(),
        client.post(SIMPLE, &request).ok(),
    );
    assert_eq!(once["request_reference"], "twice");
    assert_eq!(again["request_reference"], "twice");
    assert_ne!(once["valuation_id"], again["valuation_id"]);
}

#[test]
fn request_options_are_optional() {
    assert_takes(
        &house(),
        "/options",
        &[json!({}), json!({"comparables_limit": 3})],
    );
    assert_takes(&house(), "/size/bedrooms", &[json!(3)]);
}

/// Asserts that the section is required, and may not be empty.
#[track_caller]
fn assert_section(name: &str) {
    let (_contract, client) = value();
    assert_required(name);
    for route in [SIMPLE, STANDARD] {
        let answer = client.post(route, &with(house(), name, json!({})));
        assert_invalid(&answer, "empty_section", name);
    }
}

#[test]
fn request_property_is_required_and_not_empty() {
    assert_section("/property");
}

#[test]
fn request_occupancy_is_required_and_not_empty() {
    assert_section("/occupancy");
}

#[test]
fn request_size_is_required_and_not_empty() {
    assert_section("/size");
}

#[test]
fn occupancy_status_is_a_word_of_its_list() {
    let (_contract, client) = value();
    let none = client.post(SIMPLE, &without(house(), "/occupancy/status"));
    assert_invalid(&none, "empty_section", "/occupancy");
    let good = ["owner_occupied", "tenanted", "vacant"].map(Value::from);
    assert_takes(&house(), "/occupancy/status", &good);
    assert_refuses(&house(), "/occupancy/status", &[json!("let"), json!(1)]);
}

#[test]
fn size_floor_area_is_a_number_from_10_to_2000() {
    let pointer = "/size/floor_area_m2";
    assert_takes(&house(), pointer, &[json!(10), json!(84.5), json!(2000)]);
    let bad = [json!(9.99), json!(2000.01), json!("84"), Value::Null];
    assert_refuses(&house(), pointer, &bad);
}

#[test]
fn size_bedrooms_is_a_whole_number_from_0_to_20() {
    let pointer = "/size/bedrooms";
    assert_takes(&house(), pointer, &[json!(0), json!(20)]);
    assert_refuses(
        &house(),
        pointer,
        &[json!(-1), json!(21), json!(2.5), json!("3")],
    );
}

#[test]
fn size_living_rooms_is_a_whole_number_from_0_to_10() {
    let pointer = "/size/living_rooms";
    assert_takes(&house(), pointer, &[json!(0), json!(10)]);
    assert_refuses(&house(), pointer, &[json!(-1), json!(11), json!(1.5)]);
}

#[test]
fn size_storeys_is_a_whole_number_from_1_to_6() {
    let pointer = "/size/storeys";
    assert_takes(&house(), pointer, &[json!(1), json!(6)]);
    assert_refuses(&house(), pointer, &[json!(0), json!(7), json!(2.5)]);
}

#[test]
fn property_valuation_date_is_required_and_a_day_in_iso_form() {
    let pointer = "/property/valuation_date";
    assert_required(pointer);
    let bad = [
        "15/10/2026",
        "2026-10-1",
        "2026-02-30",
        "2026-10-15T00:00:00Z",
    ];
    assert_refuses(&house(), pointer, &bad.map(Value::from));
}

#[test]
fn property_uprn_is_verified_against_the_address() {
    let (_contract, client) = value();
    let right = client.post(SIMPLE, &with(house(), "/property/uprn", HOUSE));
    assert_eq!(right.ok()["property"]["uprn"], HOUSE);
    let wrong = client.post(SIMPLE, &with(house(), "/property/uprn", NEIGHBOUR));
    assert_invalid(&wrong, "uprn_address_mismatch", "/property/uprn");
}

#[test]
fn property_uprn_omitted_needs_one_exact_home_in_england_or_wales() {
    let (_contract, client) = value();
    let found = client.post(SIMPLE, &house()).ok();
    assert_eq!(found["property"]["uprn"], HOUSE);
    for (request, code) in [
        (
            at("15 Badger", "Badger Yard Gardens", "QA1 1AF"),
            "address_not_found",
        ),
        (at("15", "Badger Yard", "QA1 1AF"), "address_not_found"),
        (divided(), "address_ambiguous"),
        (scottish(), "outside_geography"),
    ] {
        let (status, found, _) = client.post(SIMPLE, &request).refusal();
        assert_eq!((status, found.as_str()), (422, code));
    }
}

#[test]
fn property_postcode_is_required() {
    assert_required("/property/postcode");
    let bad = [json!("QA1"), json!("nowhere"), json!(11)];
    assert_refuses(&house(), "/property/postcode", &bad);
}

#[test]
fn property_building_is_required() {
    assert_required("/property/building_number_or_name");
    let bad = [json!(""), json!(15), json!("x".repeat(201))];
    assert_refuses(&house(), "/property/building_number_or_name", &bad);
}

#[test]
fn property_street_is_required() {
    assert_required("/property/street");
    let bad = [json!(""), json!(15), json!("x".repeat(201))];
    assert_refuses(&house(), "/property/street", &bad);
}

#[test]
fn property_type_is_a_letter_of_its_list() {
    assert_required("/property/type");
    let detached = with(house(), "/property/subtype", "house_detached");
    assert_takes(&house(), "/property/type", &[json!("S")]);
    assert_takes(&detached, "/property/type", &[json!("D")]);
    assert_refuses(
        &house(),
        "/property/type",
        &[json!("s"), json!("X"), json!("semi")],
    );
}

#[test]
fn property_subtype_is_a_word_of_its_list() {
    assert_required("/property/subtype");
    let detached = with(house(), "/property/type", "D");
    assert_takes(
        &house(),
        "/property/subtype",
        &[json!("house_semi_detached")],
    );
    assert_takes(&detached, "/property/subtype", &[json!("house_detached")]);
    assert_refuses(
        &house(),
        "/property/subtype",
        &[json!("castle"), json!("house_detached")],
    );
}

#[test]
fn property_tenure_is_freehold_or_leasehold() {
    assert_required("/property/title_tenure");
    assert_takes(&house(), "/property/title_tenure", &[json!("freehold")]);
    assert_takes(&flat(), "/property/title_tenure", &[json!("leasehold")]);
    assert_refuses(
        &house(),
        "/property/title_tenure",
        &[json!("commonhold"), json!(1)],
    );
}

#[test]
fn property_build_status_is_optional_and_existing() {
    assert_takes(&house(), "/property/build_status", &[json!("existing")]);
    assert_takes(&house(), "/size/bedrooms", &[json!(3)]);
    assert_refuses(
        &house(),
        "/property/build_status",
        &[json!("proposed"), Value::Null],
    );
}

#[test]
fn lease_required_for_a_leasehold_and_refused_for_a_freehold() {
    let (_contract, client) = value();
    assert_eq!(client.post(SIMPLE, &flat()).status, 200);
    let answer = client.post(SIMPLE, &without(flat(), "/lease"));
    assert_invalid(&answer, "missing_field", "/lease");
    let answer = client.post(
        SIMPLE,
        &with(house(), "/lease", json!({"years_remaining": 90})),
    );
    assert_invalid(&answer, "invalid_value", "/lease");
}

#[test]
fn lease_paths_are_a_short_and_a_detailed_one() {
    let detailed = json!({"start_date": "2000-01-01", "term_years": 125,
                          "ground_rent_gbp_per_year": 100, "service_charge_gbp_per_year": 900});
    assert_takes(
        &flat(),
        "/lease",
        &[json!({"years_remaining": 90}), detailed.clone()],
    );
    let both = with(flat(), "/lease", detailed);
    assert_refuses(&both, "/lease/years_remaining", &[json!(90)]);
}

#[test]
fn flats_inapplicable_fields_are_not_used_and_are_listed() {
    let (_contract, client) = value();
    let plain = client.post(SIMPLE, &flat()).ok();
    assert!(fields(&plain, "ignored_inputs").is_empty());
    let storeys = client.post(SIMPLE, &with(flat(), "/size/storeys", 2)).ok();
    assert_eq!(fields(&storeys, "ignored_inputs"), ["/size/storeys"]);
    assert_eq!(estimate(&storeys), estimate(&plain));
}
