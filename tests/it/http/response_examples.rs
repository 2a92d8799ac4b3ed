//! The examples of the description: each matches its schema and is what the service sends.

mod refusals;

use crate::common::demo::HOUSE;
use crate::common::raw::HttpResponse;
use crate::common::server::start;
use crate::openapi::{document, schema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Returns every response of every route: the path, the method, the status and the response.
fn responses(document: &Value) -> impl Iterator<Item = (String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.flat_map(move |(method, route)| {
            let responses = route["responses"].as_object().unwrap().iter();
            responses.map(move |(status, response)| (format!("{method} {path}"), status, response))
        })
    })
}

/// Returns the value of an example, which may be a reference.
fn value<'a>(document: &'a Value, example: &'a Value) -> &'a Value {
    match example["$ref"].as_str() {
        Some(reference) => &document.pointer(&reference[1..]).unwrap()["value"],
        None => &example["value"],
    }
}

/// Returns the examples of a JSON body by their names.
fn examples<'a>(document: &'a Value, response: &'a Value) -> BTreeMap<&'a str, &'a Value> {
    let examples = &response["content"]["application/json"]["examples"];
    let examples = examples.as_object().into_iter().flatten();
    examples
        .map(|(name, example)| (name.as_str(), value(document, example)))
        .collect()
}

#[test]
fn every_response_has_examples_that_match_its_schema() {
    let document = document();
    let mut validators = BTreeMap::new();
    for (route, status, response) in responses(&document) {
        let Some(content) = response["content"].as_object() else {
            assert_eq!(status, "304", "{route} has a response without a body");
            continue;
        };
        let name = content["application/json"]["schema"]["$ref"]
            .as_str()
            .unwrap();
        let name = name.rsplit('/').next().unwrap();
        let validator = validators
            .entry(name)
            .or_insert_with(|| schema(&document, name));
        let examples = examples(&document, response);
        assert!(!examples.is_empty(), "{route} {status}");
        for (example, value) in examples {
            let errors: Vec<_> = validator
                .iter_errors(value)
                .map(|e| e.to_string())
                .collect();
            assert!(errors.is_empty(), "{route} {status} {example}: {errors:?}");
        }
    }
}

#[test]
fn each_error_code_of_a_route_has_its_example() {
    let document = document();
    for (route, status, response) in responses(&document) {
        let Some(codes) = response["x-error-codes"].as_array() else {
            continue;
        };
        let examples = examples(&document, response);
        let mut codes: Vec<&str> = codes.iter().map(|code| code.as_str().unwrap()).collect();
        codes.sort_unstable();
        assert_eq!(
            codes,
            examples.keys().copied().collect::<Vec<_>>(),
            "{route} {status}"
        );
        for (code, body) in examples {
            assert_eq!(body["error"]["code"], code, "{route} {status}");
            let again = ["429", "500", "503"].contains(&status.as_str())
                && code != "monthly_valuation_quota_exceeded";
            match route.contains("/v3/") {
                true => assert_eq!(body["error"]["retryable"], again, "{route} {code}"),
                false => assert!(body["error"]["retryable"].is_null(), "{route} {code}"),
            }
        }
    }
}

/// Returns whether two values have the same members, of the same types. Each item of the example's
/// lists is like one of the other's. Null may stand for anything.
fn alike(example: &Value, answer: &Value) -> bool {
    match (example, answer) {
        (Value::Object(example), Value::Object(answer)) => {
            example.len() == answer.len()
                && example
                    .iter()
                    .all(|(name, value)| answer.get(name).is_some_and(|other| alike(value, other)))
        }
        (Value::Array(example), Value::Array(answer)) => {
            let found = |item: &Value| answer.iter().any(|other| alike(item, other));
            example.is_empty() == answer.is_empty() && example.iter().all(found)
        }
        (Value::Null, _) | (_, Value::Null) => true,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// Asserts that an answer is like each example of its status.
#[track_caller]
fn assert_alike(document: &Value, method: &str, route: &str, answer: &HttpResponse) {
    let status = answer.status.to_string();
    let response = &document["paths"][route][method]["responses"][&status];
    let examples = examples(document, response);
    assert!(!examples.is_empty(), "{route} {status}: {}", answer.text);
    for (name, example) in examples {
        let answer = answer.json();
        assert!(
            alike(example, &answer),
            "{route} {name}: {example:#} and {answer:#}"
        );
    }
}

#[test]
fn answers_of_the_demo_are_like_their_examples() {
    let server = start().with_series().go();
    let demo = server.demo();
    let document = document();
    for (route, name) in [
        ("/v3/simple-value", "house"),
        ("/v3/value", "evidence"),
        ("/v3/simple-batch-value", "batch"),
        ("/v3/batch-value", "batch"),
        ("/v3/development-value", "development"),
        ("/v3/development-batch-value", "development_batch"),
    ] {
        let request = request(&document, route, name);
        assert_alike(&document, "post", route, &demo.post(route, request));
    }
    let coverage = format!("/v3/coverage?postcode=QA1+1AF&uprn={HOUSE}");
    for url in [
        "/v3/releases/current",
        &coverage,
        "/v1/markets/series?dataset=market_activity&area=E06990001",
        "/v1/markets/coverage?dataset=market_activity&area=E06990001",
        "/v1/markets/datasets",
        "/v1/markets/areas",
        "/v1/markets/releases/current",
        "/v1/rates/series?dataset=ois_spot_curve&tenor_months=60",
        "/v1/rates/coverage?dataset=ois_spot_curve&tenor_months=60",
        "/v1/rates/datasets",
        "/v1/rates/releases/current",
    ] {
        let route = url.split('?').next().unwrap();
        assert_alike(&document, "get", route, &demo.get(url));
    }
}

#[test]
fn answers_of_a_job_are_like_their_examples() {
    let server = start().with_series().go();
    let demo = server.demo();
    let document = document();
    let submit = "/v3/valuation-jobs";
    let job = demo.post(submit, request(&document, submit, "job"));
    assert_alike(&document, "post", submit, &job);
    let results = "/v3/valuation-jobs/{job_id}/results";
    let waiting = &document["paths"][results]["get"]["responses"]["202"];
    for example in examples(&document, waiting).values() {
        assert!(alike(example, &job.json()), "{example:#}");
    }
    let url = job.json()["results_url"].as_str().unwrap().to_owned();
    let answer = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        Some(demo.get(&url)).filter(|answer| answer.status == 200)
    });
    let answer = answer.unwrap();
    assert_alike(&document, "get", results, &answer);
    let url = job.json()["status_url"].as_str().unwrap().to_owned();
    assert_alike(
        &document,
        "get",
        "/v3/valuation-jobs/{job_id}",
        &demo.get(&url),
    );
}

/// Returns an example of a request.
fn request<'a>(document: &'a Value, route: &str, name: &str) -> &'a Value {
    let body = &document["paths"][route]["post"]["requestBody"];
    &body["content"]["application/json"]["examples"][name]["value"]
}
