//! Every limit at it, below it and above it.

use crate::common::demo::house;
use crate::v3_jobs::{JOBS, accepted_job, await_completed, await_results, houses, idle, job_of};
use serde_json::json;

#[test]
fn an_idempotency_key_has_1_to_100_characters() {
    let server = idle().go();
    let client = server.demo();
    let with = |key: &str| client.post(JOBS, &json!({"idempotency_key": key, "requests": [{}]}));
    for good in ["a", &"k".repeat(99), &"k".repeat(100), "A-Za-z0-9._:-"] {
        accepted_job(&with(good));
    }
    for bad in ["", &"k".repeat(101), "a b", "é", "a/b", "a\n"] {
        let refusal = with(bad).refusal();
        let field = Some("/idempotency_key".to_owned());
        assert_eq!(refusal, (422, "invalid_value".to_owned(), field), "{bad:?}");
    }
}

#[test]
fn rows_are_limited_by_the_contract_and_the_plan() {
    let start = idle();
    let small = start.key_with_plan("small", &["avm:value"], "asynchronous_job_rows = 3");
    let whole = start.key(&["avm:value"]);
    let server = start.go();
    let (whole, small) = (server.client(&whole), server.client(&small));
    for (client, most) in [(&whole, 2_500), (&small, 3)] {
        let limits = &client.get("/v3/releases/current").ok()["limits"];
        assert_eq!(limits["asynchronous_job_rows"], most);
        let rows = |count: usize| client.post(JOBS, &job_of(&vec![json!(7); count]));
        for good in [1, most - 1, most] {
            assert_eq!(accepted_job(&rows(good))["request_count"], good);
        }
        let refusal = rows(most + 1).refusal();
        assert_eq!(
            refusal,
            (
                413,
                "too_many_rows".to_owned(),
                Some("/requests".to_owned())
            )
        );
    }
}

#[test]
fn units_are_charged_for_sound_rows_all_or_none() {
    let start = idle();
    let key = start.key_with_plan("t", &["avm:value"], "monthly_units = 10");
    let server = start.go();
    let client = server.client(&key);
    let mut late = house();
    late["property"]["valuation_date"] = "1999-01-01".into();
    // Nine of these twelve rows are billable.
    let mut rows = houses(9);
    rows.extend([json!({}), json!(7), late]);
    accepted_job(&client.post(JOBS, &job_of(&rows)));
    let refused = client.post(JOBS, &job_of(&houses(2)));
    assert_eq!(
        refused.refusal(),
        (429, "monthly_valuation_quota_exceeded".to_owned(), None)
    );
    assert_eq!(refused.json()["error"]["retryable"], false);
    accepted_job(&client.post(JOBS, &job_of(&houses(1))));
    assert_eq!(client.post(JOBS, &job_of(&houses(1))).refusal().0, 429);
    accepted_job(&client.post(JOBS, &job_of(&[json!({})])));
}

#[test]
fn a_full_queue_is_occupied_capacity() {
    let start = idle();
    let key = start.key_with_plan("t", &["avm:value"], "queued_jobs = 2");
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let client = server.client(&key);
    for _ in 0..2 {
        accepted_job(&client.post(JOBS, &job_of(&houses(1))));
    }
    let refused = client.post(JOBS, &job_of(&houses(1)));
    assert_eq!(
        refused.refusal(),
        (429, "capacity_occupied".to_owned(), None)
    );
    assert!(refused.header("retry-after").is_some());
    // Another tenant's queue is another.
    accepted_job(&server.client(&other).post(JOBS, &job_of(&houses(1))));
}

#[test]
fn a_queue_empties_as_jobs_are_done() {
    let start = crate::v3_jobs::start();
    let key = start.key_with_plan("t", &["avm:value"], "queued_jobs = 1");
    let server = start.go();
    let client = server.client(&key);
    for _ in 0..3 {
        await_completed(&client, &job_of(&houses(2)));
    }
}

#[test]
fn stored_bytes_are_limited() {
    let start = crate::v3_jobs::start();
    let key = start.key_with_plan("t", &["avm:value"], "stored_bytes = 20000");
    let server = start.go();
    let client = server.client(&key);
    // Results stay, so that jobs which fit one by one are too many in the end.
    let mut jobs = Vec::new();
    let refused = loop {
        let answer = client.post(JOBS, &job_of(&houses(10)));
        if answer.status != 202 {
            break answer;
        }
        await_results(&client, &answer.json());
        jobs.push(answer.json());
        assert!(jobs.len() < 10, "nothing is refused");
    };
    assert_eq!(
        refused.refusal(),
        (429, "capacity_occupied".to_owned(), None)
    );
    assert!(!jobs.is_empty());
    for job in jobs {
        await_results(&client, &job);
    }
    // A job that never fits is refused with a final error.
    let never = client.post(JOBS, &job_of(&houses(100)));
    assert_eq!(never.refusal(), (413, "body_too_large".to_owned(), None));
    assert_eq!(never.json()["error"]["retryable"], false);
}
