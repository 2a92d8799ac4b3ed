//! The envelope: its fields, its words, its ids and its order.

use super::{SIMPLE, STANDARD, batch, service};
use crate::common::demo::{RELEASE, divided, flat, house, shop, welsh};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

fn with_reference(mut row: Value, reference: &str) -> Value {
    row["request_reference"] = reference.into();
    row
}

#[test]
fn the_envelope_has_the_contracts_fields() {
    let (_server, client) = service();
    let mut answer = client
        .post(SIMPLE, &batch(vec![house(), shop(), flat(), json!({})]))
        .ok();
    let results = answer.as_object_mut().unwrap().remove("results").unwrap();
    assert_eq!(results.as_array().unwrap().len(), 4);
    assert_eq!(
        answer,
        json!({
            "api_version": "v3",
            "release_id": RELEASE,
            "status": "partial",
            "summary": {
                "requested": 4, "valued": 2, "referred": 0, "rejected": 2, "valuation_failed": 0
            }
        })
    );
}

#[test]
fn the_status_is_completed_partial_or_failed() {
    let (_server, client) = service();
    let mut referred = house();
    referred["size"]["floor_area_m2"] = 1_900.into();
    for (rows, status) in [
        (vec![house()], "completed"),
        (vec![house(), referred.clone()], "completed"),
        (vec![referred.clone()], "completed"),
        (vec![house(), shop()], "partial"),
        (vec![referred, shop()], "partial"),
        (vec![shop(), divided()], "failed"),
    ] {
        let answer = client.post(STANDARD, &batch(rows)).ok();
        assert_eq!(answer["status"], status, "{answer}");
    }
}

#[test]
fn results_keep_the_order_and_the_references_of_the_rows() {
    let (_server, client) = service();
    let kinds = [house(), shop(), flat(), welsh()];
    let rows: Vec<Value> = (0..200)
        .map(|at| with_reference(kinds[at % kinds.len()].clone(), &format!("row {at}")))
        .collect();
    let answer = client.post(SIMPLE, &batch(rows)).ok();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 200);
    for (at, result) in results.iter().enumerate() {
        assert_eq!(result["request_reference"], format!("row {at}"));
        let status = ["valued", "rejected", "valued", "valued"][at % 4];
        assert_eq!(result["status"], status, "{result}");
    }
}

#[test]
fn rows_share_the_execution_and_the_release_and_have_ids_of_their_own() {
    let (server, client) = service();
    let rows = vec![house(), json!(7), shop(), flat(), house()];
    let answer = client.post(STANDARD, &batch(rows));
    let request_id = answer.header("x-service-request-id").unwrap().to_owned();
    let answer = answer.ok();
    let results = answer["results"].as_array().unwrap();
    let id = |result: &Value, name: &str| result[name].as_str().unwrap().parse::<Uuid>().unwrap();
    let executions: BTreeSet<Uuid> = results.iter().map(|r| id(r, "execution_id")).collect();
    let valuations: Vec<Uuid> = results.iter().map(|r| id(r, "valuation_id")).collect();
    assert_eq!(executions.len(), 1);
    assert_eq!(valuations.iter().collect::<BTreeSet<_>>().len(), 5);
    assert!(valuations.iter().all(|id| id.get_version_num() == 7));
    for result in results {
        assert_eq!(result["api_version"], "v3");
        assert_eq!(result["release_id"], RELEASE);
    }
    let line = server.await_log(|line| line["request_id"] == request_id.as_str());
    let execution = executions.first().unwrap().to_string();
    assert_eq!(line["execution_id"], execution.as_str());
    assert_eq!(line["valuation_id"], valuations[0].to_string().as_str());
    assert_eq!((&line["rows"], &line["billable"]), (&json!(5), &json!(4)));
    // The log has the first id alone; those of the other rows count up from it.
    let numbers: Vec<u128> = valuations.iter().map(Uuid::as_u128).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn a_reference_may_come_twice() {
    let (_server, client) = service();
    let rows = vec![
        with_reference(house(), "same"),
        with_reference(flat(), "same"),
    ];
    let answer = client.post(SIMPLE, &batch(rows)).ok();
    assert_eq!(answer["summary"]["valued"], 2);
}

#[test]
fn a_broken_envelope_rejects_the_request() {
    let (_server, client) = service();
    for (body, code, field) in [
        (json!({}), "missing_field", "/requests"),
        (json!({"requests": []}), "empty_requests", "/requests"),
        (json!({"requests": {}}), "invalid_value", "/requests"),
        (
            json!({"requests": [house()], "mode": 1}),
            "unknown_field",
            "/mode",
        ),
        (
            json!({"requests": [house()], "options": {"comparables_limit": 11}}),
            "invalid_value",
            "/options/comparables_limit",
        ),
        (
            json!({"requests": [house()], "options": {"include_comparables": null}}),
            "null_option",
            "/options/include_comparables",
        ),
        (json!([house()]), "invalid_value", ""),
    ] {
        let answer = client.post(SIMPLE, &body);
        assert_eq!(answer.status, 422, "{body}");
        let answer = answer.json();
        assert_eq!(answer["error"]["code"], code, "{body}");
        assert_eq!(answer["error"]["field"], field, "{body}");
        assert!(answer.get("results").is_none());
    }
}
