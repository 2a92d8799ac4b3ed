//! The options of a job, its idempotency key, and its visibility.

use crate::common::demo::{self, house};
use crate::common::server::start;
use crate::v3_contract::jobs::{accepted, completed_results, idle, job_answers, keyed};
use crate::v3_contract::{
    JOBS, all, assert_invalid, batch, keys, make_keys, proposed, refused, value, with,
};
use domesday_state::{
    EmbeddedState, JOB_RETENTION_MILLIS, JobMode, Jobs, Month, NewChunk, NewJob, Submission,
    UnixMillis,
};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use uuid::Uuid;

#[test]
fn endpoints_4_mode_is_simple_unless_it_says_otherwise() {
    let (_contract, client) = value();
    assert_eq!(accepted(&client)["mode"], "simple");
    let options = json!({"include_comparables": true});
    let of = |mode: Value| {
        let mut body = batch(options.clone(), &[house()]);
        if !mode.is_null() {
            body["mode"] = mode;
        }
        completed_results(&client, &body)["result"]["results"][0]["comparables"].clone()
    };
    assert!(of(Value::Null).is_null() && of(json!("simple")).is_null());
    assert!(of(json!("standard")).is_array());
    let other = json!({"mode": "deep", "requests": [house()]});
    assert_invalid(&client.post(JOBS, &other), "invalid_value", "/mode");
}

#[test]
fn endpoints_4_requests_are_needed_and_of_the_modes_kind() {
    let (_contract, client) = all();
    assert_invalid(&client.post(JOBS, &json!({})), "missing_field", "/requests");
    let none = client.post(JOBS, &batch(json!({}), &[]));
    assert_invalid(&none, "empty_requests", "/requests");
    let rows = json!([proposed(), house()]);
    let results = completed_results(&client, &json!({"mode": "development", "requests": rows}));
    let statuses: Vec<_> = results["result"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["status"])
        .collect();
    assert_eq!(statuses, ["valued", "rejected"]);
}

