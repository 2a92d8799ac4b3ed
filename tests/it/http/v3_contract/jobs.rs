//! Jobs: their document, their states, their idempotency and who sees them.

use crate::common::client::Client;
use crate::common::demo::{self, house};
use crate::common::raw::{HttpResponse, send};
use crate::common::server::{Server, start};
use crate::v3_contract::{
    BATCH, JOBS, JSON, RELEASE, all, assert_invalid, batch, head_with, is_uuid, keys, make_keys,
    names, proposed, refused, value, with,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);

/// Submits a job of one house, and returns its document.
#[track_caller]
pub(crate) fn accepted(client: &Client) -> Value {
    let answer = client.post(JOBS, &batch(json!({}), &[house()]));
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()
}

/// Waits for a job's end, and returns the body of its results route.
#[track_caller]
pub(crate) fn results(client: &Client, job: &Value) -> Value {
    let started = Instant::now();
    loop {
        let answer = client.get(job["results_url"].as_str().unwrap());
        if answer.status != 202 {
            return answer.ok();
        }
        assert!(started.elapsed() < TIMEOUT, "it does not end: {answer:?}");
        std::thread::sleep(PAUSE);
    }
}

/// Submits a job, waits for its end, and returns its results.
#[track_caller]
pub(crate) fn completed_results(client: &Client, body: &Value) -> Value {
    let answer = client.post(JOBS, body);
    assert_eq!(answer.status, 202, "{answer:?}");
    results(client, &answer.json())
}

fn document() -> Value {
    let (_contract, client) = value();
    accepted(&client)
}

/// Starts a server that accepts jobs and runs none. Returns it with a client.
pub(crate) fn idle() -> (Server, Client) {
    let start = start().with(&["--job-runners", "0"]);
    make_keys(start.data_folder());
    let server = start.go();
    let client = server.client(&keys()["value"]);
    (server, client)
}

pub(crate) fn keyed(key: &str, row: Value) -> Value {
    json!({"requests": [row], "idempotency_key": key})
}

fn time(document: &Value, name: &str) -> DateTime<Utc> {
    let text = document[name].as_str().unwrap();
    assert!(text.ends_with('Z'), "{text}");
    text.parse().unwrap()
}

/// Returns the responses to a job's status and its results, as this client sees them.
pub(crate) fn job_answers(client: &Client, id: &str) -> [HttpResponse; 2] {
    ["", "/results"].map(|part| client.get(&format!("{JOBS}/{id}{part}")))
}

#[test]
fn service_3_jobs_value_many_in_the_background() {
    let (_contract, client) = value();
    let results = completed_results(&client, &batch(json!({}), &vec![house(); 130]));
    assert_eq!(results["result"]["summary"]["valued"], 130);
    assert!(is_uuid(&results["job_id"]));
}

#[test]
fn job_api_version_is_v3() {
    assert_eq!(document()["api_version"], "v3");
}

#[test]
fn job_id_is_a_uuid() {
    let (one, other) = (document(), document());
    assert!(is_uuid(&one["job_id"]));
    assert_ne!(one["job_id"], other["job_id"]);
}

#[test]
fn job_status_is_queued_at_first_and_completed_at_last() {
    let (_contract, client) = value();
    let job = accepted(&client);
    assert_eq!(job["status"], "queued");
    results(&client, &job);
    let job = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(job["status"], "completed");
}

#[test]
fn job_mode_is_stated() {
    let (_contract, client) = all();
    for mode in ["simple", "standard", "development"] {
        let row = if mode == "development" {
            proposed()
        } else {
            house()
        };
        let body = json!({"mode": mode, "requests": [row]});
        let answer = client.post(JOBS, &body);
        assert_eq!(answer.json()["mode"], mode, "{answer:?}");
    }
}

#[test]
fn job_release_id_is_the_active_ones() {
    assert_eq!(document()["release_id"], demo::RELEASE);
}

#[test]
fn job_request_count_counts_the_rows() {
    let (_contract, client) = value();
    let answer = client.post(JOBS, &batch(json!({}), &vec![house(); 7]));
    assert_eq!(answer.json()["request_count"], 7);
}

