//! The choice of the reported error among several.

use crate::common::demo::{house, scottish};
use crate::common::raw::send;
use crate::common::server::Server;
use crate::v3_refusals::{LARGEST, SIMPLE, keys, service, with_key};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A defect of a request. Each can stand beside any other in one request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    Credential,
    Path,
    Method,
    Scope,
    MediaType,
    Length,
    Body,
}

/// In the order in which it must be found.
const ORDER: [(Defect, u16); 7] = [
    (Defect::Credential, 401),
    (Defect::Path, 404),
    (Defect::Method, 405),
    (Defect::Scope, 403),
    (Defect::MediaType, 415),
    (Defect::Length, 413),
    (Defect::Body, 422),
];

/// Sends a request with exactly these defects, and returns the status.
fn status_of(server: &Server, wrong: &[Defect]) -> u16 {
    let is = |what| wrong.contains(&what);
    let key = match (is(Defect::Credential), is(Defect::Scope)) {
        (true, _) => "dk_wrong",
        (_, true) => &keys().markets,
        _ => &keys().value,
    };
    let method = if is(Defect::Method) { "PUT" } else { "POST" };
    let path = if is(Defect::Path) {
        "/v3/nothing"
    } else {
        SIMPLE
    };
    let kind = if is(Defect::MediaType) {
        "text/plain"
    } else {
        "application/json"
    };
    let body = if is(Defect::Body) {
        "{".to_owned()
    } else {
        house().to_string()
    };
    let length = if is(Defect::Length) {
        LARGEST + 1
    } else {
        body.len()
    };
    let length = length.to_string();
    let headers = [("Content-Type", kind), ("Content-Length", &length)];
    let request = with_key(key, &headers, method, path);
    let sent = if is(Defect::Length) {
        String::new()
    } else {
        body
    };
    send(server.address, (request + &sent).as_bytes()).status
}

#[test]
fn refusals_come_in_their_order_pair_by_pair() {
    let (server, _) = service();
    assert_eq!(status_of(&server, &[]), 200);
    for (at, &(first, status)) in ORDER.iter().enumerate() {
        assert_eq!(status_of(&server, &[first]), status, "{first:?}");
        for &(second, _) in &ORDER[at + 1..] {
            if (first, second) == (Defect::Path, Defect::Method) {
                continue; // A path that does not exist has no method that it takes.
            }
            let found = status_of(&server, &[first, second]);
            assert_eq!(found, status, "{first:?} before {second:?}");
        }
    }
}

#[test]
fn compression_is_refused_before_the_media_type_and_the_length() {
    let (_server, client) = service();
    let length = (LARGEST + 1).to_string();
    let headers = [
        ("Content-Type", "text/plain"),
        ("Content-Encoding", "gzip"),
        ("Content-Length", length.as_str()),
    ];
    let head = with_key(&client.key, &headers, "POST", SIMPLE);
    assert_eq!(
        send(client.address, head.as_bytes()).refusal().1,
        "compressed_body"
    );
}

#[test]
fn a_whole_body_is_parsed_before_its_scope_date_and_address_are_checked() {
    let (server, client) = service();
    // Each request has this error and all that come after it.
    let mut request = scottish();
    let code = |request: &Value| client.post(SIMPLE, request).refusal().1;
    assert_eq!(code(&request), "outside_geography");
    request["property"]["valuation_date"] = "2020-01-01".into();
    assert_eq!(code(&request), "valuation_date_outside_window");
    request["options"] = json!({"use_stored_data": true});
    assert_eq!(code(&request), "scope_required");
    request["purpose"] = "none".into();
    assert_eq!(code(&request), "unknown_field");
    drop(server);
}

#[test]
fn nothing_of_a_body_is_awaited_where_the_head_is_enough() {
    let (server, _) = service();
    for (wrong, expected) in &ORDER[..5] {
        let key = match wrong {
            Defect::Credential => "dk_wrong",
            Defect::Scope => &keys().markets,
            _ => &keys().value,
        };
        let method = if *wrong == Defect::Method {
            "PUT"
        } else {
            "POST"
        };
        let path = if *wrong == Defect::Path {
            "/v3/nothing"
        } else {
            SIMPLE
        };
        let kind = if *wrong == Defect::MediaType {
            "text/plain"
        } else {
            "application/json"
        };
        let headers = [
            ("Content-Type", kind),
            ("Content-Length", "100"),
            ("Expect", "100-continue"),
        ];
        // The body never comes, and the answer does not wait ten seconds for it.
        let started = Instant::now();
        let head = with_key(key, &headers, method, path);
        assert_eq!(
            send(server.address, head.as_bytes()).status,
            *expected,
            "{wrong:?}"
        );
        assert!(started.elapsed() < Duration::from_secs(5), "{wrong:?}");
    }
}
