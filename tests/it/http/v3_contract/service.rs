//! The section of the contract about the service.

use crate::common::demo::{FLAT, HOUSE, at, flat, house, shop, uncertified, welsh};
use crate::v3_contract::{
    BATCH, JOBS, RELEASE, SIMPLE, STANDARD, all, assert_invalid, batch, estimate, fields, names,
    refused, value, with,
};
use serde_json::json;

#[test]
fn service_1_a_valued_answer_has_its_four_parts() {
    let (_contract, client) = value();
    let result = client.post(SIMPLE, &house()).ok();
    assert!(estimate(&result) > 0);
    assert!(result["valuation"]["range"].is_object());
    assert_eq!(names(&result["confidence"]), ["band", "score"]);
    assert_eq!(
        names(&result["input_resolution"]),
        ["derived_inputs", "ignored_inputs", "stored_data_used"]
    );
}

#[test]
fn service_2_only_a_home_that_exists_is_valued() {
    let (_contract, client) = value();
    assert_eq!(
        client.post(SIMPLE, &house()).ok()["property"]["uprn"],
        HOUSE
    );
    let nowhere = at("4711", "Badger Yard Gardens", "QA1 1AF");
    let nowhere = refused(&client.post(SIMPLE, &nowhere));
    assert_eq!(nowhere, (422, "address_not_found".to_owned()));
    let shop = refused(&client.post(SIMPLE, &shop()));
    assert_eq!(shop, (422, "not_residential".to_owned()));
}

#[test]
fn service_3_single_takes_one_property() {
    let (_contract, client) = value();
    for request in [house(), flat(), welsh()] {
        let result = client.post(SIMPLE, &request).ok();
        assert_eq!(result["status"], "valued");
        assert!(estimate(&result) > 0);
    }
}

#[test]
fn service_4_the_depths_differ_by_the_evidence_alone() {
    let (_contract, client) = value();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let request = with(house(), "/options", options);
    let simple = client.post(SIMPLE, &request).ok();
    let mut standard = client.post(STANDARD, &request).ok();
    for added in ["comparables", "context"] {
        assert!(standard.as_object_mut().unwrap().remove(added).is_some());
    }
    assert_eq!(names(&simple), names(&standard));
    assert_eq!(simple["valuation"], standard["valuation"]);
}

#[test]
fn service_6_unknown_fields_are_refused_wherever_they_stand() {
    let (_contract, client) = value();
    for pointer in [
        "/purpose",
        "/property/county",
        "/occupancy/since",
        "/size/bathrooms",
        "/options/explain",
    ] {
        for route in [SIMPLE, STANDARD] {
            let (status, code, field) = client.post(route, &with(house(), pointer, 1)).refusal();
            assert_eq!((status, code.as_str()), (422, "unknown_field"));
            assert_eq!(field.as_deref(), Some(pointer));
        }
    }
    let (status, code, _) = client.get(&format!("{RELEASE}?x=1")).refusal();
    assert_eq!((status, code.as_str()), (422, "unknown_field"));
    for (route, body) in [
        (SIMPLE, house()),
        (BATCH, batch(json!({}), &[house()])),
        (JOBS, batch(json!({}), &[house()])),
    ] {
        let answer = client.post(&format!("{route}?mode=standard"), &body);
        assert_invalid(&answer, "unknown_field", "/mode");
    }
}

#[test]
fn service_6_explicit_values_win_over_stored_ones() {
    let (_contract, client) = all();
    let area = "/size/floor_area_m2".to_owned();
    let mut blank = with(house(), "/options", json!({"use_stored_data": true}));
    blank["size"] = json!({"bedrooms": 3});
    let stored = client.post(SIMPLE, &blank).ok();
    assert!(fields(&stored, "stored_data_used").contains(&area));
    let explicit = client.post(SIMPLE, &with(blank, &area, 60)).ok();
    assert!(!fields(&explicit, "stored_data_used").contains(&area));
    assert!(estimate(&explicit) < estimate(&stored));
}

#[test]
fn service_6_confidence_falls_with_the_evidence() {
    let (_contract, client) = value();
    // The further the valuation day lies after the last sale, the less is known.
    let score = |day: &str| {
        let request = with(house(), "/property/valuation_date", day);
        let result = client.post(SIMPLE, &request).ok();
        result["confidence"]["score"].as_f64().unwrap()
    };
    let (near, far) = (score("2026-10-01"), score("2027-12-31"));
    assert!(far < near, "{near} {far}");
    assert!((0.0..=1.0).contains(&near) && (0.0..=1.0).contains(&far));
}

#[test]
fn service_6_ranges_are_no_fixed_share_of_the_estimate() {
    let (_contract, client) = value();
    let requests = [house(), flat(), welsh(), uncertified()];
    let widths = requests.map(|request| {
        let result = client.post(SIMPLE, &request).ok();
        let range = &result["valuation"]["range"];
        assert_eq!(range["nominal_coverage"], 0.8);
        let end = |name: &str| range[name].as_u64().unwrap();
        let width = end("upper_value_gbp") - end("lower_value_gbp");
        width as f64 / estimate(&result) as f64
    });
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let narrowest = widths.iter().copied().fold(1.0, f64::min);
    assert!(narrowest > 0.0 && widest > narrowest * 1.02, "{widths:?}");
}

#[test]
fn service_6_attribution_is_refused() {
    let (_contract, client) = value();
    for name in [
        "include_feature_attribution",
        "feature_attribution",
        "attributions",
    ] {
        let request = with(house(), "/options", json!({name: false}));
        for route in [SIMPLE, STANDARD] {
            let refused = refused(&client.post(route, &request));
            assert_eq!(refused, (422, "unknown_field".to_owned()), "{name}");
        }
    }
}

#[test]
fn service_7_referred_without_an_estimate() {
    let (_contract, client) = value();
    let short = with(flat(), "/lease", json!({"years_remaining": 3}));
    let vast = with(house(), "/size/floor_area_m2", 1999);
    for (request, code, uprn) in [(short, "short_lease", FLAT), (vast, "unusual_size", HOUSE)] {
        let result = client.post(SIMPLE, &request).ok();
        assert_eq!(result["status"], "referred");
        assert_eq!(result["referral"]["code"], code);
        assert_eq!(result["property"]["uprn"], uprn);
        assert!(result["valuation"].get("estimated_value_gbp").is_none());
    }
}

#[test]
fn service_7_rejected_not_referred() {
    let (_contract, client) = value();
    for (request, code) in [
        (
            at("4711", "Badger Yard Gardens", "QA1 1AF"),
            "address_not_found",
        ),
        (with(house(), "/size/bedrooms", "three"), "invalid_value"),
        (at("1", "High Street", "EH1 1AA"), "outside_geography"),
    ] {
        let refused = refused(&client.post(SIMPLE, &request));
        assert_eq!(refused, (422, code.to_owned()));
    }
}