#[test]
fn job_created_at_is_now_in_utc() {
    let job = document();
    // The test's own clock is the machine's, as the server's is.
    let written = std::fs::metadata("/proc/self").unwrap().modified().unwrap();
    let apart = DateTime::<Utc>::from(written) - time(&job, "created_at");
    assert!(apart.num_minutes().abs() < 30, "{apart}");
}

#[test]
fn job_updated_at_moves_on_with_the_job() {
    let (_contract, client) = value();
    let job = accepted(&client);
    assert!(time(&job, "updated_at") >= time(&job, "created_at"));
    results(&client, &job);
    let later = client.get(job["status_url"].as_str().unwrap()).ok();
    assert!(time(&later, "updated_at") > time(&job, "created_at"));
}

#[test]
fn job_expires_at_is_seven_days_after_its_creation() {
    let job = document();
    let retention = time(&job, "expires_at") - time(&job, "created_at");
    assert_eq!(retention.num_milliseconds(), 7 * 86_400_000);
}

#[test]
fn job_status_url_leads_to_the_document() {
    let (_contract, client) = value();
    let job = accepted(&client);
    let path = format!("{JOBS}/{}", job["job_id"].as_str().unwrap());
    assert_eq!(job["status_url"], path);
    assert_eq!(client.get(&path).ok()["job_id"], job["job_id"]);
}

#[test]
fn job_results_url_leads_to_the_results() {
    let (_contract, client) = value();
    let job = accepted(&client);
    let path = format!("{JOBS}/{}/results", job["job_id"].as_str().unwrap());
    assert_eq!(job["results_url"], path);
    assert_eq!(results(&client, &job)["job_id"], job["job_id"]);
}

#[test]
fn job_results_hold_the_envelope() {
    let (_contract, client) = value();
    let job = client.post(JOBS, &batch(json!({}), &[house(), json!(7)]));
    assert_eq!(job.status, 202, "{job:?}");
    let job = job.json();
    let results = results(&client, &job);
    assert_eq!(
        names(&results),
        ["api_version", "job_id", "release_id", "result", "status"]
    );
    for member in ["job_id", "release_id"] {
        assert_eq!(results[member], job[member]);
    }
    assert_eq!(results["status"], "completed");
    let envelope = &results["result"];
    assert_eq!(
        names(envelope),
        ["api_version", "release_id", "results", "status", "summary"]
    );
    assert_eq!(envelope["status"], "partial");
    assert_eq!(envelope["results"].as_array().unwrap().len(), 2);
}

#[test]
fn state_queued_comes_with_202_and_both_paths() {
    let (_server, client) = idle();
    let answer = client.post(JOBS, &batch(json!({}), &[house()]));
    assert_eq!(answer.status, 202);
    let job = answer.json();
    assert_eq!(job["status"], "queued");
    assert!(job["status_url"].is_string() && job["results_url"].is_string());
    assert_eq!(
        client.get(job["status_url"].as_str().unwrap()).ok()["status"],
        "queued"
    );
}

#[test]
fn state_running_while_it_is_worked_on() {
    let (_contract, client) = value();
    let job = client
        .post(JOBS, &batch(json!({}), &vec![house(); 2_000]))
        .json();
    let status = || client.get(job["status_url"].as_str().unwrap()).ok()["status"].clone();
    let started = Instant::now();
    while status() == "queued" {
        assert!(started.elapsed() < TIMEOUT, "nobody begins it");
    }
    assert_eq!(status(), "running");
}

#[test]
fn state_completed_makes_the_results_route_give_the_envelope() {
    let (_contract, client) = value();
    let results = completed_results(&client, &batch(json!({}), &[house()]));
    assert_eq!(results["status"], "completed");
    assert_eq!(results["result"]["summary"]["valued"], 1);
}

#[test]
fn endpoint_jobs_answers_202_with_the_document() {
    let (_contract, client) = value();
    let answer = client.post(JOBS, &batch(json!({}), &[house()]));
    assert_eq!(answer.status, 202);
    assert_eq!(answer.json()["request_count"], 1);
}

