//! Requests in work at the same time.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::{connect, read, send};
use crate::common::server::{Server, start};
use crate::v3_limits::{RELEASE, SIMPLE, post};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Starts a server on which a tenant may have two requests in work. Returns it with the tenant's
/// key and another tenant's.
fn two_at_once() -> (Server, String, String) {
    let start = start();
    let key = start.key_with_plan("two", &["avm:value"], "concurrency = 2");
    let other = start.key(&["avm:value"]);
    (start.go(), key, other)
}

/// Sends the head of a request that is accepted and waits for its body.
fn begin_request(server: &Server, key: &str, length: usize) -> TcpStream {
    let mut stream = connect(server.address);
    let length = length.to_string();
    let headers = [
        ("Content-Length", length.as_str()),
        ("Expect", "100-continue"),
    ];
    stream
        .write_all(post(key, SIMPLE, &headers).as_bytes())
        .unwrap();
    assert_eq!(read(&mut stream).status, 100);
    stream
}

/// Waits until a request passes.
#[track_caller]
fn passes(client: &Client) {
    let started = Instant::now();
    while client.get(RELEASE).status != 200 {
        assert!(started.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_third_of_two_is_429_until_one_is_answered() {
    let (server, key, other) = two_at_once();
    let client = server.client(&key);
    let body = house().to_string();
    let mut first = begin_request(&server, &key, body.len());
    assert_eq!(client.get(RELEASE).status, 200, "one below the limit");
    let _second = begin_request(&server, &key, body.len());

    let refused = client.post(SIMPLE, &house());
    assert_eq!(refused.refusal(), (429, "concurrency_limited".into(), None));
    assert_eq!(refused.json()["error"]["retryable"], true);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(client.get(RELEASE).status, 429);
    assert_eq!(
        server.client(&other).get(RELEASE).status,
        200,
        "another tenant has its own"
    );
    // It comes before the form of the body.
    let plain = [("Content-Encoding", "gzip"), ("Content-Length", "3")];
    let answer = send(server.address, post(&key, SIMPLE, &plain).as_bytes());
    assert_eq!(answer.refusal().1, "concurrency_limited");

    first.write_all(body.as_bytes()).unwrap();
    assert_eq!(read(&mut first).status, 200);
    // On another connection it may be a moment until the slot is seen to be free.
    passes(&client);
}

#[test]
fn a_client_that_goes_away_leaves_its_slot() {
    let (server, key, _) = two_at_once();
    let client = server.client(&key);
    let gone = [
        begin_request(&server, &key, 900),
        begin_request(&server, &key, 900),
    ];
    assert_eq!(client.get(RELEASE).status, 429);
    drop(gone);
    passes(&client);
}
