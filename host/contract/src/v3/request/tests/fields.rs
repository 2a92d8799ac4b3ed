//! One field at a time: each rule, and both edges of each range.

use super::*;
use Code::{EmptySection, InvalidValue, MissingField, NullOption, UnknownField};

/// Returns a sound house with the field at `pointer` set to the JSON of `value`.
fn house_with(pointer: &str, value: &str) -> Json {
    let mut house = house();
    let mut target = &mut house;
    for name in pointer.split('/').skip(1) {
        target = &mut target[name.replace("~1", "/").replace("~0", "~")];
    }
    *target = serde_json::from_str(value).unwrap();
    house
}

#[test]
fn every_field_has_its_rule() {
    let long = format!("\"{}\"", "x".repeat(201));
    for (code, pointer, value) in [
        (InvalidValue, "/request_reference", &*long),
        (InvalidValue, "/request_reference", "null"),
        (InvalidValue, "/request_reference", r#""a\u0007b""#),
        (InvalidValue, "/request_reference", r#"" ""#),
        (NullOption, "/options", "null"),
        (InvalidValue, "/options", "1"),
        (NullOption, "/options/include_comparables", "null"),
        (NullOption, "/options/comparables_limit", "null"),
        (NullOption, "/options/include_context_metrics", "null"),
        (NullOption, "/options/use_stored_data", "null"),
        (InvalidValue, "/options/include_comparables", "1"),
        (InvalidValue, "/options/include_context_metrics", "1"),
        (InvalidValue, "/options/use_stored_data", r#""true""#),
        (InvalidValue, "/options/comparables_limit", "11"),
        (InvalidValue, "/options/comparables_limit", "-1"),
        (InvalidValue, "/options/comparables_limit", "3.0"),
        (UnknownField, "/options/include_feature_attribution", "true"),
        (EmptySection, "/property", "{}"),
        (InvalidValue, "/property", "null"),
        (InvalidValue, "/property", "[]"),
        (InvalidValue, "/property/valuation_date", r#""2026-02-29""#),
        (InvalidValue, "/property/valuation_date", r#""2026-3-1""#),
        (
            InvalidValue,
            "/property/valuation_date",
            r#""2026-03-01T00:00""#,
        ),
        (InvalidValue, "/property/valuation_date", "20260301"),
        (InvalidValue, "/property/uprn", "100"),
        (InvalidValue, "/property/uprn", r#""1234567890123""#),
        (InvalidValue, "/property/postcode", r#""ZZ1""#),
        (InvalidValue, "/property/building_number_or_name", r#""""#),
        (InvalidValue, "/property/building_number_or_name", &long),
        (InvalidValue, "/property/street", &long),
        (InvalidValue, "/property/type", r#""s""#),
        (InvalidValue, "/property/subtype", r#""house""#),
        (InvalidValue, "/property/subtype", r#""house_detached""#),
        (InvalidValue, "/property/title_tenure", r#""feudal""#),
        (InvalidValue, "/property/build_status", r#""proposed""#),
        (UnknownField, "/property/a~1b~0c", r#"{"deep":1}"#),
        (InvalidValue, "/occupancy/status", r#""squatted""#),
        (UnknownField, "/occupancy/since", "1"),
        (EmptySection, "/size", "{}"),
        (InvalidValue, "/size/floor_area_m2", "null"),
        (InvalidValue, "/size/floor_area_m2", "9.99"),
        (InvalidValue, "/size/floor_area_m2", "2000.1"),
        (InvalidValue, "/size/floor_area_m2", r#""84""#),
        (InvalidValue, "/size/bedrooms", "-1"),
        (InvalidValue, "/size/bedrooms", "21"),
        (InvalidValue, "/size/bedrooms", "3.5"),
        (InvalidValue, "/size/living_rooms", "11"),
        (InvalidValue, "/size/storeys", "0"),
        (InvalidValue, "/size/storeys", "7"),
        (InvalidValue, "/size/floor_level", "-6"),
        (InvalidValue, "/size/floor_level", "101"),
        (InvalidValue, "/lease", r#"{"years_remaining":80}"#),
        (EmptySection, "/fabric", "{}"),
        (InvalidValue, "/fabric/wall_type", r#""straw""#),
        (InvalidValue, "/fabric/roof_type", r#""dome""#),
        (InvalidValue, "/fabric/floor_type", r#""sand""#),
        (InvalidValue, "/fabric/glazing", r#""none""#),
        (EmptySection, "/energy", "{}"),
        (InvalidValue, "/energy/construction_age_band", r#""M""#),
        (InvalidValue, "/energy/rating", r#""H""#),
        (InvalidValue, "/energy/efficiency_score", "0"),
        (InvalidValue, "/energy/efficiency_score", "101"),
        (UnknownField, "/colour", r#""red""#),
    ] {
        let error = read(&house_with(pointer, value)).unwrap_err();
        assert_eq!(
            codes_and_fields(error),
            one(code, pointer),
            "{pointer}: {value}"
        );
    }
}

#[test]
fn every_required_field_is_missed() {
    for (section, name) in [
        ("/property", "valuation_date"),
        ("/property", "postcode"),
        ("/property", "building_number_or_name"),
        ("/property", "street"),
        ("/property", "type"),
        ("/property", "subtype"),
        ("/property", "title_tenure"),
        ("/size", "floor_area_m2"),
        ("", "property"),
        ("", "occupancy"),
        ("", "size"),
    ] {
        let mut house = house();
        let object = house.pointer_mut(section).unwrap();
        object.as_object_mut().unwrap().remove(name);
        let pointer = format!("{section}/{name}");
        assert_eq!(
            codes_and_fields(read(&house).unwrap_err()),
            one(MissingField, &pointer)
        );
    }
    // The only field of its section, so that the section must hold something else.
    assert_eq!(
        errors(
            house(),
            json!({"occupancy": {"status": "remove", "since": 1}})
        ),
        [
            (MissingField, "/occupancy/status".to_owned()),
            (UnknownField, "/occupancy/since".to_owned()),
        ]
    );
    assert_eq!(
        codes_and_fields(
            read(&house_with("/property/title_tenure", r#""leasehold""#)).unwrap_err()
        ),
        one(MissingField, "/lease")
    );
}

#[test]
fn the_edges_of_every_range_are_inside() {
    // A character of four bytes counts once.
    let longest = format!("\"{}\"", "🏠".repeat(200));
    for (pointer, least, most) in [
        ("/request_reference", r#""x""#, &*longest),
        ("/property/street", r#""x""#, &longest),
        ("/property/building_number_or_name", r#""1""#, &longest),
        ("/options/comparables_limit", "0", "10"),
        ("/size/floor_area_m2", "10", "2e3"),
        ("/size/bedrooms", "0", "20"),
        ("/size/living_rooms", "0", "10"),
        ("/size/storeys", "1", "6"),
        ("/size/floor_level", "-5", "100"),
        ("/energy/efficiency_score", "1", "100"),
    ] {
        for value in [least, most] {
            let read = read(&house_with(pointer, value));
            assert!(read.is_ok(), "{pointer}: {value}: {read:?}");
        }
    }
}

#[test]
fn a_message_says_what_is_expected_and_how_to_omit_an_optional_field() {
    const BEDROOMS: &str =
        "Expected a whole number from 0 to 20, written without fraction or exponent, got";
    const OMIT: &str = "To omit the field, leave it out.";
    const EMPTY: &str = "The text is empty; give a value.";
    for (pointer, value, message) in [
        ("/size/bedrooms", "null", format!("{BEDROOMS} null. {OMIT}")),
        ("/size/bedrooms", r#""3""#, format!("{BEDROOMS} a string.")),
        ("/request_reference", r#"" ""#, format!("{EMPTY} {OMIT}")),
        ("/property/street", r#"" ""#, EMPTY.to_owned()),
        (
            "/property/build_status",
            r#""proposed""#,
            "Expected the value existing, got \"proposed\".".to_owned(),
        ),
        (
            "/fabric",
            "null",
            format!("Expected an object, got null. {OMIT}"),
        ),
        (
            "/fabric",
            "[]",
            "Expected an object, got a list.".to_owned(),
        ),
        ("/size", "null", "Expected an object, got null.".to_owned()),
    ] {
        let error = read(&house_with(pointer, value)).unwrap_err();
        assert_eq!(error.errors[0].message, message, "{pointer}: {value}");
    }
}

#[test]
fn a_pointer_repeats_a_name_of_at_most_200_bytes() {
    for (length, pointer) in [
        (200, format!("/size/{}", "x".repeat(200))),
        (201, "/size".to_owned()),
    ] {
        let mut house = house();
        house["size"]["x".repeat(length)] = json!(1);
        let error = read(&house).unwrap_err();
        assert_eq!(codes_and_fields(error), one(UnknownField, &pointer));
    }
}
