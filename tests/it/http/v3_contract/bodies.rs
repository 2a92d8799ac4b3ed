//! Rules for a body, on every route that takes one.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::{connect, read, send};
use crate::v3_contract::{
    BATCH, DEVELOPMENT, DEVELOPMENT_BATCH, JOBS, JSON, LARGEST, SIMPLE, SIMPLE_BATCH, STANDARD,
    all, batch, head_with, proposed, refused,
};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Returns every synchronous valuation route, with a body of these rows.
pub(crate) fn synchronous(existing: &Value, development: &Value) -> [(&'static str, Value); 6] {
    let many = |row: &Value| batch(json!({}), std::slice::from_ref(row));
    [
        (SIMPLE, existing.clone()),
        (STANDARD, existing.clone()),
        (SIMPLE_BATCH, many(existing)),
        (BATCH, many(existing)),
        (DEVELOPMENT, development.clone()),
        (DEVELOPMENT_BATCH, many(development)),
    ]
}

/// Returns every route that takes a body, with a valid one.
fn routes() -> Vec<(&'static str, Value)> {
    let mut routes = synchronous(&house(), &proposed()).to_vec();
    routes.push((JOBS, batch(json!({}), &[house()])));
    routes
}

/// Sends the head of a request and the first half of its body, and returns the other half.
fn begin(client: &Client, route: &str, body: &str) -> (TcpStream, String) {
    let length = body.len().to_string();
    let head = head_with(client, &[JSON, ("Content-Length", &length)], "POST", route);
    let (half, rest) = body.split_at(body.len() / 2);
    let mut stream = connect(client.address);
    stream.write_all((head + half).as_bytes()).unwrap();
    (stream, rest.to_owned())
}

#[test]
fn limit_body_reception_is_ten_seconds_on_every_route() {
    let (_contract, client) = all();
    let routes = routes();
    let started = Instant::now();
    let begin_all = || {
        let of_route = |(route, body): &(&str, Value)| begin(&client, route, &body.to_string());
        routes.iter().map(of_route).collect::<Vec<_>>()
    };
    let (mut slow, mut late) = (begin_all(), begin_all());
    std::thread::sleep(Duration::from_millis(8_500));
    for (stream, rest) in &mut slow {
        stream.write_all(rest.as_bytes()).unwrap();
    }
    for ((stream, _), (route, _)) in slow.iter_mut().zip(&routes) {
        let answer = read(stream);
        assert!([200, 202].contains(&answer.status), "{route}: {answer:?}");
    }
    for ((stream, _), (route, _)) in late.iter_mut().zip(&routes) {
        let answer = refused(&read(stream));
        assert_eq!(answer, (408, "body_timeout".to_owned()), "{route}");
        let waited = started.elapsed().as_secs_f64();
        assert!((9.5..12.0).contains(&waited), "{route}: {waited}");
    }
}

#[test]
fn limit_body_routes_all_control_size_and_form() {
    let (_contract, client) = all();
    let too_large = (LARGEST + 1).to_string();
    let small = ("Content-Length", "3");
    for (route, body) in routes() {
        // Each is refused from its head: what follows is not waited for.
        for (headers, status, code) in [
            (
                vec![JSON, ("Content-Length", too_large.as_str())],
                413,
                "body_too_large",
            ),
            (
                vec![JSON, small, ("Content-Encoding", "gzip")],
                415,
                "compressed_body",
            ),
            (vec![small], 415, "unsupported_media_type"),
        ] {
            let head = head_with(&client, &headers, "POST", route);
            let answer = refused(&send(client.address, head.as_bytes()));
            assert_eq!(answer, (status, code.to_owned()), "{route}");
        }
        let answer = client.post(route, &body);
        assert!([200, 202].contains(&answer.status), "{route}: {answer:?}");
    }
}
