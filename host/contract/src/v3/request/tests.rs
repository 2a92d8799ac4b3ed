mod fields;

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;
use crate::error::{Code, ErrorBody};
use crate::v3::input::{Input, Reason};
use crate::v3::options::Settings;

fn house() -> Json {
    json!({
        "request_reference": "ref-1",
        "property": {
            "valuation_date": "2026-03-31",
            "uprn": "100000000001",
            "postcode": "zz1 1aa",
            "building_number_or_name": "12A",
            "street": "Larkspur Lane",
            "type": "S",
            "subtype": "house_semi_detached",
            "title_tenure": "freehold",
            "build_status": "existing"
        },
        "occupancy": {"status": "owner_occupied"},
        "size": {"floor_area_m2": 84.5, "bedrooms": 3, "living_rooms": 1, "storeys": 2}
    })
}

fn flat() -> Json {
    let mut flat = house();
    merge(
        &mut flat,
        json!({
            "property": {"type": "F", "subtype": "flat_purpose_built", "title_tenure": "leasehold"},
            "size": {"floor_level": 3},
            "lease": {"years_remaining": 84.5}
        }),
    );
    flat
}

/// Lays a patch over a document: objects are merged, but an empty one replaces; the string
/// "remove" removes.
fn merge(target: &mut Json, patch: Json) {
    match (target, patch) {
        (Json::Object(target), Json::Object(patch)) if !patch.is_empty() => {
            for (name, value) in patch {
                if value == "remove" {
                    target.remove(&name);
                } else {
                    merge(
                        target.entry(name).or_insert(Json::Object(Map::new())),
                        value,
                    );
                }
            }
        }
        (target, patch) => *target = patch,
    }
}

fn read(document: &Json) -> Result<Request, RequestError> {
    Request::read(document.to_string().as_bytes())
}

fn with(mut base: Json, patch: Json) -> Result<Request, RequestError> {
    merge(&mut base, patch);
    read(&base)
}

/// Codes and pointers of all errors, in their order.
fn errors(base: Json, patch: Json) -> Vec<(Code, String)> {
    codes_and_fields(with(base, patch).unwrap_err())
}

fn codes_and_fields(error: RequestError) -> Vec<(Code, String)> {
    error
        .errors
        .into_iter()
        .map(|error| (error.code, error.field.unwrap().into_owned()))
        .collect()
}

fn one(code: Code, pointer: &str) -> Vec<(Code, String)> {
    vec![(code, pointer.to_owned())]
}

#[test]
fn a_house_is_read() {
    insta::assert_debug_snapshot!(read(&house()).unwrap());
}

#[test]
fn inapplicable_inputs_of_a_flat_are_ignored() {
    let request = read(&flat()).unwrap();
    assert_eq!(request.size.storeys, None);
    assert_eq!(request.size.floor_level, Some(3));
    assert_eq!(request.ignored_inputs.len(), 1);
    assert_eq!(request.ignored_inputs[0].field, Input::Storeys);
    assert_eq!(
        request.ignored_inputs[0].reason,
        Some(Reason::InapplicableToFlats)
    );

    let house = with(house(), json!({"size": {"floor_level": 0}})).unwrap();
    assert_eq!(house.size.floor_level, None);
    assert_eq!(house.ignored_inputs[0].field, Input::FloorLevel);
    // An inapplicable field must still be valid in itself.
    assert_eq!(
        errors(flat(), json!({"size": {"storeys": 7}})),
        one(Code::InvalidValue, "/size/storeys")
    );
}

#[test]
fn leases_follow_one_of_two_paths() {
    use Code::{EmptySection, InvalidValue, MissingField};
    let detailed =
        json!({"years_remaining": "remove", "start_date": "2001-03-31", "term_years": 125});
    let request = with(flat(), json!({"lease": detailed})).unwrap();
    let years = request
        .lease
        .unwrap()
        .years_remaining(request.property.valuation_date);
    assert!((years - 100.0).abs() < 0.01, "{years}");
    let begins_today =
        json!({"years_remaining": "remove", "start_date": "2026-03-31", "term_years": 99});
    assert!(with(flat(), json!({"lease": begins_today})).is_ok());

    for (lease, code, pointer) in [
        (json!({}), EmptySection, "/lease"),
        (
            json!({"years_remaining": 0}),
            InvalidValue,
            "/lease/years_remaining",
        ),
        (
            json!({"years_remaining": 1000}),
            InvalidValue,
            "/lease/years_remaining",
        ),
        (
            json!({"term_years": 99}),
            InvalidValue,
            "/lease/years_remaining",
        ),
        (
            json!({"service_charge_gbp_per_year": 1}),
            InvalidValue,
            "/lease/years_remaining",
        ),
        (
            json!({"years_remaining": "remove", "term_years": 99}),
            MissingField,
            "/lease/start_date",
        ),
        (
            json!({"years_remaining": "remove", "start_date": "2001-01-01"}),
            MissingField,
            "/lease/term_years",
        ),
        (
            json!({"years_remaining": "remove", "start_date": "2026-04-01", "term_years": 99}),
            InvalidValue,
            "/lease/start_date",
        ),
        (
            json!({"years_remaining": "remove", "start_date": "1925-01-01", "term_years": 99}),
            InvalidValue,
            "/lease/term_years",
        ),
    ] {
        assert_eq!(
            errors(flat(), json!({"lease": lease})),
            one(code, pointer),
            "{lease}"
        );
    }
}

