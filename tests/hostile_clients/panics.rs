//! A handler that panics, as the service's own faults may make it: in a build with named breaks alone.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::{connect, head, read};
use crate::common::server::{Server, start};
use crate::{LARGEST, MIB, RELEASE, SIMPLE, STANDARD_BATCH, post, unharmed};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

/// A server on which this place panics whenever it is passed, the key of a tenant with one request at
/// the same time and one unit, and another tenant.
fn panics_in(place: &str) -> (Server, String, Client) {
    let start = start().environment("DOMESDAY_PANIC", Path::new(place));
    let plan = "concurrency = 1\nburst = 1000\nmonthly_units = 1";
    let key = start.planned("one", &["avm:value"], plan);
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let other = server.client(&other);
    (server, key, other)
}

/// Sends this on a connection that had panics before, and demands another one.
fn panicked(stream: &mut TcpStream, key: &str, path: &str, body: &str) {
    let request = post(key, path, body.len()) + body;
    stream.write_all(request.as_bytes()).unwrap();
    let answer = read(stream);
    assert_eq!(answer.refusal(), (500, "internal".into(), None));
    assert_eq!(answer.json()["error"]["retryable"], true);
    assert!(answer.json().as_object().unwrap().len() == 1, "{answer:?}");
    let id = answer.header("x-service-request-id").unwrap();
    assert!(uuid::Uuid::parse_str(id).is_ok(), "{id}");
    assert!(!format!("{answer:?}").contains("secret"), "{answer:?}");
}

#[test]
fn error_500_panic_is_its_own_requests_alone() {
    let (server, key, _) = panics_in("single");
    let bearer = format!("Bearer {key}");
    let release = head("GET", RELEASE, &[("Authorization", &bearer)]);
    let mut stream = connect(server.address);
    for _ in 0..20 {
        panicked(&mut stream, &key, SIMPLE, &house().to_string());
        // The connection lives on, and the plan's only place is free.
        stream.write_all(release.as_bytes()).unwrap();
        assert_eq!(read(&mut stream).status, 200);
    }
    let line = server.logged(|line| line["said"].is_string());
    assert_eq!(line["said"], "a secret of ours in single");
    // It cost nothing: the month's only unit is there still.
    let one = json!({"requests": [house()]});
    let client = server.client(&key);
    assert_eq!(client.post(STANDARD_BATCH, &one).status, 200);
    assert_eq!(client.post(STANDARD_BATCH, &one).status, 429);
    assert_eq!(client.get("/readyz").status, 200);
}

#[test]
fn a_panic_on_a_thread_that_works_is_its_own_requests_alone() {
    let (server, key, other) = panics_in("batch");
    let mut stream = connect(server.address);
    for _ in 0..20 {
        let one = json!({"requests": [house()]}).to_string();
        panicked(&mut stream, &key, STANDARD_BATCH, &one);
    }
    // Every thread works still.
    for _ in 0..20 {
        other.post(SIMPLE, &house()).ok();
    }
    assert_eq!(server.client(&key).post(SIMPLE, &house()).status, 200);
}

#[test]
fn panics_leave_nothing_behind() {
    let (server, key, other) = panics_in("batch");
    let mut large = json!({"requests": [house()]}).to_string();
    large += &" ".repeat(LARGEST - large.len());
    // Whoever looks at the first panic's backtrace has read where the lines of the program are.
    panicked(&mut connect(server.address), &key, STANDARD_BATCH, &large);
    unharmed(&server, &other, 64 * MIB, || {
        let mut stream = connect(server.address);
        // More than all bodies may hold at once.
        for _ in 0..30 {
            panicked(&mut stream, &key, STANDARD_BATCH, &large);
        }
    });
}
