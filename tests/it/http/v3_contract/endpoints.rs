//! Routes, and the rules of how they answer.

use crate::common::demo::{self, HOUSE, at, divided, flat, house, shop, welsh};
use crate::common::packages::Releases;
use crate::common::raw::{head, send};
use crate::common::server::start;
use crate::v3_contract::{COVERAGE, RELEASE, SIMPLE, STANDARD, refused, value, with};
use chrono::NaiveDate;
use serde_json::json;

#[test]
fn endpoint_simple_value_answers_the_core() {
    let (_contract, client) = value();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let result = client
        .post(SIMPLE, &with(house(), "/options", options))
        .ok();
    assert_eq!(result["status"], "valued");
    assert!(result.get("comparables").is_none() && result.get("context").is_none());
}

#[test]
fn endpoint_value_answers_with_the_evidence_asked_for() {
    let (_contract, client) = value();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let result = client
        .post(STANDARD, &with(house(), "/options", options))
        .ok();
    assert_eq!(result["status"], "valued");
    assert!(result["comparables"].is_array() && result["context"].is_object());
}

#[test]
fn endpoint_release_answers_the_metadata() {
    let (_contract, client) = value();
    assert_eq!(client.get(RELEASE).ok()["release_id"], demo::RELEASE);
}

#[test]
fn endpoint_coverage_takes_a_postcode_and_maybe_a_uprn() {
    let (_contract, client) = value();
    let known = client
        .get(&format!("{COVERAGE}?postcode=QA11AF&uprn={HOUSE}"))
        .ok();
    assert_eq!(known["postcode"]["represented"], true);
    assert_eq!(known["uprn"]["present"], true);
    let alone = client.get(&format!("{COVERAGE}?postcode=QA11AF")).ok();
    assert_eq!(alone["uprn"], json!(null));
    let (status, code, field) = client.get(&format!("{COVERAGE}?uprn={HOUSE}")).refusal();
    assert_eq!((status, code.as_str()), (422, "missing_field"));
    assert_eq!(field.as_deref(), Some("/postcode"));
}

#[test]
fn endpoints_authentication_covers_every_route() {
    let (contract, client) = value();
    let routes = [
        ("POST", "/v3/simple-value"),
        ("POST", "/v3/value"),
        ("POST", "/v3/simple-batch-value"),
        ("POST", "/v3/batch-value"),
        ("POST", "/v3/development-value"),
        ("POST", "/v3/development-batch-value"),
        ("POST", "/v3/valuation-jobs"),
        (
            "GET",
            "/v3/valuation-jobs/0199a0c0-0000-7000-8000-000000000000",
        ),
        (
            "GET",
            "/v3/valuation-jobs/0199a0c0-0000-7000-8000-000000000000/results",
        ),
        ("GET", "/v3/releases/current"),
        ("GET", "/v3/coverage?postcode=QA11AF"),
    ];
    for (method, path) in routes {
        let plain = head(method, path, &[("Content-Length", "0")]);
        let answer = send(contract.server.address, plain.as_bytes());
        assert_eq!(refused(&answer).0, 401, "{path}");
    }
    assert_eq!(client.get(RELEASE).status, 200);
}

#[test]
fn endpoints_1_unresolved_input_is_422() {
    let (_contract, client) = value();
    for request in [
        at("4711", "Badger Yard Gardens", "QA1 1AF"),
        divided(),
        shop(),
        with(house(), "/size/bedrooms", "three"),
    ] {
        assert_eq!(client.post(SIMPLE, &request).status, 422);
    }
}

#[test]
fn endpoints_1_provider_that_does_not_answer_is_503_and_may_be_tried_again() {
    let releases = Releases::copy();
    let server = start().releases(releases.path()).go();
    // The address lookup reads the snapshot's file, which is cut off under the running server. A
    // home that the start of the server did not look up is in no cache either.
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(releases.snapshot().join("snapshot.redb"))
        .unwrap();
    file.set_len(4096).unwrap();
    let answer = server.demo().post(SIMPLE, &welsh());
    let error = &answer.json()["error"];
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(error["code"], "identity_provider_unavailable");
    assert_eq!(error["retryable"], true);
}

#[test]
fn endpoints_1_referred_is_200() {
    let (_contract, client) = value();
    let answer = client.post(
        SIMPLE,
        &with(flat(), "/lease", json!({"years_remaining": 3})),
    );
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["status"], "referred");
}

#[test]
fn endpoints_8_the_metadata_alone_say_which_dates_are_taken() {
    let (_contract, client) = value();
    let window = client.get(RELEASE).ok()["valuation_date"].clone();
    let on = |day: NaiveDate| {
        let request = with(house(), "/property/valuation_date", day.to_string());
        client.post(SIMPLE, &request)
    };
    let day = |end: &str| window[end].as_str().unwrap().parse::<NaiveDate>().unwrap();
    let (first, last) = (day("from"), day("to"));
    assert_eq!((on(first).status, on(last).status), (200, 200));
    for outside in [first.pred_opt().unwrap(), last.succ_opt().unwrap()] {
        let expected = (422, "valuation_date_outside_window".to_owned());
        assert_eq!(refused(&on(outside)), expected, "{outside}");
    }
}

#[test]
fn endpoints_8_cached_are_the_metadata_for_a_minute_and_by_their_customer_alone() {
    let (contract, client) = value();
    let answer = client.get(RELEASE);
    assert_eq!(answer.status, 200);
    let cache_control = answer.header("cache-control");
    assert_eq!(cache_control, Some("private, max-age=60"));
    // Limits and endpoints are those of the key.
    assert_eq!(answer.header("vary"), Some("Authorization"));
    let refused = contract.customer("markets").get(RELEASE);
    assert_eq!(
        (refused.status, refused.header("cache-control")),
        (403, None)
    );
}

#[test]
fn endpoints_9_coverage_values_nothing_and_promises_nothing() {
    let (_contract, client) = value();
    let text = client.get(&format!("{COVERAGE}?postcode=QA11AE")).text;
    for word in ["valuation", "gbp", "confidence", "status"] {
        assert!(!text.contains(&format!("\"{word}")), "{text}");
    }
    // A property that is represented may be referred all the same.
    let short = with(flat(), "/lease", json!({"years_remaining": 3}));
    assert_eq!(client.post(SIMPLE, &short).ok()["status"], "referred");
    assert!(text.contains("\"represented\":true"), "{text}");
}

#[test]
fn endpoints_9_separately_looks_at_postcode_and_uprn() {
    let (_contract, client) = value();
    let check = |query: &str| client.get(&format!("{COVERAGE}?{query}")).ok();
    // The house is in another postcode, which the check does not mind.
    let both = check(&format!("postcode=QA11AE&uprn={HOUSE}"));
    assert_eq!(both["postcode"]["represented"], true);
    assert_eq!(both["uprn"]["present"], true);
    let neither = check("postcode=ZZ999ZZ&uprn=1");
    assert_eq!(neither["postcode"]["represented"], false);
    assert_eq!(neither["uprn"]["present"], false);
    assert_eq!(
        check(&format!("postcode=ZZ999ZZ&uprn={HOUSE}"))["uprn"]["present"],
        true
    );
}
