//! POST /v3/valuation-jobs, GET /v3/valuation-jobs/{job_id} and …/results: how a job is accepted,
//! shown, finished and kept apart, and what is refused.

mod access;
mod documents;
mod idempotency;
mod interrupted;
mod limits;
mod paused;
mod results;

use crate::common::bodies::{names, without_ids};
use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::HttpResponse;
use crate::common::server::{Server, Start, shared, start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const JOBS: &str = "/v3/valuation-jobs";
const TIMEOUT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// Returns the suite's server, which the caller keeps alive, and a client of it.
fn service() -> (Server, Client) {
    let server = shared("v3_jobs", || start().go());
    let client = server.demo();
    (server, client)
}

/// Prepares a server that accepts jobs and runs none, so that they stay queued.
fn idle() -> Start {
    start().with(&["--job-runners", "0"])
}

/// Returns this many copies of the house, each with its own reference.
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

/// Asserts that a job was accepted, and returns its document.
#[track_caller]
pub fn accepted_job(answer: &HttpResponse) -> Value {
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()
}

/// Waits for a job's end, and returns its results.
#[track_caller]
pub fn await_results(client: &Client, job: &Value) -> Value {
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

/// Submits a job, waits until it completes, and returns its batch envelope.
#[track_caller]
fn await_completed(client: &Client, body: &Value) -> Value {
    let job = accepted_job(&client.post(JOBS, body));
    let results = await_results(client, &job);
    assert_eq!(results["status"], "completed", "{results}");
    results["result"].clone()
}
