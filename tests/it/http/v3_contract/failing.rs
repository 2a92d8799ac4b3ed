//! Rows that a release cannot value, and errors of the service.

use crate::common::client::Client;
use crate::common::demo::{at, flat, house};
use crate::common::guest;
use crate::common::packages::Releases;
use crate::common::server::{Server, start};
use crate::v3_contract::deadline::{endless, spinning};
use crate::v3_contract::{BATCH, SIMPLE, SIMPLE_BATCH, STANDARD, batch, with};
use domesday_package::PropertyType;
use serde_json::{Value, json};
use std::sync::OnceLock;

const MISBEHAVING: &str = "misbehaving";
/// Bedrooms by which the guest values at a round sum, and traps.
const GOOD: u8 = 12;
const TRAP: u8 = 2;
/// Bedrooms by which the guest finds three comparables.
const COMPARED: u8 = 13;

/// Starts a server of a release that misbehaves by the number of bedrooms and takes no flats.
fn misbehaving() -> (Server, Client) {
    static COMPONENT: OnceLock<Vec<u8>> = OnceLock::new();
    let component = COMPONENT.get_or_init(|| guest::component("guest-misbehaving"));
    let releases = Releases::copy();
    releases.add_changed(MISBEHAVING, component.clone(), |body| {
        body.property_types
            .retain(|&kind| kind != PropertyType::Flat);
    });
    let arguments = ["--release", MISBEHAVING, "--allow-unsigned", MISBEHAVING];
    let server = start().releases(releases.path()).with(&arguments).go();
    let client = server.demo();
    (server, client)
}

fn rooms(bedrooms: u8) -> Value {
    with(house(), "/size/bedrooms", bedrooms)
}

#[test]
fn row_valuation_failed_harms_no_other_row() {
    let (_server, client) = misbehaving();
    let rows = [rooms(GOOD), rooms(TRAP), rooms(GOOD)];
    let envelope = client.post(BATCH, &batch(json!({}), &rows)).ok();
    let statuses: Vec<_> = envelope["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["status"])
        .collect();
    assert_eq!(statuses, ["valued", "valuation_failed", "valued"]);
    assert_eq!(envelope["results"][1]["errors"][0]["retryable"], false);
}

#[test]
fn errors_6_failed_rows_say_whether_for_now_or_for_good() {
    let (_server, client) = endless(&["--processing-deadline", "1000"]);
    let rows = [rooms(TRAP), spinning(house())];
    let envelope = client.post(BATCH, &batch(json!({}), &rows)).ok();
    for (at, code, retryable) in [
        (0, "release_failed", false),
        (1, "processing_deadline_exceeded", true),
    ] {
        let result = &envelope["results"][at];
        assert_eq!(result["status"], "valuation_failed");
        let error = &result["errors"][0];
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!(code), &json!(retryable))
        );
    }
}

#[test]
fn result_status_is_one_of_four_words() {
    let (_server, client) = misbehaving();
    // The release takes no flats.
    let nowhere = at("4711", "Badger Yard Gardens", "QA1 1AF");
    let rows = [rooms(GOOD), flat(), nowhere, rooms(TRAP)];
    let words = ["valued", "referred", "rejected", "valuation_failed"];
    for route in [SIMPLE_BATCH, BATCH] {
        let envelope = client.post(route, &batch(json!({}), &rows)).ok();
        let results = envelope["results"].as_array().unwrap().iter();
        let statuses: Vec<_> = results.map(|result| &result["status"]).collect();
        assert_eq!(statuses, words, "{route}");
    }
    for (row, word) in rows.iter().zip(words) {
        let answer = client.post(SIMPLE, row);
        // A single request that is rejected has no result.
        let (status, word) = match word {
            "rejected" => (422, Value::Null),
            word => (200, word.into()),
        };
        assert_eq!((answer.status, &answer.json()["status"]), (status, &word));
    }
}

#[test]
fn result_range_null_is_that_of_a_release_without_one() {
    let (_server, client) = misbehaving();
    let single = client.post(STANDARD, &rooms(GOOD)).ok();
    let envelope = client.post(BATCH, &batch(json!({}), &[rooms(GOOD)])).ok();
    for result in [&single, &envelope["results"][0]] {
        assert_eq!(result["status"], "valued");
        let valuation = json!({"date": "2026-10-15", "estimated_value_gbp": 200_000,
                               "range": null});
        assert_eq!(result["valuation"], valuation);
    }
}

#[test]
fn options_fewer_comparables_are_returned_where_fewer_are_eligible() {
    let (_server, client) = misbehaving();
    let options = |limit: usize| json!({"include_comparables": true, "comparables_limit": limit});
    let comparables_count = |result: &Value| result["comparables"].as_array().unwrap().len();
    for limit in 0..=10 {
        let row = with(rooms(COMPARED), "/options", options(limit));
        let result = client.post(STANDARD, &row).ok();
        assert_eq!(result["status"], "valued");
        assert_eq!(result["valuation"]["estimated_value_gbp"], 200_000);
        assert_eq!(comparables_count(&result), limit.min(3), "{result}");
    }
    // There may be none at all.
    let rows = [rooms(COMPARED), rooms(GOOD)];
    let envelope = client.post(BATCH, &batch(options(10), &rows)).ok();
    assert_eq!(envelope["summary"]["valued"], 2);
    let results = [0, 1].map(|at| comparables_count(&envelope["results"][at]));
    assert_eq!(results, [3, 0]);
}

#[test]
fn error_500_for_a_fault_of_the_service() {
    let releases = Releases::copy();
    let server = start().releases(releases.path()).go();
    let snapshot = releases.snapshot().join("snapshot.redb");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(snapshot)
        .unwrap();
    file.set_len(4096).unwrap();
    let answer = server.demo().get("/v3/coverage?postcode=QA11AF");
    assert_eq!(answer.status, 500, "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], "internal");
    assert_eq!(answer.json()["error"]["retryable"], true);
}
