//! Jobs that are paused, held or fail because their submission asks for it.

use super::{FAULT, request, sandbox};
use crate::openapi::{document, schema};
use crate::v3_jobs::await_results;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const JOBS: &str = "/v3/valuation-jobs";

fn body() -> Value {
    json!({ "requests": [request("valued_high"), request("referred_other")] })
}

#[test]
fn a_paused_submission_is_accepted_later_with_the_same_key() {
    let (_server, client) = sandbox();
    let mut body = body();
    body["idempotency_key"] = "paused".into();
    let client = client.with_header(FAULT, "job_admission_paused;times=2;run=paused");
    for _ in 0..2 {
        let paused = client.post(JOBS, &body);
        assert_eq!(
            paused.refusal(),
            (503, "job_admission_paused".to_owned(), None)
        );
        assert_eq!(paused.header("retry-after"), Some("1"));
    }
    let accepted = client.post(JOBS, &body);
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let results = await_results(&client, &accepted.json());
    assert_eq!(results["result"]["summary"]["valued"], 1);
}

#[test]
fn a_held_job_is_queued_for_a_while_and_then_completes() {
    let (_server, client) = sandbox();
    let documents = schema(&document(), "JobDocument");
    let began = Instant::now();
    let accepted = client
        .with_header(FAULT, "job_held;seconds=2")
        .post(JOBS, &body());
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let job = accepted.json();
    // Longer than two rows take.
    std::thread::sleep(Duration::from_secs(1));
    let shown = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(shown["status"], "queued");
    assert!(documents.is_valid(&shown), "{shown}");
    let waiting = client.get(job["results_url"].as_str().unwrap());
    assert_eq!(
        (waiting.status, waiting.header("retry-after")),
        (202, Some("5"))
    );
    assert_eq!(waiting.header("location"), job["status_url"].as_str());
    assert_eq!(waiting.json(), shown);
    let results = await_results(&client, &job);
    assert!(began.elapsed() >= Duration::from_secs(2));
    assert_eq!(results["status"], "completed");
    let shown = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(shown["status"], "completed");
}

#[test]
fn a_failing_job_fails_with_an_error_and_without_results() {
    let (_server, client) = sandbox();
    let document = document();
    let mut body = body();
    body["idempotency_key"] = "failing".into();
    let accepted = client.with_header(FAULT, "job_failed").post(JOBS, &body);
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let job = accepted.json();
    let results = await_results(&client, &job);
    let error = json!({"code": "processing_failed", "retryable": false});
    super::assert_has(&results["error"], &error, &json!("results"));
    assert_eq!(
        (&results["status"], &results["result"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(
        schema(&document, "JobResults").is_valid(&results),
        "{results}"
    );
    let shown = client.get(job["status_url"].as_str().unwrap());
    let document_shown = shown.ok();
    assert_eq!(document_shown["error"], results["error"]);
    assert!(
        schema(&document, "JobDocument").is_valid(&document_shown),
        "{document_shown}"
    );
    // In the order of the service's own documents.
    let order = [
        r#"{"api_version":"v3","job_id":"#,
        r#","status":"failed","mode":"simple","#,
        r#","error":{"code":"#,
    ];
    let places = order.map(|part| shown.text.find(part));
    assert!(places.is_sorted() && places[0] == Some(0), "{}", shown.text);
    // The same submission finds the failed job.
    let again = client.post(JOBS, &body);
    assert_eq!(
        (again.status, again.json()["status"].as_str()),
        (202, Some("failed"))
    );
    // Another customer's job of the same id is none.
    let stranger = client
        .with_key("none")
        .get(job["results_url"].as_str().unwrap());
    assert_eq!(stranger.status, 401, "{stranger:?}");
}