#[test]
fn endpoints_4_options_stand_behind_the_rows() {
    let (_contract, client) = value();
    let options = json!({"include_comparables": true, "comparables_limit": 2});
    let odd = with(house(), "/options", json!({"comparables_limit": 1}));
    let mut body = batch(options, &[house(), odd]);
    body["mode"] = "standard".into();
    let results = completed_results(&client, &body);
    let comparables_at = |at: usize| {
        results["result"]["results"][at]["comparables"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((comparables_at(0), comparables_at(1)), (2, 1));
}

#[test]
fn endpoints_4_key_is_optional() {
    let (_contract, client) = value();
    let job = accepted(&client);
    assert_ne!(accepted(&client)["job_id"], job["job_id"]);
    assert_eq!(
        client.post(JOBS, &keyed("A-z_0.9:key", house())).status,
        202
    );
}

#[test]
fn endpoints_4_development_needs_development_access() {
    let (contract, client) = value();
    let body = json!({"mode": "development", "requests": [proposed()]});
    assert_eq!(
        refused(&client.post(JOBS, &body)),
        (403, "scope_required".to_owned())
    );
    assert_eq!(contract.customer("all").post(JOBS, &body).status, 202);
}

#[test]
fn endpoints_4_accepted_is_not_completed() {
    let (_server, client) = idle();
    let job = accepted(&client);
    let answer = client.get(job["results_url"].as_str().unwrap());
    assert_eq!(answer.status, 202);
    assert!(answer.json().get("result").is_none());
}

#[test]
fn endpoints_6_same_key_and_body_give_the_same_job() {
    let (_contract, client) = value();
    let body = keyed("same", house());
    let (one, again) = (client.post(JOBS, &body), client.post(JOBS, &body));
    assert_eq!((one.status, again.status), (202, 202));
    assert_eq!(one.json()["job_id"], again.json()["job_id"]);
}

#[test]
fn endpoints_6_conflict_where_the_body_differs() {
    let (_contract, client) = value();
    assert_eq!(client.post(JOBS, &keyed("conflict", house())).status, 202);
    let other = client.post(JOBS, &keyed("conflict", with(house(), "/size/bedrooms", 4)));
    assert_eq!(refused(&other), (409, "idempotency_conflict".to_owned()));
}

#[test]
fn endpoints_6_tenants_have_their_own_keys() {
    let (contract, client) = value();
    let body = keyed("tenants", house());
    let one = client.post(JOBS, &body).json();
    let answer = contract.customer("other").post(JOBS, &body);
    assert_eq!(answer.status, 202);
    assert_ne!(answer.json()["job_id"], one["job_id"]);
    let different = keyed("tenants", with(house(), "/size/bedrooms", 4));
    assert_eq!(
        contract
            .customer("three_rows")
            .post(JOBS, &different)
            .status,
        202
    );
}

#[test]
fn endpoints_6_units_are_used_once() {
    let (contract, _) = value();
    let client = contract.customer("two_units_for_jobs");
    let body = keyed("units", house());
    for _ in 0..4 {
        assert_eq!(client.post(JOBS, &body).status, 202);
    }
    assert_eq!(client.post(JOBS, &keyed("second", house())).status, 202);
    let third = refused(&client.post(JOBS, &keyed("third", house())));
    assert_eq!(third, (429, "monthly_valuation_quota_exceeded".to_owned()));
}

#[test]
fn authentication_2_jobs_of_developments_need_both_scopes() {
    let (contract, _) = value();
    let body = json!({"mode": "development", "requests": [proposed()]});
    for wanting in ["value", "development"] {
        let answer = refused(&contract.customer(wanting).post(JOBS, &body));
        assert_eq!(answer, (403, "scope_required".to_owned()), "{wanting}");
    }
    assert_eq!(contract.customer("all").post(JOBS, &body).status, 202);
}

#[test]
fn authentication_4_anothers_job_is_as_if_it_were_not() {
    let (contract, client) = value();
    let job = accepted(&client);
    let other = contract.customer("other");
    let anothers = job_answers(&other, job["job_id"].as_str().unwrap());
    let nobodys = job_answers(&other, "0199a0c0-0000-7000-8000-000000000000");
    for (one, two) in anothers.iter().zip(&nobodys) {
        assert_eq!((one.status, &one.text), (two.status, &two.text));
        assert_eq!(one.status, 404);
    }
}

/// Keeps a job of the tenant `value` that expires then, as a host accepted it a week before.
fn kept_until(data: &Path, expires_at: UnixMillis) -> Uuid {
    make_keys(data);
    let state = EmbeddedState::open(&data.join("state.redb")).unwrap();
    let accepted_at = UnixMillis(expires_at.0 - JOB_RETENTION_MILLIS);
    let chunk = NewChunk {
        rows: 1,
        units: 1,
        input: b"{}".to_vec(),
    };
    let job = NewJob {
        id: Uuid::from_u128(0x0199_a0c0_0000_7000_8000_0000_0000_0001),
        tenant: "value".parse().unwrap(),
        mode: JobMode::Simple,
        release_id: demo::RELEASE.to_owned(),
        shared: b"{}".to_vec(),
        chunks: vec![chunk],
        idempotency: None,
        month: Month::of(accepted_at),
        allowance: 1,
        queued_jobs: 1,
        stored_bytes: 1_000,
        now: accepted_at,
    };
    let id = job.id;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let submitted = runtime.unwrap().block_on(state.submit(job)).unwrap();
    assert!(matches!(submitted, Submission::Accepted(_)));
    id
}

#[test]
fn errors_8_unknown_and_expired_jobs_are_the_same_404() {
    const LEFT: Duration = Duration::from_secs(15);
    let temp_dir = TempDir::new().unwrap();
    let modified = std::fs::metadata(temp_dir.path())
        .unwrap()
        .modified()
        .unwrap();
    let expires_at = modified + LEFT;
    let since_1970 = expires_at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let millis = UnixMillis(since_1970.as_millis().try_into().unwrap());
    let id = kept_until(temp_dir.path(), millis).to_string();
    let server = start()
        .data(temp_dir.path())
        .with(&["--job-runners", "0"])
        .go();
    let client = server.client(&keys()["value"]);
    // It is there until its time is up.
    let statuses = || job_answers(&client, &id).map(|answer| answer.status);
    assert_eq!(statuses(), [200, 202]);
    let started = Instant::now();
    while statuses() != [404, 404] {
        assert!(started.elapsed() < LEFT + LEFT, "it does not expire");
        std::thread::sleep(Duration::from_millis(100));
    }
    let expired = job_answers(&client, &id);
    for unknown in ["0199a0c0-0000-7000-8000-000000000000", "x"] {
        for (unknown, expired) in job_answers(&client, unknown).iter().zip(&expired) {
            assert_eq!(refused(unknown), (404, "job_not_found".to_owned()));
            assert_eq!(unknown.text, expired.text);
        }
    }
}

#[test]
fn errors_9_a_job_without_rows_is_422() {
    let (_contract, client) = value();
    let answer = client.post(JOBS, &json!({"requests": []}));
    assert_invalid(&answer, "empty_requests", "/requests");
}

#[test]
fn error_202_is_success() {
    let (_server, client) = idle();
    let job = client.post(JOBS, &batch(json!({}), &[house()]));
    let results = client.get(job.json()["results_url"].as_str().unwrap());
    for answer in [job, results] {
        assert_eq!(answer.status, 202);
        assert!(answer.json().get("error").is_none());
    }
}

#[test]
fn error_409_for_a_key_with_another_body() {
    let (_contract, client) = value();
    client.post(JOBS, &keyed("error-409", house()));
    let answer = client.post(JOBS, &keyed("error-409", json!({})));
    assert_eq!(refused(&answer).0, 409);
    assert_eq!(answer.json()["error"]["retryable"], false);
}

#[test]
fn limit_job_rows_is_1_to_2500() {
    let (contract, client) = value();
    let of = |count: usize| batch(json!({}), &vec![json!(0); count]);
    assert_eq!(refused(&client.post(JOBS, &of(0))).1, "empty_requests");
    for good in [1, 2499, 2500] {
        assert_eq!(client.post(JOBS, &of(good)).status, 202);
    }
    let over = refused(&client.post(JOBS, &of(2501)));
    assert_eq!(over, (413, "too_many_rows".to_owned()));
    let invalid = batch(json!({"comparables_limit": 11}), &vec![json!(0); 2501]);
    let over = refused(&client.post(JOBS, &invalid));
    assert_eq!(over, (413, "too_many_rows".to_owned()));
    // This customer's plan takes two.
    let two = contract.customer("three_rows");
    for good in [1, 2] {
        assert_eq!(two.post(JOBS, &of(good)).status, 202);
    }
    assert_eq!(
        refused(&two.post(JOBS, &of(3))),
        (413, "too_many_rows".to_owned())
    );
    let invalid = batch(json!({"comparables_limit": 11}), &vec![json!(0); 3]);
    let over = refused(&two.post(JOBS, &invalid));
    assert_eq!(over, (413, "too_many_rows".to_owned()));
}

#[test]
fn limit_idempotency_key_is_1_to_100_characters_of_its_alphabet() {
    let (_contract, client) = value();
    let with_key = |key: &str| client.post(JOBS, &keyed(key, json!(0)));
    let alphabet = "ABCXYZabcxyz0189._:-";
    for good in ["k", alphabet, &"k".repeat(99), &"k".repeat(100)] {
        assert_eq!(with_key(good).status, 202, "{good}");
    }
    for bad in ["", &"k".repeat(101), "a b", "a/b", "\u{e9}", "a\n"] {
        assert_invalid(&with_key(bad), "invalid_value", "/idempotency_key");
    }
}

#[test]
fn limit_results_poll_is_five_seconds() {
    let (_server, client) = idle();
    let job = accepted(&client);
    let answer = client.get(job["results_url"].as_str().unwrap());
    assert_eq!(answer.header("retry-after"), Some("5"));
}
