//! One job a key, however often it is submitted.

use crate::common::demo::house;
use crate::v3_jobs::{JOBS, accepted_job, houses, idle, job_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Barrier;

fn keyed(key: &str, rows: &[Value]) -> Value {
    json!({"idempotency_key": key, "requests": rows})
}

#[test]
fn the_same_body_finds_the_job_in_whatever_form_it_is_written() {
    let start = idle();
    let key = start.key_with_plan("t", &["avm:value"], "monthly_units = 1\nqueued_jobs = 1");
    let server = start.go();
    let client = server.client(&key);
    let body = keyed("portfolio-1", &[house()]);
    let job = accepted_job(&client.post(JOBS, &body));
    assert_eq!(accepted_job(&client.post(JOBS, &body)), job);
    let pretty = serde_json::to_string_pretty(&body).unwrap();
    assert_eq!(accepted_job(&client.post_text(JOBS, &pretty)), job);
    // Members the other way round, at both levels.
    let row = house();
    let mut members: Vec<_> = row.as_object().unwrap().iter().collect();
    members.reverse();
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    let text = format!(
        "{{\"requests\": [{{{}}}], \"idempotency_key\": \"portfolio-1\"}}",
        members.join(",\n")
    );
    assert_ne!(text, body.to_string());
    assert_eq!(accepted_job(&client.post_text(JOBS, &text)), job);
    // The same number, as RFC 8785 compares them.
    for spelling in ["104.0", "104.00", "1.04e2"] {
        let text = text.replace("104", spelling);
        assert_eq!(
            accepted_job(&client.post_text(JOBS, &text)),
            job,
            "{spelling}"
        );
    }
    let (status, code, _) = client
        .post_text(JOBS, &text.replace("104", "104.5"))
        .refusal();
    assert_eq!((status, &*code), (409, "idempotency_conflict"));
}

#[test]
fn another_body_is_a_conflict() {
    let server = idle().go();
    let client = server.demo();
    accepted_job(&client.post(JOBS, &keyed("k", &[house()])));
    let mut bodies = vec![keyed("k", &houses(1)), keyed("k", &[house(), house()])];
    for (name, value) in [("mode", json!("simple")), ("options", json!({}))] {
        let mut body = keyed("k", &[house()]);
        body[name] = value;
        bodies.push(body);
    }
    for body in bodies {
        let refusal = client.post(JOBS, &body).refusal();
        let field = Some("/idempotency_key".to_owned());
        assert_eq!(
            refusal,
            (409, "idempotency_conflict".to_owned(), field),
            "{body}"
        );
    }
    // A request that is not a submission is refused, whatever its key.
    assert_eq!(
        client.post(JOBS, &keyed("k", &[])).refusal().1,
        "empty_requests"
    );
}

#[test]
fn keys_are_a_tenants_own_and_jobs_without_one_are_all_new() {
    let start = idle();
    let (ours, other) = (
        start.key(&["avm:value"]),
        start.key_with_plan("other", &["avm:value"], ""),
    );
    let server = start.go();
    let (client, other) = (server.client(&ours), server.client(&other));
    let body = keyed("same-text", &[house()]);
    let ours = accepted_job(&client.post(JOBS, &body));
    let theirs = accepted_job(&other.post(JOBS, &keyed("same-text", &houses(2))));
    assert_ne!(ours["job_id"], theirs["job_id"]);
    let plain = job_of(&[house()]);
    let (one, two) = (client.post(JOBS, &plain), client.post(JOBS, &plain));
    assert_ne!(accepted_job(&one)["job_id"], accepted_job(&two)["job_id"]);
}

#[test]
fn a_hundred_submissions_at_once_are_one_job_and_one_charge() {
    const AT_ONCE: usize = 100;
    let start = idle();
    let plan = "monthly_units = 3\nconcurrency = 200\nrequests_per_second = 1000\nburst = 1000";
    let key = start.key_with_plan("t", &["avm:value"], plan);
    let server = start.go();
    let body = keyed("at-once", &houses(2)).to_string();
    let line = Barrier::new(AT_ONCE);
    let jobs: BTreeSet<String> = std::thread::scope(|scope| {
        let submit = || {
            let client = server.client(&key);
            line.wait();
            accepted_job(&client.post_text(JOBS, &body))["job_id"].to_string()
        };
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(submit)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(jobs.len(), 1);
    // Two of three units are used: one more row fits, and then none.
    let client = server.client(&key);
    accepted_job(&client.post(JOBS, &job_of(&[house()])));
    let refusal = client.post(JOBS, &job_of(&[house()])).refusal();
    assert_eq!(refusal.1, "monthly_valuation_quota_exceeded");
}

#[test]
fn a_known_key_answers_over_quota_and_under_lower_limits() {
    // A folder that outlives the first server.
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let start = idle().data(&data);
    let key = start.key_with_plan("t", &["avm:value"], "monthly_units = 3");
    let server = start.go();
    let body = keyed("k", &houses(3));
    let job = accepted_job(&server.client(&key).post(JOBS, &body));
    server.stop();

    let start = idle().data(&data);
    start.key_with_plan(
        "t",
        &["avm:value"],
        "monthly_units = 0\nasynchronous_job_rows = 2\nqueued_jobs = 0",
    );
    let server = start.go();
    let client = server.client(&key);
    assert_eq!(accepted_job(&client.post(JOBS, &body)), job);
    let refusal = client.post(JOBS, &keyed("new", &houses(3))).refusal();
    assert_eq!(refusal.1, "too_many_rows");
    let refusal = client.post(JOBS, &keyed("k", &houses(4))).refusal();
    assert_eq!(refusal.1, "idempotency_conflict");
}