#[test]
fn stored_data_may_stand_in_for_the_floor_area() {
    let blank = json!({"size": {"floor_area_m2": "remove"}, "options": {"use_stored_data": true}});
    assert_eq!(with(house(), blank).unwrap().size.floor_area_m2, None);

    let mut row = house();
    merge(&mut row, json!({"size": {"floor_area_m2": "remove"}}));
    let shared = Settings {
        use_stored_data: Some(true),
        ..Settings::default()
    };
    for options in [json!(null), json!({})] {
        row["options"] = options;
        assert!(Request::read_row(&row.to_string(), shared).is_ok());
    }
    row["options"] = json!({"use_stored_data": false});
    assert_eq!(
        codes_and_fields(Request::read_row(&row.to_string(), shared).unwrap_err()),
        one(Code::MissingField, "/size/floor_area_m2")
    );
}

#[test]
fn numbers_that_no_field_holds_are_faults_of_their_field() {
    for number in ["1e400", "-0", "123456789012345678901234567890", "3e0"] {
        let text = house()
            .to_string()
            .replace("\"bedrooms\":3", &format!("\"bedrooms\":{number}"));
        assert_eq!(
            codes_and_fields(Request::read(text.as_bytes()).unwrap_err()),
            one(Code::InvalidValue, "/size/bedrooms"),
            "{number}"
        );
    }
    let text = house().to_string().replace("84.5", "1e400");
    assert_eq!(
        codes_and_fields(Request::read(text.as_bytes()).unwrap_err()),
        one(Code::InvalidValue, "/size/floor_area_m2")
    );
}

#[test]
fn repeated_members_are_refused_wherever_they_stand() {
    let text = house()
        .to_string()
        .replace("\"bedrooms\":3", "\"bedrooms\":3,\"bedr\\u006foms\":4");
    assert_eq!(
        codes_and_fields(Request::read(text.as_bytes()).unwrap_err()),
        one(Code::InvalidValue, "/size/bedrooms")
    );
    let text = house()
        .to_string()
        .replacen('{', "{\"size\":{\"floor_area_m2\":80},", 1);
    assert_eq!(
        codes_and_fields(Request::read(text.as_bytes()).unwrap_err()),
        one(Code::InvalidValue, "/size")
    );
}

#[test]
fn all_faults_are_listed_in_document_order() {
    let text = br#"{"size":{"bedrooms":"three","rooms":4},"zzz":1,
        "property":{"type":"X","postcode":"?","valuation_date":"soon","street":"A Street"},
        "lease":{}}"#;
    let error = Request::read(text).unwrap_err();
    let body = ErrorBody::from(error);
    insta::assert_snapshot!(serde_json::to_string_pretty(&body).unwrap());
}

#[test]
fn a_flood_of_faults_is_cut_short() {
    let mut body = house();
    for index in 0..50_000 {
        body["size"][format!("x{index}")] = json!(1);
    }
    body["property"]["x".repeat(100_000)] = json!("\u{202e}".repeat(100_000));
    let error = Request::read(body.to_string().as_bytes()).unwrap_err();
    assert_eq!(error.errors.len(), crate::error::ERRORS_LISTED);
    let size = serde_json::to_string(&error.errors).unwrap().len();
    assert!(size < 10_000, "{size}");
    // The name is too long to repeat, so the error names its section.
    assert_eq!(error.errors[0].field.as_deref(), Some("/property"));
    // A field beyond the kept members is not reported as missing.
    assert!(
        error
            .errors
            .iter()
            .all(|error| error.code == Code::UnknownField)
    );
}

#[test]
fn a_refused_row_keeps_its_reference() {
    let error = with(house(), json!({"size": {}})).unwrap_err();
    assert_eq!(error.request_reference.as_deref(), Some("ref-1"));
}

#[test]
fn a_body_that_is_not_a_json_object_is_refused_as_a_whole() {
    for (text, code) in [
        ("[]", Code::InvalidValue),
        ("null", Code::InvalidValue),
        ("", Code::InvalidJson),
        ("{}}", Code::InvalidJson),
    ] {
        assert_eq!(
            codes_and_fields(Request::read(text.as_bytes()).unwrap_err()),
            one(code, ""),
            "{text}"
        );
    }
    let body = ErrorBody::from(Request::read(b"{\"size\":\n{,}}").unwrap_err());
    insta::assert_snapshot!(serde_json::to_string(&body).unwrap(), @r#"{"error":{"code":"invalid_json","message":"The body is not valid JSON: a member name in double quotes is expected at line 2, column 2.","retryable":false,"field":""},"errors":[{"code":"invalid_json","message":"The body is not valid JSON: a member name in double quotes is expected at line 2, column 2.","retryable":false,"field":""}]}"#);
}

proptest! {
    #[test]
    fn no_edit_panics_and_every_refusal_has_a_reason(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
    ) {
        let mut text = flat().to_string().into_bytes();
        for (index, byte) in edits {
            let at = index.index(text.len());
            text[at] = byte;
        }
        if let Err(error) = Request::read(&text) {
            prop_assert!(!error.errors.is_empty());
            for error in error.errors {
                prop_assert!(error.message.chars().all(|character| !character.is_control()));
                prop_assert!(error.field.is_some());
            }
        }
    }

    #[test]
    fn the_order_of_members_changes_nothing(seed in any::<prop::sample::Index>()) {
        let base = flat();
        let mut members: Vec<_> = base.as_object().unwrap().iter().collect();
        let by = seed.index(members.len());
        members.rotate_left(by);
        let text = members
            .iter()
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect::<Vec<_>>()
            .join(",");
        let turned = Request::read(format!("{{{text}}}").as_bytes());
        prop_assert_eq!(turned, Request::read(base.to_string().as_bytes()));
    }
}
