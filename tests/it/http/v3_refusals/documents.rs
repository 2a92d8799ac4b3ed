//! Refusals of a request's document.

use crate::common::demo::{FLAT, NEIGHBOUR, at, divided, flat, house, house_with, scottish, shop};
use crate::common::raw::send;
use crate::v3_refusals::{JSON, SIMPLE, STANDARD, render, service, with_key};
use serde_json::{Value, json};

macro_rules! refused {
    ($($name:ident: $request:expr;)*) => {$(
        #[test]
        fn $name() {
            let (_server, client) = service();
            let answer = client.post(STANDARD, &$request);
            assert_eq!(answer.refusal(), client.post(SIMPLE, &$request).refusal());
            insta::assert_snapshot!(stringify!($name), render(&answer));
        }
    )*};
}

/// Returns the house with one member of one section changed.
fn changed(pointer: &str, value: Value) -> Value {
    let mut request = house();
    let (section, name) = pointer[1..].split_once('/').unwrap();
    request[section][name] = value;
    request
}

/// Returns the house without one member of one section.
fn without(section: &str, name: &str) -> Value {
    let mut request = house();
    request[section].as_object_mut().unwrap().remove(name);
    request
}

/// Returns a request with another member.
fn and(mut request: Value, name: &str, value: Value) -> Value {
    request[name] = value;
    request
}

refused! {
    an_unknown_field_at_the_top: and(house(), "purpose", "mortgage".into());
    an_unknown_field_of_property: changed("/property/county", "Fenwelshire".into());
    an_unknown_field_of_occupancy: changed("/occupancy/since", "2020-01-01".into());
    an_unknown_field_of_size: changed("/size/bathrooms", 1.into());
    an_unknown_option: house_with(json!({"include_feature_attribution": true}));
    an_unknown_field_of_lease: and(flat(), "lease", json!({"years_remaining": 90, "rent": 1}));
    an_unknown_field_of_fabric: and(house(), "fabric", json!({"door": "oak"}));
    an_unknown_field_of_energy: and(house(), "energy", json!({"boiler": "gas"}));
    an_option_that_is_null: house_with(json!({"include_comparables": null}));
    options_that_are_null: house_with(Value::Null);
    a_null_outside_of_options: changed("/property/uprn", Value::Null);
    a_uprn_of_the_wrong_type: changed("/property/uprn", 42.into());
    an_area_of_the_wrong_type: changed("/size/floor_area_m2", "100".into());
    bedrooms_with_a_fraction: changed("/size/bedrooms", json!(2.5));
    a_section_of_the_wrong_type: and(house(), "property", json!([]));
    a_section_that_is_missing: json!({"property": house()["property"], "size": house()["size"]});
    a_section_that_is_empty: and(house(), "size", json!({}));
    a_postcode_that_is_missing: without("property", "postcode");
    an_area_that_is_missing: without("size", "floor_area_m2");
    a_limit_over_ten: house_with(json!({"comparables_limit": 11}));
    a_subtype_of_another_type: changed("/property/subtype", "house_detached".into());
    a_building_that_is_not_built_yet: changed("/property/build_status", "proposed".into());
    a_leasehold_without_its_lease: changed("/property/title_tenure", "leasehold".into());
    a_lease_of_a_freehold: and(house(), "lease", json!({"years_remaining": 90}));
    both_lease_paths_at_once:
        and(flat(), "lease", json!({"years_remaining": 90, "start_date": "2000-01-01", "term_years": 99}));
    a_day_that_does_not_exist: changed("/property/valuation_date", "2026-02-30".into());
    a_date_before_the_window: changed("/property/valuation_date", "2026-09-30".into());
    a_date_after_the_window: changed("/property/valuation_date", "2028-01-01".into());
    a_uprn_that_is_not_the_addresss: changed("/property/uprn", NEIGHBOUR.into());
    an_address_of_several_properties: divided();
    an_address_that_does_not_exist: at("13", "Badger Yard Gardens", "QA1 1AF");
    an_address_on_another_street: at("15", "Amber Street", "QA1 1AF");
    a_postcode_that_does_not_exist: at("15", "Badger Yard Gardens", "ZZ99 9ZZ");
    scotland_is_outside: scottish();
    a_shop_is_refused: shop();
    stored_data_without_its_scope: house_with(json!({"use_stored_data": true}));
}

