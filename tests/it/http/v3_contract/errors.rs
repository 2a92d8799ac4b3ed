//! Errors: their statuses, their body and their header.

use crate::common::demo::{at, house};
use crate::v3_contract::{RELEASE, SIMPLE, is_uuid, names, refused, value, with};
use serde_json::Value;

#[test]
fn error_401_for_a_wrong_key() {
    let (_contract, client) = value();
    let answer = client.with_key("dk_wrong").post(SIMPLE, &house());
    assert_eq!(refused(&answer), (401, "invalid_credential".to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], false);
}

#[test]
fn error_403_for_a_missing_entitlement() {
    let (contract, _) = value();
    let answer = contract.customer("markets").get(RELEASE);
    assert_eq!(refused(&answer), (403, "scope_required".to_owned()));
    assert_eq!(answer.json()["error"]["retryable"], false);
}

#[test]
fn error_422_for_input_that_cannot_be_used() {
    let (_contract, client) = value();
    for request in [
        with(house(), "/size/bedrooms", -1),
        at("15 A", "Badger Yard Gardens", "QA1 1AF"),
    ] {
        let answer = client.post(SIMPLE, &request);
        assert_eq!(answer.status, 422);
        assert_eq!(answer.json()["error"]["retryable"], false);
    }
}

#[test]
fn errors_1_one_body_with_an_error_and_maybe_a_list() {
    let (_contract, client) = value();
    let request = with(with(house(), "/size/bedrooms", -1), "/purpose", 1);
    let body = client.post(SIMPLE, &request).json();
    assert_eq!(names(&body), ["error", "errors"]);
    let list = body["errors"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(body["error"], list[0]);
    for item in list {
        assert_eq!(names(item), ["code", "field", "message", "retryable"]);
    }
    let alone = client.get("/v3/nothing").json();
    assert_eq!(names(&alone), ["error"]);
    assert_eq!(names(&alone["error"]), ["code", "message", "retryable"]);
}

#[test]
fn errors_5_header_is_on_every_answer() {
    let (_contract, client) = value();
    let answers = [
        client.post(SIMPLE, &house()),
        client.post_text(SIMPLE, "{"),
        client.get(RELEASE),
        client.get("/nothing"),
        client.with_key("x").get(RELEASE),
    ];
    let ids = answers.map(|answer| Value::from(answer.header("x-service-request-id").unwrap()));
    assert!(ids.iter().all(is_uuid));
    for (at, id) in ids.iter().enumerate() {
        assert!(!ids[at + 1..].contains(id));
    }
}

#[test]
fn errors_5_log_joins_the_request_to_its_ids() {
    let (contract, client) = value();
    let answer = client.post(SIMPLE, &house());
    let id = answer.header("x-service-request-id").unwrap();
    let line = contract.server.await_log(|line| line["request_id"] == id);
    for name in ["execution_id", "valuation_id", "release_id"] {
        assert!(line[name].is_string(), "{line}");
        assert_eq!(line[name], answer.json()[name]);
    }
}

#[test]
fn errors_7_every_code_has_one_status() {
    let (contract, client) = value();
    let answers = [
        (
            client.with_key("dk_wrong").get(RELEASE),
            401,
            "invalid_credential",
        ),
        (
            contract.customer("markets").get(RELEASE),
            403,
            "scope_required",
        ),
        (
            contract.customer("disabled").get(RELEASE),
            403,
            "access_disabled",
        ),
        (client.get("/v3/nothing"), 404, "route_not_found"),
        (client.get(SIMPLE), 405, "method_not_allowed"),
        (client.post_text(SIMPLE, "{"), 422, "invalid_json"),
        (
            client.post(SIMPLE, &with(house(), "/purpose", 1)),
            422,
            "unknown_field",
        ),
        (
            client.post(SIMPLE, &with(house(), "/size/bedrooms", -1)),
            422,
            "invalid_value",
        ),
        (
            client.post(SIMPLE, &with(house(), "/size", serde_json::json!({}))),
            422,
            "empty_section",
        ),
        (
            client.post(SIMPLE, &at("4711", "Nowhere", "QA1 1AF")),
            422,
            "address_not_found",
        ),
    ];
    for (answer, status, code) in answers {
        assert_eq!(refused(&answer), (status, code.to_owned()));
    }
}
