//! The published description: it is the one that is kept, it is OpenAPI 3.1, and what the service
//! answers is what it describes.
#![allow(clippy::unwrap_used)]

mod common;

use common::program::{repository, run};
use common::server::start;
use serde_json::{Value, json};

fn document() -> Value {
    serde_json::from_str(&run(["openapi"]).ok().stdout).unwrap()
}

/// A schema of the document by its name, which also refuses what it does not describe.
fn schema(document: &Value, name: &str) -> jsonschema::Validator {
    let mut components = document["components"].clone();
    for schema in components["schemas"].as_object_mut().unwrap().values_mut() {
        close(schema);
    }
    let root = json!({"$ref": format!("#/components/schemas/{name}"), "components": components});
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(&root)
        .unwrap()
}

/// Takes no member that an object does not name, so that an answer cannot say more than its schema.
fn close(schema: &mut Value) {
    if schema["type"] == "object" && schema["additionalProperties"].is_null() {
        schema["additionalProperties"] = json!(false);
    }
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(close);
    }
}

fn described(document: &Value, name: &str, value: &Value) {
    let errors: Vec<_> = schema(document, name)
        .iter_errors(value)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?} in {value:#}");
}

fn post(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .filter_map(|(path, item)| Some((path.clone(), item.get("post")?.clone())))
        .collect()
}

#[test]
fn the_kept_document_is_the_one_that_is_generated() {
    let kept = std::fs::read_to_string(repository().join("docs/openapi.json")).unwrap();
    assert!(
        kept == run(["openapi"]).ok().stdout,
        "docs/openapi.json is out of date; write it with: cargo run -- openapi > docs/openapi.json"
    );
}

#[test]
fn every_route_of_the_contract_is_described() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let paths: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "/v3/batch-value",
            "/v3/coverage",
            "/v3/development-batch-value",
            "/v3/development-value",
            "/v3/releases/current",
            "/v3/simple-batch-value",
            "/v3/simple-value",
            "/v3/valuation-jobs",
            "/v3/valuation-jobs/{job_id}",
            "/v3/valuation-jobs/{job_id}/results",
            "/v3/value",
        ]
    );
}

#[test]
fn every_example_is_what_its_schema_describes() {
    let document = document();
    for (path, operation) in post(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let name = content["schema"]["$ref"].as_str().unwrap();
        let examples = content["examples"].as_object().unwrap();
        assert!(!examples.is_empty(), "{path}");
        for example in examples.values() {
            described(
                &document,
                name.rsplit('/').next().unwrap(),
                &example["value"],
            );
        }
    }
}

#[test]
fn answers_are_what_the_description_says() {
    let server = start().go();
    let demo = server.demo();
    let document = document();
    let served: Value = serde_json::from_str(&demo.get("/v3/releases/current").text).unwrap();
    described(&document, "ReleaseMetadata", &served);
    for (path, name) in [
        ("/v3/coverage?postcode=qa11af", "Coverage"),
        ("/v3/coverage?postcode=qa11af&uprn=1", "Coverage"),
        ("/v3/coverage?uprn=x", "ErrorBody"),
        ("/v3/nowhere", "ErrorBody"),
    ] {
        let answer: Value = serde_json::from_str(&demo.get(path).text).unwrap();
        described(&document, name, &answer);
    }
    for (path, operation) in post(&document) {
        if !served["endpoints"]
            .as_array()
            .unwrap()
            .contains(&json!(path))
        {
            continue;
        }
        let content = &operation["requestBody"]["content"]["application/json"];
        for example in content["examples"].as_object().unwrap().values() {
            let answer = demo.post(&path, &example["value"]);
            let responses = operation["responses"].as_object().unwrap();
            assert!(answer.status < 300, "{path}: {}", answer.text);
            let response = &responses[&answer.status.to_string()];
            let name = response["content"]["application/json"]["schema"]["$ref"]
                .as_str()
                .unwrap();
            let body = serde_json::from_str(&answer.text).unwrap();
            described(&document, name.rsplit('/').next().unwrap(), &body);
        }
        let answer = demo.post(&path, &json!({"colour": 1}));
        assert_eq!(answer.status, 422);
        described(
            &document,
            "ErrorBody",
            &serde_json::from_str(&answer.text).unwrap(),
        );
    }
}

#[test]
fn the_document_is_served_without_a_key_and_with_a_tag() {
    let server = start().go();
    let stranger = server.client("nobody");
    let answer = stranger.get("/openapi.json");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text, run(["openapi"]).ok().stdout);
    let tag = answer.header("etag").unwrap().to_owned();
    assert!(answer.header("cache-control").unwrap().contains("max-age"));
    let again = stranger.get_if_none_match("/openapi.json", &tag);
    assert_eq!((again.status, again.text.as_str()), (304, ""));
}
