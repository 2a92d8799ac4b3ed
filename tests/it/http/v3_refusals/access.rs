//! Credentials, paths and request ids.

use crate::common::demo::{RELEASE, house, house_with, uncertified};
use crate::common::raw::{head, send};
use crate::v3_refusals::{SIMPLE, STANDARD, keys, render, service, with_key};
use serde_json::json;

#[test]
fn without_a_credential_it_is_401_with_the_scheme() {
    let (server, _) = service();
    let answer = send(
        server.address,
        head("GET", "/v3/releases/current", &[]).as_bytes(),
    );
    insta::assert_snapshot!(render(&answer));
}

#[test]
fn a_credential_without_bearer_is_missing() {
    let (server, _) = service();
    for value in ["Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "dk_1"] {
        let head = head("GET", "/v3/releases/current", &[("Authorization", value)]);
        let (status, code, _) = send(server.address, head.as_bytes()).refusal();
        assert_eq!(
            (status, code.as_str()),
            (401, "missing_credential"),
            "{value}"
        );
    }
}

#[test]
fn unknown_and_expired_keys_are_the_same_401() {
    let (server, client) = service();
    let unknown = server
        .client("dk_0000000000000000_0")
        .get("/v3/releases/current");
    let expired = server.client(&keys().expired).get("/v3/releases/current");
    assert_eq!(unknown.text, expired.text);
    let mut near = client.key.clone();
    let last = if near.pop() == Some('0') { '1' } else { '0' };
    near.push(last);
    assert_eq!(
        server.client(&near).get("/v3/releases/current").text,
        unknown.text
    );
    insta::assert_snapshot!(render(&unknown));
}

#[test]
fn the_scheme_is_read_in_any_case_and_the_key_in_its_own() {
    let (server, client) = service();
    let status = |value: String| {
        let head = head("GET", "/v3/releases/current", &[("Authorization", &value)]);
        send(server.address, head.as_bytes()).status
    };
    assert_eq!(status(format!("bEARER {}", client.key)), 200);
    assert_eq!(status(format!("Bearer {}", client.key.to_uppercase())), 401);
}

#[test]
fn two_credentials_are_refused_even_if_both_are_good() {
    let (server, client) = service();
    let bearer = format!("Bearer {}", client.key);
    let twice = [("Authorization", bearer.as_str()); 2];
    let answer = send(
        server.address,
        head("GET", "/v3/releases/current", &twice).as_bytes(),
    );
    assert_eq!(answer.refusal().1, "invalid_credential");
}

#[test]
fn access_that_is_switched_off_is_403() {
    let (server, _) = service();
    let answer = server.client(&keys().disabled).post(SIMPLE, &house());
    insta::assert_snapshot!(render(&answer));
}

#[test]
fn a_key_without_the_routes_scope_is_403() {
    let (server, _) = service();
    let development = server.client(&keys().development);
    insta::assert_snapshot!(
        "scope_of_value",
        render(&development.post(SIMPLE, &house()))
    );
    // Discovery is open to every valuation scope, and to no other.
    assert_eq!(development.get("/v3/releases/current").status, 200);
    let markets = server.client(&keys().markets);
    insta::assert_snapshot!(
        "scope_of_discovery",
        render(&markets.get("/v3/releases/current"))
    );
    assert_eq!(markets.get("/v3/coverage?postcode=QA11AF").status, 403);
    assert_eq!(markets.post(STANDARD, &house()).status, 403);
}

#[test]
fn stored_data_is_open_to_its_scope() {
    let (server, _) = service();
    let stored = server.client(&keys().stored);
    let options = json!({"use_stored_data": true});
    assert_eq!(stored.post(SIMPLE, &house_with(options)).status, 200);
    let mut blank = uncertified();
    blank["options"] = json!({"use_stored_data": false});
    assert_eq!(
        server.client(&keys().value).post(SIMPLE, &blank).status,
        200
    );
}

#[test]
fn a_path_that_does_not_exist_is_404() {
    let (_server, client) = service();
    insta::assert_snapshot!("no_such_path", render(&client.get("/v3/nothing")));
    for path in [
        "/",
        "/v3",
        "/v3/value/",
        "/v4/value",
        "/V3/value",
        "/healthz/x",
    ] {
        assert_eq!(client.get(path).refusal().1, "route_not_found", "{path}");
    }
}

