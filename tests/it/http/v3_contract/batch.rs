//! Batches: the envelope, its rows, and the options that they share.

use crate::common::demo::{self, FLAT, HOUSE, at, flat, house};
use crate::v3_contract::{
    BATCH, SIMPLE, SIMPLE_BATCH, STANDARD, all, assert_invalid, batch, is_uuid, names, refused,
    value, with,
};
use serde_json::{Value, json};

/// Returns a row of each kind of outcome in one batch: valued, referred, rejected.
fn mixed() -> Vec<Value> {
    let short = with(flat(), "/lease", json!({"years_remaining": 3}));
    vec![house(), short, at("4711", "Badger Yard Gardens", "QA1 1AF")]
}

/// Returns the house with these options.
pub(crate) fn row(options: Value) -> Value {
    with(house(), "/options", options)
}

/// Posts a batch with these options and rows, and returns its results.
#[track_caller]
pub(crate) fn results(options: Value, rows: &[Value]) -> Vec<Value> {
    let (_contract, client) = all();
    let envelope = client.post(BATCH, &batch(options, rows)).ok();
    envelope["results"].as_array().unwrap().clone()
}

pub(crate) fn comparables_count(result: &Value) -> Option<usize> {
    result
        .get("comparables")
        .map(|list| list.as_array().unwrap().len())
}

#[test]
fn service_3_batch_values_many_at_once() {
    let (_contract, client) = value();
    let envelope = client
        .post(SIMPLE_BATCH, &batch(json!({}), &[house(), flat()]))
        .ok();
    assert_eq!(envelope["summary"]["valued"], 2);
}