#[test]
fn every_fault_is_listed_in_the_order_of_the_document() {
    let (_server, client) = service();
    let body = r#"{"options":{"comparables_limit":99,"explain":true},"property":{"postcode":"nowhere",
        "valuation_date":"soon","building_number_or_name":"","street":"x","type":"Q","subtype":"castle",
        "title_tenure":"freehold"},"occupancy":{"status":null},"size":{},"cellar":1}"#;
    insta::assert_snapshot!(render(&client.post_text(SIMPLE, body)));
}

#[test]
fn broken_json_is_refused_at_its_line_and_column() {
    let (_server, client) = service();
    for (name, body) in [
        ("cut_off", r#"{"property": {"#),
        ("trailing_comma", "{\n  \"size\": {},\n}"),
        ("two_documents", "{} {}"),
        ("nothing", ""),
        ("a_comment", "{ /* none */ }"),
    ] {
        insta::assert_snapshot!(
            format!("json_{name}"),
            render(&client.post_text(SIMPLE, body))
        );
    }
}

#[test]
fn text_that_is_not_utf_8_is_not_json() {
    let (_server, client) = service();
    let head = with_key(
        &client.key,
        &[JSON, ("Content-Length", "5")],
        "POST",
        SIMPLE,
    );
    let answer = send(client.address, &[head.as_bytes(), b"{\"\xff\"}"].concat());
    assert_eq!(
        answer.refusal(),
        (422, "invalid_json".into(), Some(String::new()))
    );
}

#[test]
fn depth_ends_at_thirty_two_without_harm() {
    let (_server, client) = service();
    for deep in [33, 100_000] {
        let body = "[".repeat(deep) + &"]".repeat(deep);
        assert_eq!(client.post_text(SIMPLE, &body).refusal().1, "invalid_json");
    }
}

#[test]
fn a_member_given_twice_is_refused_however_it_is_spelt() {
    let (_server, client) = service();
    let once = house().to_string();
    for again in [
        r#","size":{"bedrooms":1}}"#,
        r#","\u0073ize":{"bedrooms":1}}"#,
    ] {
        let body = once[..once.len() - 1].to_owned() + again;
        let (status, code, field) = client.post_text(SIMPLE, &body).refusal();
        assert_eq!(
            (status, code.as_str(), field.as_deref()),
            (422, "invalid_value", Some("/size"))
        );
    }
}

#[test]
fn a_body_must_be_an_object() {
    let (_server, client) = service();
    for body in ["null", "[]", "7", "\"x\""] {
        let (status, code, field) = client.post_text(SIMPLE, body).refusal();
        assert_eq!(
            (status, code.as_str(), field.as_deref()),
            (422, "invalid_value", Some(""))
        );
    }
}

#[test]
fn a_foreign_uprn_beside_an_ambiguous_address_does_not_settle_it() {
    let (_server, client) = service();
    let mut request = divided();
    request["property"]["uprn"] = FLAT.into();
    assert_eq!(
        client.post(SIMPLE, &request).refusal().1,
        "address_ambiguous"
    );
}

#[test]
fn queries_are_read_as_strictly_as_bodies() {
    let (_server, client) = service();
    for (name, path) in [
        ("without_a_postcode", "/v3/coverage"),
        ("broken_values", "/v3/coverage?postcode=QA1&uprn=x"),
        (
            "given_twice",
            "/v3/coverage?postcode=QA1+1AF&postcode=QA1+1AF",
        ),
        ("unknown", "/v3/coverage?postcode=QA1+1AF&radius=5"),
        ("none_taken", "/v3/releases/current?verbose=1"),
    ] {
        insta::assert_snapshot!(format!("query_{name}"), render(&client.get(path)));
    }
}

#[test]
fn a_postcode_of_scotland_is_outside_though_the_release_does_not_list_it() {
    let (_server, client) = service();
    for postcode in ["EH1 1AA", "BT1 1AA", "JE2 3AB"] {
        let request = at("1", "High Street", postcode);
        let refused = client.post(SIMPLE, &request).refusal();
        let pointer = Some("/property/postcode".to_owned());
        assert_eq!(refused, (422, "outside_geography".to_owned(), pointer));
    }
}