#[test]
fn another_method_is_405_with_allow() {
    let (_server, client) = service();
    insta::assert_snapshot!("get_of_value", render(&client.get(STANDARD)));
    insta::assert_snapshot!(
        "post_of_release",
        render(&client.post("/v3/releases/current", &json!({})))
    );
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
        let head = with_key(&client.key, &[("Content-Length", "0")], method, STANDARD);
        let answer = send(client.address, head.as_bytes());
        assert_eq!(answer.refusal().1, "method_not_allowed", "{method}");
        assert_eq!(answer.header("allow"), Some("POST"));
    }
}

#[test]
fn another_method_without_a_key_is_401_without_allow() {
    let (server, _) = service();
    let answer = send(server.address, head("GET", STANDARD, &[]).as_bytes());
    assert_eq!(answer.refusal().1, "missing_credential");
    assert_eq!(answer.header("allow"), None);
}

#[test]
fn a_method_of_any_length_has_a_short_log_line() {
    let (server, _) = service();
    let head = head(&"X".repeat(60_000), "/healthz", &[]);
    let answer = send(server.address, head.as_bytes());
    assert_eq!(answer.refusal().1, "method_not_allowed");
    let id = answer.header("x-service-request-id").unwrap();
    let line = server.await_log(|line| line["request_id"] == id);
    assert_eq!(line["method"], "_OTHER");
}

#[test]
fn probes_refuse_another_method_with_405() {
    let (_server, client) = service();
    for path in ["/healthz", "/readyz"] {
        let head = head("POST", path, &[("Content-Length", "0")]);
        let answer = send(client.address, head.as_bytes());
        assert_eq!(answer.status, 405);
        assert_eq!(answer.refusal().1, "method_not_allowed", "{path}");
    }
}

#[test]
fn probes_need_no_key() {
    let (server, _) = service();
    for path in ["/healthz", "/readyz"] {
        let answer = send(server.address, head("GET", path, &[]).as_bytes());
        assert_eq!(answer.status, 200);
    }
    let ready = send(server.address, head("GET", "/readyz", &[]).as_bytes()).json();
    assert_eq!(ready["release_id"], RELEASE);
}

#[test]
fn every_response_has_a_unique_request_id() {
    let (server, client) = service();
    let raw = |request: String| send(server.address, request.as_bytes());
    let answers = [
        raw(head("GET", "/healthz", &[])),
        raw(head("GET", "/readyz", &[])),
        raw(head("POST", "/healthz", &[("Content-Length", "0")])),
        raw(head("GET", "/nothing", &[])),
        client.get("/nothing"),
        client.get(SIMPLE),
        client.get("/v3/releases/current"),
        client.post(SIMPLE, &house()),
        client.post_text(SIMPLE, "{"),
        server.client(&keys().markets).post(SIMPLE, &house()),
        server.client("dk_x").post(SIMPLE, &house()),
        raw(with_key(&client.key, &[("Content-Length", "2")], "POST", SIMPLE) + "{}"),
    ];
    let ids: std::collections::BTreeSet<uuid::Uuid> = answers
        .iter()
        .map(|answer| {
            answer
                .header("x-service-request-id")
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    assert_eq!(ids.len(), answers.len());
}

#[test]
fn a_request_id_that_a_client_sends_is_not_taken_over() {
    let (_server, client) = service();
    let own = ("X-Service-Request-Id", "mine");
    let head = with_key(&client.key, &[own], "GET", "/v3/releases/current");
    let answer = send(client.address, head.as_bytes());
    assert_ne!(answer.header("x-service-request-id"), Some("mine"));
}

#[test]
fn a_refusal_is_logged_with_its_id_and_code_and_nothing_of_the_body() {
    let (server, client) = service();
    let mut request = house();
    request["property"]["street"] = "Zebedee Crossing".into();
    let answer = client.post(SIMPLE, &request);
    let id = answer.header("x-service-request-id").unwrap();
    let line = server.await_log(|line| line["request_id"] == id);
    assert_eq!(line["code"], "address_not_found");
    assert_eq!(line["status"], 422);
    assert!(!server.log().contains("Zebedee"));
}