#[test]
fn service_6_own_status_for_every_row() {
    let statuses: Vec<_> = results(json!({}), &mixed())
        .iter()
        .map(|result| result["status"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(statuses, ["valued", "referred", "rejected"]);
}

#[test]
fn endpoint_simple_batch_value_answers_core_results() {
    let (_contract, client) = value();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let envelope = client.post(SIMPLE_BATCH, &batch(options, &[house()])).ok();
    let result = &envelope["results"][0];
    assert_eq!(result["status"], "valued");
    assert!(result.get("comparables").is_none() && result.get("context").is_none());
}

#[test]
fn endpoint_batch_value_answers_with_the_evidence_asked_for() {
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let result = &results(options, &[house()])[0];
    assert_eq!(comparables_count(result), Some(5));
    assert!(result["context"].is_object());
}

#[test]
fn endpoints_2_envelope_is_200_whatever_the_rows() {
    let (_contract, client) = value();
    let wrong = at("4711", "Badger Yard Gardens", "QA1 1AF");
    for rows in [vec![house()], mixed(), vec![wrong]] {
        for route in [SIMPLE_BATCH, BATCH] {
            assert_eq!(client.post(route, &batch(json!({}), &rows)).status, 200);
        }
    }
}

#[test]
fn endpoints_2_order_is_that_of_the_rows() {
    let rows: Vec<Value> = (0..60)
        .map(|n| {
            let row = if n % 3 == 0 { flat() } else { house() };
            with(row, "/request_reference", format!("row {n}"))
        })
        .collect();
    for (n, result) in results(json!({}), &rows).iter().enumerate() {
        assert_eq!(result["request_reference"], format!("row {n}"));
        let uprn = if n % 3 == 0 { FLAT } else { HOUSE };
        assert_eq!(result["property"]["uprn"], uprn);
    }
}

#[test]
fn endpoints_2_invalid_envelope_or_shared_options_refuse_the_whole() {
    let (_contract, client) = value();
    let rows = json!([house()]);
    for (body, code, pointer) in [
        (
            json!({"requests": rows, "mode": "simple"}),
            "unknown_field",
            "/mode",
        ),
        (json!({"requests": house()}), "invalid_value", "/requests"),
        (
            json!({"requests": rows, "options": {"comparables_limit": 11}}),
            "invalid_value",
            "/options/comparables_limit",
        ),
        (
            json!({"requests": rows, "options": {"include_comparables": null}}),
            "null_option",
            "/options/include_comparables",
        ),
    ] {
        assert_invalid(&client.post(BATCH, &body), code, pointer);
    }
}

#[test]
fn endpoints_2_rows_carry_their_errors() {
    let wrong = [
        (
            at("4711", "Badger Yard Gardens", "QA1 1AF"),
            "address_not_found",
        ),
        (with(house(), "/purpose", 1), "unknown_field"),
        (json!(7), "invalid_value"),
    ];
    let mut rows: Vec<Value> = wrong.iter().map(|(row, _)| row.clone()).collect();
    rows.push(house());
    let results = results(json!({}), &rows);
    for (result, (_, code)) in results.iter().zip(&wrong) {
        assert_eq!(result["status"], "rejected");
        assert_eq!(result["errors"][0]["code"], *code);
    }
    assert_eq!(results[3]["status"], "valued");
}

#[test]
fn endpoints_3_a_synchronous_route_answers_with_no_job() {
    let (_contract, client) = all();
    let rows = vec![house(); 200];
    let answer = client.post(SIMPLE_BATCH, &batch(json!({}), &rows));
    let envelope = answer.ok();
    assert!(envelope.get("job_id").is_none());
    assert_eq!(envelope["results"].as_array().unwrap().len(), 200);
}

#[test]
fn result_errors_of_a_rejected_row_say_whether_a_retry_helps() {
    let result = &results(json!({}), &[with(house(), "/size/bedrooms", "three")])[0];
    let error = &result["errors"][0];
    assert_eq!(error["code"], "invalid_value");
    assert_eq!(error["field"], "/size/bedrooms");
    assert_eq!(error["retryable"], false);
}

#[test]
fn batch_options_are_optional() {
    let (_contract, client) = value();
    let rows = json!([house()]);
    let plain = client.post(BATCH, &json!({"requests": rows})).ok();
    assert_eq!(comparables_count(&plain["results"][0]), None);
    let options = json!({"include_comparables": true});
    let with = client
        .post(BATCH, &json!({"requests": rows, "options": options}))
        .ok();
    assert_eq!(comparables_count(&with["results"][0]), Some(5));
}

#[test]
fn batch_requests_are_needed() {
    let (_contract, client) = value();
    assert_invalid(
        &client.post(BATCH, &json!({})),
        "missing_field",
        "/requests",
    );
    assert_invalid(
        &client.post(BATCH, &batch(json!({}), &[])),
        "empty_requests",
        "/requests",
    );
    assert_eq!(
        client.post(BATCH, &batch(json!({}), &[house()])).status,
        200
    );
}

/// Posts the three rows, and returns the envelope.
fn envelope() -> Value {
    let (_contract, client) = value();
    client.post(BATCH, &batch(json!({}), &mixed())).ok()
}

#[test]
fn batch_api_version_is_v3() {
    assert_eq!(envelope()["api_version"], "v3");
}

#[test]
fn batch_release_id_is_that_of_its_rows() {
    let envelope = envelope();
    assert_eq!(envelope["release_id"], demo::RELEASE);
    for result in envelope["results"].as_array().unwrap() {
        assert_eq!(result["release_id"], demo::RELEASE);
    }
}

#[test]
fn batch_status_is_completed_partial_or_failed() {
    let (_contract, client) = value();
    let status =
        |rows: &[Value]| client.post(BATCH, &batch(json!({}), rows)).ok()["status"].clone();
    let rows = mixed();
    assert_eq!(status(&rows), "partial");
    assert_eq!(status(&rows[..2]), "completed");
    assert_eq!(status(&rows[2..]), "failed");
}

#[test]
fn batch_summary_counts_rows_by_status() {
    let expected = json!({"requested": 3, "valued": 1, "referred": 1, "rejected": 1,
                          "valuation_failed": 0});
    assert_eq!(envelope()["summary"], expected);
}

#[test]
fn batch_results_are_one_for_each_row() {
    let envelope = envelope();
    assert_eq!(envelope["results"].as_array().unwrap().len(), 3);
    assert_eq!(
        names(&envelope),
        ["api_version", "release_id", "results", "status", "summary"]
    );
}

#[test]
fn result_execution_id_is_one_and_valuation_ids_are_many_in_a_batch() {
    let results = results(json!({}), &mixed());
    for result in &results {
        assert!(is_uuid(&result["execution_id"]) && is_uuid(&result["valuation_id"]));
        assert_eq!(result["execution_id"], results[0]["execution_id"]);
    }
    assert_ne!(results[0]["valuation_id"], results[1]["valuation_id"]);
}

#[test]
fn row_valued_has_an_estimate() {
    let result = &results(json!({}), &mixed())[0];
    assert_eq!(result["status"], "valued");
    assert!(result["valuation"]["estimated_value_gbp"].is_u64());
}

#[test]
fn row_referred_has_its_reason() {
    let result = &results(json!({}), &mixed())[1];
    assert_eq!(result["status"], "referred");
    assert_eq!(result["referral"]["code"], "short_lease");
    assert!(result["valuation"].get("estimated_value_gbp").is_none());
}

#[test]
fn row_rejected_has_its_errors() {
    let result = &results(json!({}), &mixed())[2];
    assert_eq!(result["status"], "rejected");
    assert_eq!(result["errors"][0]["code"], "address_not_found");
    assert!(result.get("valuation").is_none());
}

#[test]
fn errors_6_rejected_rows_list_every_error() {
    let twice = with(with(house(), "/size/bedrooms", -1), "/purpose", 1);
    let result = &results(json!({}), &[twice])[0];
    let codes: Vec<_> = result["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["code"])
        .collect();
    assert_eq!(codes.len(), 2, "{result}");
    assert!(codes.contains(&&json!("invalid_value")) && codes.contains(&&json!("unknown_field")));
}

#[test]
fn limit_batch_rows_is_1_to_2500() {
    let (contract, client) = value();
    let of = |count: usize| batch(json!({}), &vec![json!(0); count]);
    let summary = |count: usize| client.post(SIMPLE_BATCH, &of(count)).ok()["summary"].clone();
    assert_eq!(
        refused(&client.post(SIMPLE_BATCH, &of(0))).1,
        "empty_requests"
    );
    for good in [1, 2499, 2500] {
        assert_eq!(summary(good)["requested"], good);
    }
    let over = refused(&client.post(SIMPLE_BATCH, &of(2501)));
    assert_eq!(over, (413, "too_many_rows".to_owned()));
    let three = contract.customer("three_rows");
    for good in [2, 3] {
        assert_eq!(three.post(SIMPLE_BATCH, &of(good)).status, 200);
    }
    assert_eq!(refused(&three.post(SIMPLE_BATCH, &of(4))).0, 413);
}

#[test]
fn limits_lowest_of_release_and_plan_applies() {
    let (contract, _) = value();
    let three = contract.customer("three_rows");
    let metadata = three.get(crate::v3_contract::RELEASE).ok();
    assert_eq!(metadata["limits"]["synchronous_batch_rows"], 3);
    assert_eq!(metadata["limits"]["asynchronous_job_rows"], 2);
    let four = batch(json!({}), &vec![house(); 4]);
    assert_eq!(refused(&three.post(BATCH, &four)).1, "too_many_rows");
}

#[test]
fn limits_rows_over_the_limit_are_413() {
    let (contract, _) = value();
    let three = contract.customer("three_rows");
    for route in [SIMPLE_BATCH, BATCH] {
        let answer = three.post(route, &batch(json!({}), &vec![house(); 4]));
        assert_eq!(refused(&answer), (413, "too_many_rows".to_owned()));
        assert_eq!(answer.json()["error"]["retryable"], false);
    }
    // An error of the options, which are sent before the rows, makes no difference.
    let invalid = batch(json!({"comparables_limit": 11}), &vec![house(); 4]);
    let too_many = (413, "too_many_rows".to_owned());
    assert_eq!(refused(&three.post(BATCH, &invalid)), too_many);
}

#[test]
fn error_413_for_rows_and_bytes_over_the_limit() {
    let (contract, client) = value();
    let rows = batch(json!({}), &vec![json!(0); 2501]);
    assert_eq!(
        refused(&client.post(BATCH, &rows)),
        (413, "too_many_rows".to_owned())
    );
    let bytes = crate::v3_contract::LARGEST + 1;
    let length = bytes.to_string();
    let head = crate::v3_contract::head_with(
        &client,
        &[crate::v3_contract::JSON, ("Content-Length", &length)],
        "POST",
        BATCH,
    );
    let answer = crate::common::raw::send(contract.server.address, head.as_bytes());
    assert_eq!(refused(&answer), (413, "body_too_large".to_owned()));
}

#[test]
fn service_6_attribution_is_refused_in_a_batch() {
    let (_contract, client) = value();
    let body = batch(json!({"include_feature_attribution": true}), &[house()]);
    for route in [SIMPLE_BATCH, BATCH] {
        let refused = refused(&client.post(route, &body));
        assert_eq!(refused, (422, "unknown_field".to_owned()));
    }
    for route in [SIMPLE, STANDARD] {
        assert_eq!(client.post(route, &house()).status, 200);
    }
}
