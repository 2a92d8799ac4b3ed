//! The service while new jobs are paused.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::server::{Server, start};
use crate::v3_contract::{JOBS, keys, make_keys, refused};
use domesday_state::{EmbeddedState, Switches};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Starts a server on a state of the test's own, where new jobs are paused or not.
fn serve(data: &Path, paused: bool) -> (Server, Client) {
    if !data.join("state.redb").exists() {
        make_keys(data);
    }
    let state = EmbeddedState::open(&data.join("state.redb")).unwrap();
    state.pause_jobs(paused).unwrap();
    drop(state);
    let server = start().data(data).with(&["--job-runners", "0"]).go();
    let client = server.client(&keys()["value"]);
    (server, client)
}

fn keyed(key: &str) -> Value {
    json!({"requests": [house()], "idempotency_key": key})
}

#[test]
fn endpoints_4_paused_jobs_are_503_and_the_same_key_works_afterwards() {
    let temp_dir = TempDir::new().unwrap();
    let (server, client) = serve(temp_dir.path(), true);
    let answer = client.post(JOBS, &keyed("later"));
    assert_eq!(refused(&answer), (503, "job_admission_paused".to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], true);
    drop(server);
    let (_server, client) = serve(temp_dir.path(), false);
    assert_eq!(client.post(JOBS, &keyed("later")).status, 202);
}

#[test]
fn endpoints_4_readable_are_status_and_results_during_a_pause() {
    let temp_dir = TempDir::new().unwrap();
    let (server, client) = serve(temp_dir.path(), false);
    let job = client.post(JOBS, &keyed("before")).json();
    drop(server);
    let (_server, client) = serve(temp_dir.path(), true);
    let document = client.get(job["status_url"].as_str().unwrap()).ok();
    assert_eq!(document["job_id"], job["job_id"]);
    assert_eq!(client.get(job["results_url"].as_str().unwrap()).status, 202);
    // A key that is known finds its job all the same.
    assert_eq!(
        client.post(JOBS, &keyed("before")).json()["job_id"],
        job["job_id"]
    );
}

#[test]
fn error_503_for_paused_jobs() {
    let temp_dir = TempDir::new().unwrap();
    let (_server, client) = serve(temp_dir.path(), true);
    let answer = client.post(JOBS, &keyed("never"));
    assert_eq!(answer.status, 503);
    assert!(answer.header("retry-after").is_some());
    assert_eq!(answer.json()["error"]["retryable"], true);
}
