//! The limits on the rows of a batch and on the size of its answer.

use super::{SIMPLE, STANDARD, batch, batch_with, service};
use crate::common::demo::house;
use crate::common::server::start;
use serde_json::{Value, json};

#[test]
fn the_contracts_rows_and_one_more() {
    let (_server, client) = service();
    for route in [SIMPLE, STANDARD] {
        let answer = client.post(route, &batch(vec![json!(0); 2_500])).ok();
        assert_eq!(answer["status"], "failed");
        assert_eq!(answer["summary"]["rejected"], 2_500);
        let answer = client.post(route, &batch(vec![json!(0); 2_501]));
        assert_eq!(answer.status, 413);
        assert_eq!(answer.json()["error"]["code"], "too_many_rows");
        assert_eq!(answer.json()["error"]["field"], "/requests");
        let answer = client.post(route, &batch(vec![house()])).ok();
        assert_eq!(answer["summary"]["requested"], 1);
    }
}

const DEVELOPMENT: &str = "/v3/development-batch-value";

#[test]
fn a_plans_rows_and_one_more() {
    let start = start();
    let plan = "synchronous_batch_rows = 10\nasynchronous_job_rows = 3";
    let ten = start.key_with_plan("ten", &["avm:value", "avm:development"], plan);
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let client = server.client(&ten);
    let limits = client.get("/v3/releases/current").ok()["limits"].clone();
    assert_eq!(limits["synchronous_batch_rows"], 10);
    for route in [SIMPLE, STANDARD, DEVELOPMENT] {
        let rows = |count: usize| client.post(route, &batch(vec![house(); count]));
        for count in [1, 9, 10] {
            assert_eq!(rows(count).ok()["summary"]["requested"], count, "{route}");
        }
        for count in [11, 2_500, 2_501] {
            let answer = rows(count);
            let refused = (413, "too_many_rows".into(), Some("/requests".into()));
            assert_eq!(answer.refusal(), refused, "{route} {count}");
            assert_eq!(answer.json()["error"]["retryable"], false);
            assert!(answer.text.contains("10"), "{}", answer.text);
        }
    }
    // It is the plan's, not the service's.
    let eleven = batch(vec![house(); 11]);
    assert_eq!(server.client(&other).post(SIMPLE, &eleven).status, 200);
}

/// The largest answer, bytes.
const LARGEST: usize = 9_500_000;

fn everything() -> Value {
    json!({
        "include_comparables": true, "comparables_limit": 10, "include_context_metrics": true
    })
}

#[test]
fn a_full_batch_with_all_its_evidence_fits() {
    let (_server, client) = service();
    let answer = client.post(STANDARD, &batch_with(everything(), vec![house(); 2_500]));
    assert_eq!(answer.status, 200);
    assert!(answer.text.len() <= LARGEST, "{} bytes", answer.text.len());
    assert_eq!(answer.json()["summary"]["valued"], 2_500);
}

#[test]
fn a_batch_is_answered_where_its_true_size_fits() {
    let (_server, client) = service();
    let mut named = house();
    named["request_reference"] = "r".repeat(200).into();
    let answer = client.post(STANDARD, &batch_with(everything(), vec![named; 2_500]));
    assert_eq!(answer.status, 200);
    assert!(answer.text.len() <= LARGEST, "{} bytes", answer.text.len());
    assert_eq!(answer.json()["summary"]["valued"], 2_500);
}

/// Returns a row of twenty errors, which takes more bytes in an answer than any valuation.
fn faulty() -> Value {
    let mut row = json!({"request_reference": "r".repeat(200)});
    for at in 0..30 {
        row[format!("unknown {at} {}", "x".repeat(100))] = 0.into();
    }
    row
}

#[test]
fn an_answer_that_became_too_large_costs_nothing_and_names_the_rows_that_fit() {
    let start = start();
    let key = start.key_with_plan("sized", &["avm:value"], "monthly_units = 600");
    let server = start.go();
    let client = server.client(&key);
    let bytes = |count: usize| {
        let answer = client.post(STANDARD, &batch(vec![faulty(); count]));
        answer.text.len()
    };
    // The faulty rows leave space for some of the valuations.
    let faults = 8_500_000 / (bytes(101) - bytes(100));
    let mut rows = vec![faulty(); faults];
    rows.extend(vec![house(); 600]);
    let post = |rows: &[Value]| client.post(STANDARD, &batch_with(everything(), rows.to_vec()));
    let answer = post(&rows);
    let refused = (413, "response_too_large".into(), Some("/requests".into()));
    assert_eq!(answer.refusal(), refused);
    let error = answer.json()["error"].clone();
    assert_eq!(error["retryable"], false);
    let message = error["message"].as_str().unwrap();
    let (_, rest) = message.split_once("The first ").unwrap();
    let fitting: usize = rest.split(' ').next().unwrap().parse().unwrap();
    assert!((faults + 1..rows.len()).contains(&fitting), "{message}");
    assert_eq!(post(&rows[..=fitting]).refusal(), refused);
    // The whole allowance is left, and those rows fit.
    let answer = post(&rows[..fitting]);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.text.len() <= LARGEST, "{} bytes", answer.text.len());
    let rest = vec![house(); 600 - (fitting - faults)];
    assert_eq!(post(&rest).status, 200);
}

#[test]
fn the_bound_holds_on_simple_routes_too() {
    let (_server, client) = service();
    let answer = client.post(SIMPLE, &batch(vec![faulty(); 2_000]));
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["error"]["code"], "response_too_large");
    let answer = client.post(SIMPLE, &batch(vec![faulty(); 500]));
    assert_eq!(answer.status, 200);
    assert!(answer.text.len() <= LARGEST);
}
