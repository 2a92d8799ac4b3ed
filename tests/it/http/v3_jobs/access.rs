//! Access to jobs: submission and reading.

use crate::common::demo::house;
use crate::v3_jobs::{JOBS, accepted_job, houses, idle, job_of};
use serde_json::{Value, json};

const UNKNOWN: &str = "01990000-0000-7000-8000-000000000001";

#[test]
fn a_job_is_its_tenants_alone_and_every_other_id_gives_one_response() {
    let start = idle();
    let (ours, theirs) = (
        start.key_with_plan("ours", &["avm:value"], ""),
        start.key_with_plan("theirs", &["avm:value"], ""),
    );
    let colleague = start.key_with_plan("ours", &["avm:value"], "");
    let server = start.go();
    let (ours, theirs) = (server.client(&ours), server.client(&theirs));
    let job = accepted_job(&ours.post(JOBS, &job_of(&houses(1))));
    let id = job["job_id"].as_str().unwrap();
    // Another key of the same tenant.
    assert_eq!(
        server.client(&colleague).get(&format!("{JOBS}/{id}")).ok(),
        job
    );

    let mut answers = Vec::new();
    for id in [id, UNKNOWN, "x", "%ff", &id.replace('-', "")] {
        for path in [format!("{JOBS}/{id}"), format!("{JOBS}/{id}/results")] {
            let answer = theirs.get(&path);
            assert_eq!(answer.status, 404, "{path}: {answer:?}");
            answers.push(answer.text);
        }
    }
    assert!(answers[0].contains("job_not_found"));
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[test]
fn job_routes_need_the_scope_for_values() {
    let start = idle();
    let other = start.key_with_plan("t", &["avm:development", "avm:stored-data"], "");
    let value = start.key_with_plan("t", &["avm:value"], "");
    let server = start.go();
    let job = accepted_job(&server.client(&value).post(JOBS, &job_of(&houses(1))));
    let other = server.client(&other);
    let refused = (403, "scope_required".to_owned(), None);
    assert_eq!(other.post(JOBS, &job_of(&houses(1))).refusal(), refused);
    for url in ["status_url", "results_url"] {
        assert_eq!(other.get(job[url].as_str().unwrap()).refusal(), refused);
    }
}

#[test]
fn development_jobs_need_both_scopes_to_submit_and_to_read() {
    let start = idle();
    let value = start.key_with_plan("t", &["avm:value"], "");
    let both = start.key_with_plan("t", &["avm:value", "avm:development"], "");
    let server = start.go();
    let (value, both) = (server.client(&value), server.client(&both));
    let body = json!({"mode": "development", "requests": [{}]});
    assert_eq!(value.post(JOBS, &body).refusal().1, "scope_required");
    let job = accepted_job(&both.post(JOBS, &body));
    for url in ["status_url", "results_url"] {
        let url = job[url].as_str().unwrap();
        assert_eq!(value.get(url).refusal().1, "scope_required");
        assert!([200, 202].contains(&both.get(url).status));
    }
}

#[test]
fn stored_data_is_authorized_at_submission() {
    let start = idle();
    let plain = start.key_with_plan("t", &["avm:value"], "monthly_units = 1");
    let server = start.go();
    let client = server.client(&plain);
    let shared =
        |value: bool| json!({"requests": [house()], "options": {"use_stored_data": value}});
    let refusal = client.post(JOBS, &shared(true)).refusal();
    let field = Some("/options/use_stored_data".to_owned());
    assert_eq!(refusal, (403, "scope_required".to_owned(), field));
    accepted_job(&client.post(JOBS, &shared(false)));
    // The row is rejected, and costs nothing: the month's one unit is used up already.
    let mut row: Value = house();
    row["options"] = json!({"use_stored_data": true});
    accepted_job(&client.post(JOBS, &job_of(&[row])));
}

#[test]
fn scopes_at_submission_hold_for_the_job() {
    let server = crate::v3_jobs::start();
    let key = server.key_with_plan("t", &["avm:value"], "");
    let server = server.go();
    let client = server.client(&key);
    let mut row: Value = house();
    row["options"] = json!({"use_stored_data": true});
    let result = crate::v3_jobs::await_completed(&client, &job_of(&[row, house()]));
    assert_eq!(result["results"][0]["errors"][0]["code"], "scope_required");
    assert_eq!(result["results"][1]["status"], "valued");
}

#[test]
fn job_routes_need_a_key() {
    let server = idle().go();
    let nobody = server.client("dk_nothing");
    assert_eq!(nobody.post(JOBS, &job_of(&houses(1))).refusal().0, 401);
    assert_eq!(nobody.get(&format!("{JOBS}/{UNKNOWN}")).refusal().0, 401);
}

#[test]
fn a_plan_without_jobs_has_no_submission() {
    let start = idle();
    let key = start.key_with_plan("t", &["avm:value"], "jobs = false");
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let client = server.client(&key);
    let refusal = client.post(JOBS, &job_of(&houses(1))).refusal();
    assert_eq!((refusal.0, &*refusal.1), (403, "access_disabled"));
    let endpoints = |client: &crate::v3_jobs::Client| {
        client.get("/v3/releases/current").ok()["endpoints"].clone()
    };
    let lists = |endpoints: Value| endpoints.as_array().unwrap().contains(&json!(JOBS));
    assert!(!lists(endpoints(&client)));
    assert!(lists(endpoints(&server.client(&other))));
    assert_eq!(
        client.get(&format!("{JOBS}/{UNKNOWN}")).refusal().1,
        "job_not_found"
    );
}
