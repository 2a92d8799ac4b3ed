//! Each fault that a request asks for.

use super::{FAULT, list, request, sandbox};
use crate::common::client::Client;
use crate::common::program::run;
use crate::common::raw::HttpResponse;
use crate::common::server::{Server, start_sandbox};
use crate::openapi::{document, schema};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const VALUE: &str = "/v3/value";
const JOB: &str = "01990000-0000-7000-8000-000000000001";

/// Sends a request of a route. What it asks does not matter, since the stub answers.
fn send(client: &Client, method: &str, path: &str) -> HttpResponse {
    match method {
        "post" => client.post(path, &json!({})),
        _ => client.get(&path.replace("{job_id}", JOB)),
    }
}

#[test]
fn each_error_of_a_route_is_given_as_the_description_says() {
    let (_server, client) = sandbox();
    let document = document();
    let errors = schema(&document, "ErrorBody");
    let mut given = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            for status in ["429", "500", "503"] {
                let response = &operation["responses"][status];
                let codes = &response["content"]["application/json"]["examples"];
                for (code, reference) in codes.as_object().into_iter().flatten() {
                    if !path.starts_with("/v3/") {
                        continue;
                    }
                    let answer = send(&client.with_header(FAULT, code), method, path);
                    assert_eq!(
                        answer.status.to_string(),
                        status,
                        "{path} {code}: {answer:?}"
                    );
                    let reference = reference["$ref"].as_str().unwrap();
                    let example = document.pointer(reference.strip_prefix('#').unwrap());
                    let body = answer.json();
                    assert_eq!(body, example.unwrap()["value"], "{path}");
                    assert!(errors.is_valid(&body), "{body}");
                    let order = r#"{"error":{"code":""#;
                    assert!(answer.text.starts_with(order), "{}", answer.text);
                    assert_eq!(answer.header("retry-after").is_some(), status != "500");
                    for header in response["headers"].as_object().unwrap().keys() {
                        let header = answer.header(&header.to_lowercase());
                        assert!(header.is_some(), "{path} {code}: {answer:?}");
                    }
                    given += 1;
                }
            }
        }
    }
    assert!(given > 40, "{given}");
}

#[test]
fn a_route_never_gives_an_error_that_it_does_not_document() {
    let (_server, client) = sandbox();
    for (code, path) in [
        ("job_admission_paused", "/v3/releases/current"),
        (
            "identity_provider_unavailable",
            "/v3/coverage?postcode=ZZ1+1AA",
        ),
    ] {
        client.with_header(FAULT, code).get(path).ok();
    }
    // The sandbox has no series, and its key reads none.
    let series = client.with_header(FAULT, "rate_limited");
    let series = series.get("/v1/rates/series?dataset=bank_rate");
    assert_eq!(series.status, 403, "{series:?}");
    let probe = client.with_header(FAULT, "overloaded").get("/readyz");
    assert_eq!(probe.status, 200, "{probe:?}");
}

#[test]
fn a_fault_passes_after_as_many_times_as_asked_and_begins_anew() {
    let (_server, client) = sandbox();
    let client = client.with_header(FAULT, "overloaded; times=2; run=passes");
    let statuses: Vec<u16> = (0..6)
        .map(|_| client.post(VALUE, &request("valued_high")).status)
        .collect();
    assert_eq!(statuses, [503, 503, 200, 503, 503, 200]);
}

#[test]
fn a_base_address_asks_for_a_fault_as_the_header_does() {
    let (_server, client) = sandbox();
    let path = format!("/sandbox/rate_limited;times=1;run=path{VALUE}");
    let statuses = [(); 2].map(|()| client.post(&path, &request("valued_high")).status);
    assert_eq!(statuses, [429, 200]);
}

#[test]
fn retry_after_has_both_forms() {
    let (_server, client) = sandbox();
    let retry_after = |fault: &str| {
        let answer = client.with_header(FAULT, fault).get("/v3/releases/current");
        let after = answer.header("retry-after").unwrap().to_owned();
        (answer, after)
    };
    let (answer, after) = retry_after("rate_limited;seconds=7");
    assert_eq!(after, "7");
    assert_eq!(answer.header("ratelimit"), Some("\"requests\";r=0;t=7"));
    assert_eq!(answer.header("cache-control"), None);
    let (answer, after) = retry_after("overloaded;seconds=90;form=date");
    let date = |text: &str| {
        let text = text.strip_suffix("GMT").unwrap().to_owned() + "+0000";
        chrono::DateTime::parse_from_rfc2822(&text).unwrap()
    };
    let wait = date(&after) - date(answer.header("date").unwrap());
    assert!((90..=92).contains(&wait.num_seconds()), "{wait}");
}

#[test]
fn another_text_is_refused_and_names_the_list() {
    let (_server, client) = sandbox();
    let refused = client
        .with_header(FAULT, "rate-limited")
        .get("/v3/releases/current");
    assert_eq!(refused.refusal(), (422, "invalid_value".to_owned(), None));
    assert!(refused.text.contains("GET /sandbox"), "{refused:?}");
    assert!(refused.header("x-service-request-id").is_some());
}

#[test]
fn a_request_without_a_key_is_refused_as_ever() {
    let (_server, client) = sandbox();
    let stranger = client.with_key("none").with_header(FAULT, "rate_limited");
    let refused = stranger.post(VALUE, &request("valued_high"));
    assert_eq!(
        refused.refusal(),
        (401, "invalid_credential".to_owned(), None)
    );
}

#[test]
fn a_delayed_response_is_late_and_otherwise_the_same() {
    let (_server, client) = sandbox();
    let began = Instant::now();
    let answer = client
        .with_header(FAULT, "delay;seconds=1")
        .post(VALUE, &request("valued_low"));
    assert_eq!(answer.ok()["valuation"]["estimated_value_gbp"], 340_000);
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_connection_that_is_lost_before_costs_nothing_and_one_lost_after_costs_a_unit() {
    let server = start_sandbox().go();
    let client = server.sandbox();
    let body = request("valued_high").to_string();
    for (fault, units) in [("lost_before", 0), ("lost_after", 1)] {
        let lost = client.with_header(FAULT, fault).try_post(VALUE, &body);
        assert!(lost.is_err(), "{lost:?}");
        assert_eq!(units_used(&server), units, "{fault}");
    }
    client.post(VALUE, &request("valued_high")).ok();
    assert_eq!(units_used(&server), 2);
}

/// Returns the units that the tenant of the sandbox has used in this month.
fn units_used(server: &Server) -> u64 {
    let data = server.data.display().to_string();
    let listed = run(["tenant", "list", "--data", &data]).ok().stdout;
    let line = listed
        .lines()
        .find(|line| line.starts_with("sandbox"))
        .unwrap();
    let used = line.split_whitespace().find_map(|word| word.parse().ok());
    used.unwrap_or_else(|| panic!("{listed}"))
}

#[test]
fn every_fault_is_listed_once() {
    let list = list();
    let faults = list["faults"].as_array().unwrap();
    let mut names: Vec<&Value> = faults.iter().map(|fault| &fault["fault"]).collect();
    assert!(names.len() >= 14, "{names:?}");
    names.dedup();
    assert_eq!(names.len(), faults.len());
}