#[test]
fn endpoint_job_answers_200_with_the_document() {
    let (_contract, client) = value();
    let job = accepted(&client);
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    for same in [
        "job_id",
        "mode",
        "release_id",
        "request_count",
        "created_at",
    ] {
        assert_eq!(document[same], job[same]);
    }
    assert!(document["status"].is_string());
}

#[test]
fn endpoint_job_results_answers_200_when_completed() {
    let (_contract, client) = value();
    let results = completed_results(&client, &batch(json!({}), &[house()]));
    assert_eq!(results["result"]["results"][0]["status"], "valued");
}

#[test]
fn endpoints_5_jobs_are_there_only_where_they_are_listed() {
    let (contract, client) = value();
    let lists = |client: &Client| {
        let metadata = client.get(RELEASE).ok();
        metadata["endpoints"]
            .as_array()
            .unwrap()
            .contains(&json!(JOBS))
    };
    assert!(lists(&client));
    let without = contract.customer("without_jobs");
    assert!(!lists(&without));
    let refused = refused(&without.post(JOBS, &batch(json!({}), &[house()])));
    assert!([403, 404].contains(&refused.0), "{refused:?}");
    assert_eq!(
        without.post(BATCH, &batch(json!({}), &[house()])).status,
        200
    );
}

#[test]
fn endpoints_7_incomplete_results_are_202_with_the_document() {
    let (_server, client) = idle();
    let job = accepted(&client);
    let answer = client.get(job["results_url"].as_str().unwrap());
    assert_eq!(answer.status, 202);
    assert_eq!(answer.header("retry-after"), Some("5"));
    assert_eq!(answer.json(), job);
}

#[test]
fn endpoints_7_tenants_see_their_own_jobs_alone() {
    let (contract, client) = value();
    let job = accepted(&client);
    let id = job["job_id"].as_str().unwrap();
    for answer in job_answers(&contract.customer("other"), id) {
        assert_eq!(refused(&answer), (404, "job_not_found".to_owned()));
    }
    assert!(
        job_answers(&client, id)
            .iter()
            .all(|answer| [200, 202].contains(&answer.status))
    );
}

#[test]
fn events_none_a_client_polls_for_the_end_of_a_job() {
    let (_contract, client) = value();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let callback = format!("http://{}/", listener.local_addr().unwrap());
    let plain = batch(json!({}), &[house()]);
    for name in ["callback_url", "webhook_url", "notify"] {
        for pointer in [format!("/{name}"), format!("/options/{name}")] {
            let answer = client.post(JOBS, &with(plain.clone(), &pointer, callback.as_str()));
            assert_invalid(&answer, "unknown_field", &pointer);
        }
    }
    for path in ["/v3/events", "/v3/webhooks", "/v3/valuation-jobs/events"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    // Nor do headers that name a callback address to other services.
    let body = plain.to_string();
    let length = body.len().to_string();
    let headers = [
        JSON,
        ("Content-Length", length.as_str()),
        ("Callback-Url", callback.as_str()),
        ("Webhook-Url", callback.as_str()),
        ("Prefer", "respond-async"),
    ];
    let request = head_with(&client, &headers, "POST", JOBS) + &body;
    let answer = send(client.address, request.as_bytes());
    assert_eq!(answer.status, 202, "{answer:?}");
    let job = answer.json();
    assert_eq!(results(&client, &job)["status"], "completed");
    // Who accepts a stream of events gets the document, which ends.
    let status_url = job["status_url"].as_str().unwrap();
    let accept = [("Accept", "text/event-stream")];
    let request = head_with(&client, &accept, "GET", status_url);
    let answer = send(client.address, request.as_bytes());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.ok()["status"], "completed");
    // A callback may come later.
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_secs(2) {
        let called = listener.accept();
        assert!(called.is_err(), "the service called back: {called:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The description, which lists all that there is, has neither.
    let described = client.get("/openapi.json").ok();
    assert!(described["paths"][JOBS].is_object());
    assert_eq!(described.get("webhooks"), None);
    assert!(!described.to_string().contains("\"callbacks\""));
}
