//! Each case of the table over each kind of route.

use super::{assert_has, cases, list, sandbox};
use crate::common::program::repository;
use crate::openapi::{document, schema};
use serde_json::{Value, json};
use std::fmt::Write;

const WITH_COMPARABLES: &str = "include_comparables";

#[test]
fn each_case_gives_its_answer_on_single_routes() {
    let (_server, client) = sandbox();
    let document = document();
    let (results, errors) = (
        schema(&document, "ValuationResult"),
        schema(&document, "ErrorBody"),
    );
    for case in cases() {
        for path in ["/v3/value", "/v3/simple-value"] {
            let answer = client.post(path, &case["request"]);
            assert_eq!(answer.status, case["http_status"], "{case}");
            let body = answer.json();
            match answer.status {
                200 => {
                    assert_has(&body, &case["result"], &case["name"]);
                    assert_eq!(body["release_id"], "sandbox-2027-01");
                    assert!(results.is_valid(&body), "{body}");
                }
                _ => {
                    assert_has(&body["error"], &case["result"]["errors"][0], &case["name"]);
                    assert!(errors.is_valid(&body), "{body}");
                }
            }
        }
    }
}

#[test]
fn each_case_gives_its_answer_in_a_batch_and_in_a_job() {
    let (_server, client) = sandbox();
    let cases = cases();
    let rows: Vec<&Value> = cases.iter().map(|case| &case["request"]).collect();
    let batch = client
        .post("/v3/batch-value", &json!({ "requests": rows }))
        .ok();
    let job = client
        .post("/v3/valuation-jobs", &json!({ "requests": rows }))
        .json();
    let job = crate::v3_jobs::await_results(&client, &job);
    assert_eq!(job["status"], "completed");
    for results in [&batch["results"], &job["result"]["results"]] {
        let results = results.as_array().unwrap();
        assert_eq!(results.len(), cases.len());
        for (case, result) in cases.iter().zip(results) {
            assert_has(result, &case["result"], &case["name"]);
        }
    }
}

#[test]
fn a_proposed_home_in_the_postcode_of_a_case_gets_its_answer() {
    let (_server, client) = sandbox();
    for case in cases() {
        if case["result"]["status"] == "rejected" {
            continue;
        }
        let mut request = case["request"].clone();
        let property = request["property"].as_object_mut().unwrap();
        property.remove("building_number_or_name");
        property.remove("street");
        property.insert("site_latitude".to_owned(), json!(52.63));
        property.insert("site_longitude".to_owned(), json!(-1.125));
        let answer = client.post("/v3/development-value", &request).ok();
        let mut expected = case["result"].clone();
        // The route adds what it applied.
        expected.as_object_mut().unwrap().remove("input_resolution");
        assert_has(&answer, &expected, &case["name"]);
    }
}

#[test]
fn a_case_without_comparables_has_an_empty_list() {
    let (_server, client) = sandbox();
    for (case, count) in [
        ("valued_high", 5),
        ("valued_with_two_comparables", 2),
        ("valued_without_comparables", 0),
    ] {
        let mut request = super::request(case);
        request["options"] = json!({ WITH_COMPARABLES: true });
        let answer = client.post("/v3/value", &request).ok();
        assert_eq!(
            answer["comparables"].as_array().unwrap().len(),
            count,
            "{case}"
        );
    }
}

#[test]
fn the_list_is_served_without_a_key() {
    let (_server, client) = sandbox();
    let listed = client.with_key("none").get("/sandbox").ok();
    assert_eq!(listed, list());
}

#[test]
fn the_page_shows_every_case_and_every_fault() {
    let page = std::fs::read_to_string(repository().join("docs/reference/sandbox.md")).unwrap();
    let list = list();
    let mut rows = String::from(
        "| Case | Building, street, postcode | HTTP | Status | Answer |\n|---|---|---|---|---|\n",
    );
    for case in list["cases"].as_array().unwrap() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (property, result) = (&case["request"]["property"], &case["result"]);
        let address = ["building_number_or_name", "street", "postcode"];
        let address = address.map(|member| text(&property[member])).join(", ");
        let with = members(&case["with"], "");
        let _ = writeln!(
            rows,
            "| `{}` | {address}{with} | {} | {} | {} |",
            text(&case["name"]),
            case["http_status"],
            text(&result["status"]),
            answer(result)
        );
    }
    assert!(
        page.contains(&rows),
        "docs/reference/sandbox.md must contain:\n\n{rows}"
    );
    let mut rows = String::from("| Fault | HTTP | What happens |\n|---|---|---|\n");
    for fault in list["faults"].as_array().unwrap() {
        let status = &fault["http_status"];
        let status = status.as_u64().map(|status| status.to_string());
        let _ = writeln!(
            rows,
            "| `{}` | {} | {} |",
            fault["fault"].as_str().unwrap(),
            status.unwrap_or_default(),
            fault["about"].as_str().unwrap()
        );
    }
    assert!(
        page.contains(&rows),
        "docs/reference/sandbox.md must contain:\n\n{rows}"
    );
}

/// Returns the members that a case adds to the request, each with its JSON Pointer.
fn members(with: &Value, pointer: &str) -> String {
    match with {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| members_at(value, &format!("{pointer}/{name}")))
            .collect(),
        _ => String::new(),
    }
}

fn members_at(value: &Value, pointer: &str) -> String {
    match value.is_object() {
        true => members(value, pointer),
        false => format!("; `{pointer}` is `{value}`"),
    }
}

/// Returns what a row of the page says of a result.
fn answer(result: &Value) -> String {
    let valuation = &result["valuation"];
    let code = |of: &Value| format!("`{}`", of["code"].as_str().unwrap());
    match result["status"].as_str().unwrap() {
        "valued" => {
            let range = match &valuation["range"] {
                Value::Null => "no range".to_owned(),
                range => format!(
                    "{} to {}",
                    range["lower_value_gbp"], range["upper_value_gbp"]
                ),
            };
            let (estimate, score) = (
                &valuation["estimated_value_gbp"],
                &result["confidence"]["score"],
            );
            let band = result["confidence"]["band"].as_str().unwrap();
            format!("£{estimate}, {range}; confidence {score}, {band}")
        }
        "referred" => code(&result["referral"]),
        _ => code(&result["errors"][0]),
    }
}
