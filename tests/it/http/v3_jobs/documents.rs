//! The job document, and how it moves.

use crate::common::demo::{RELEASE, house};
use crate::v3_jobs::{
    JOBS, accepted_job, await_completed, await_results, houses, idle, job_of, service,
};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

fn time(job: &Value, name: &str) -> DateTime<Utc> {
    let text = job[name].as_str().unwrap();
    assert!(text.ends_with('Z') && text.len() == 24, "{text}");
    text.parse().unwrap()
}

#[test]
fn a_submission_is_answered_202_with_the_queued_job() {
    let server = idle().go();
    let client = server.demo();
    let answer = client.post(JOBS, &job_of(&houses(3)));
    let job = accepted_job(&answer);
    let id = job["job_id"].as_str().unwrap();
    assert!(id.parse::<Uuid>().is_ok());
    let (created, expires) = (time(&job, "created_at"), time(&job, "expires_at"));
    assert_eq!(expires - created, TimeDelta::days(7));
    assert_eq!(time(&job, "updated_at"), created);
    let expected = json!({
        "api_version": "v3",
        "job_id": id,
        "status": "queued",
        "mode": "simple",
        "release_id": RELEASE,
        "request_count": 3,
        "created_at": job["created_at"],
        "updated_at": job["updated_at"],
        "expires_at": job["expires_at"],
        "status_url": format!("{JOBS}/{id}"),
        "results_url": format!("{JOBS}/{id}/results"),
    });
    assert_eq!(job, expected);
    let request = answer.header("x-service-request-id").unwrap();
    let line =
        server.await_log(|line| line["request_id"] == request && line["message"] == "request");
    assert_eq!(line["job_id"], id);

    // Both routes show its current state.
    let status = client.get(job["status_url"].as_str().unwrap());
    assert_eq!(status.ok(), job);
    assert_eq!(status.header("retry-after"), None);
    let results = client.get(job["results_url"].as_str().unwrap());
    assert_eq!(accepted_job(&results), job);
    assert_eq!(results.header("retry-after"), Some("5"));
    assert_eq!(results.header("location"), job["status_url"].as_str());
}

#[test]
fn a_job_moves_from_queued_to_completed() {
    let (_server, client) = service();
    let job = accepted_job(&client.post(JOBS, &job_of(&houses(130))));
    let mut states = vec![job["status"].as_str().unwrap().to_owned()];
    let mut updated = time(&job, "updated_at");
    let url = job["status_url"].as_str().unwrap();
    while states.last().unwrap() != "completed" {
        let now = client.get(url).ok();
        let status = now["status"].as_str().unwrap();
        if states.last().unwrap() != status {
            states.push(status.to_owned());
        }
        assert!(time(&now, "updated_at") >= updated, "{now}");
        updated = time(&now, "updated_at");
        for name in [
            "created_at",
            "expires_at",
            "request_count",
            "release_id",
            "mode",
        ] {
            assert_eq!(now[name], job[name]);
        }
        assert!(now.get("error").is_none());
    }
    let order = ["queued", "running", "completed"];
    assert!(
        order
            .iter()
            .filter(|state| states.iter().any(|s| s == *state))
            .eq(states.iter()),
        "{states:?}"
    );
    let results = await_results(&client, &job);
    assert_eq!(results["result"]["summary"]["valued"], 130);
}

#[test]
fn a_job_shows_its_submitted_mode() {
    let server = idle().go();
    let client = server.demo();
    for mode in ["simple", "standard", "development"] {
        let body = json!({"mode": mode, "requests": [{}]});
        assert_eq!(accepted_job(&client.post(JOBS, &body))["mode"], mode);
    }
}

#[test]
fn a_job_without_a_sound_row_is_a_job() {
    let (_server, client) = service();
    let result = await_completed(&client, &json!({"requests": [7, {}, null]}));
    assert_eq!(result["status"], "failed");
    let summary =
        json!({"requested": 3, "valued": 0, "referred": 0, "rejected": 3, "valuation_failed": 0});
    assert_eq!(result["summary"], summary);
}

#[test]
fn a_broken_submission_is_refused_as_a_whole() {
    let (_server, client) = service();
    let house = house();
    for (body, expected) in [
        (
            json!({"requests": []}),
            (422, "empty_requests", "/requests"),
        ),
        (json!({}), (422, "missing_field", "/requests")),
        (json!({"requests": {}}), (422, "invalid_value", "/requests")),
        (
            json!({"requests": [house], "mode": "fast"}),
            (422, "invalid_value", "/mode"),
        ),
        (
            json!({"requests": [house], "options": null}),
            (422, "null_option", "/options"),
        ),
        (
            json!({"requests": [house], "options": {"explain": true}}),
            (422, "unknown_field", "/options/explain"),
        ),
        (
            json!({"requests": [house], "callback": "x"}),
            (422, "unknown_field", "/callback"),
        ),
        (
            json!({"requests": [house], "idempotency_key": ""}),
            (422, "invalid_value", "/idempotency_key"),
        ),
        (json!([house]), (422, "invalid_value", "")),
        (
            json!({"mode": "development", "requests": [house], "options": {"use_stored_data": false}}),
            (422, "unknown_field", "/options/use_stored_data"),
        ),
    ] {
        let (status, code, field) = expected;
        let refusal = client.post(JOBS, &body).refusal();
        assert_eq!(
            refusal,
            (status, code.to_owned(), Some(field.to_owned())),
            "{body}"
        );
    }
    let broken = client.post_text(JOBS, "{\"requests\": [{]}");
    assert_eq!(broken.refusal().1, "invalid_json");
}

#[test]
fn the_routes_take_no_query_and_no_other_method() {
    let (_server, client) = service();
    let job = accepted_job(&client.post(JOBS, &job_of(&houses(1))));
    for url in ["status_url", "results_url"] {
        let url = job[url].as_str().unwrap();
        let refusal = client.get(&format!("{url}?verbose=1")).refusal();
        assert_eq!(
            refusal,
            (422, "unknown_field".to_owned(), Some("/verbose".to_owned()))
        );
        assert_eq!(client.post(url, &json!({})).refusal().0, 405);
    }
    assert_eq!(client.get(JOBS).refusal().0, 405);
}

#[test]
fn an_accepted_job_has_a_location_and_retry_after() {
    let server = idle().go();
    let client = server.demo();
    let body = json!({"idempotency_key": "k", "requests": [house()]});
    // The job that a key finds, too.
    for _ in 0..2 {
        let answer = client.post(JOBS, &body);
        let job = accepted_job(&answer);
        assert_eq!(answer.header("location"), job["status_url"].as_str());
        assert_eq!(answer.header("retry-after"), Some("5"));
    }
}
