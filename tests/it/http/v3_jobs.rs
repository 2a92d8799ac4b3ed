//! POST /v3/valuation-jobs, GET /v3/valuation-jobs/{job_id} and …/results: how a job is accepted,
//! shown, finished and kept apart, and what is refused.

mod access;
mod documents;
mod idempotency;
mod interrupted;
mod limits;
mod paused;
mod results;

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::Answer;
use crate::common::server::{Server, Start, shared, start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const JOBS: &str = "/v3/valuation-jobs";
const TIMEOUT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// The suite's server, which lives as long as this, and a client of it.
fn service() -> (Server, Client) {
    let server = shared("v3_jobs", || start().go());
    let client = server.demo();
    (server, client)
}

/// A server that accepts jobs and works on none, so that they stay as they are.
fn idle() -> Start {
    start().with(&["--job-runners", "0"])
}

/// So many times the house, each with a reference of its own.
fn houses(count: usize) -> Vec<Value> {
    (0..count)
        .map(|index| {
            let mut row = house();
            row["request_reference"] = format!("row {index}").into();
            row
        })
        .collect()
}

fn job_of(rows: &[Value]) -> Value {
    json!({"requests": rows})
}

/// The document of a job that was accepted.
#[track_caller]
fn accepted(answer: &Answer) -> Value {
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()
}

/// The results of a job, once it has ended.
#[track_caller]
fn ended(client: &Client, job: &Value) -> Value {
    let started = Instant::now();
    loop {
        let answer = client.get(job["results_url"].as_str().unwrap());
        if answer.status == 200 {
            return answer.json();
        }
        assert_eq!(answer.status, 202, "{answer:?}");
        assert!(started.elapsed() < TIMEOUT, "it does not end: {answer:?}");
        std::thread::sleep(PAUSE);
    }
}

/// The batch envelope of a job that is submitted and completes.
#[track_caller]
fn completed(client: &Client, body: &Value) -> Value {
    let job = accepted(&client.post(JOBS, body));
    let results = ended(client, &job);
    assert_eq!(results["status"], "completed", "{results}");
    results["result"].clone()
}

fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

/// A result without the ids that differ from call to call.
fn without_ids(mut result: Value) -> Value {
    for id in ["execution_id", "valuation_id"] {
        result.as_object_mut().unwrap().remove(id).unwrap();
    }
    result
}
