//! Refusals of a body: its declared form, its size and its time.

use crate::common::demo::house;
use crate::common::raw::{connect, read, send};
use crate::v3_refusals::{JSON, LARGEST, SIMPLE, keys, render, service, with_key};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

#[test]
fn a_compressed_body_is_415() {
    let (_server, client) = service();
    for encoding in ["gzip", "br", "deflate", "identity, gzip", "GZIP"] {
        let headers = [
            JSON,
            ("Content-Encoding", encoding),
            ("Content-Length", "3"),
        ];
        let head = with_key(&client.key, &headers, "POST", SIMPLE);
        let answer = send(client.address, &[head.as_bytes(), b"\x1f\x8b\x08"].concat());
        assert_eq!(answer.refusal().1, "compressed_body", "{encoding}");
        if encoding == "gzip" {
            insta::assert_snapshot!(render(&answer));
        }
    }
    let headers = [JSON, ("Transfer-Encoding", "gzip, chunked")];
    let head = with_key(&client.key, &headers, "POST", SIMPLE);
    let answer = send(client.address, head.as_bytes());
    assert_eq!(answer.refusal().1, "compressed_body");
    let headers = [
        JSON,
        ("Content-Encoding", "identity"),
        ("Content-Length", "2"),
    ];
    let plain = with_key(&client.key, &headers, "POST", SIMPLE) + "{}";
    assert_eq!(send(client.address, plain.as_bytes()).status, 422);
}

#[test]
fn a_byte_order_mark_is_named_as_one() {
    let (_server, client) = service();
    for path in [SIMPLE, "/v3/simple-batch-value", "/v3/valuation-jobs"] {
        let answer = client.post_text(path, &format!("\u{feff}{}", house()));
        assert_eq!(answer.refusal().1, "invalid_json");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains("byte order mark"), "{message}");
    }
}

#[test]
fn a_body_not_declared_as_json_is_415() {
    let (_server, client) = service();
    let none = with_key(&client.key, &[("Content-Length", "2")], "POST", SIMPLE) + "{}";
    insta::assert_snapshot!(render(&send(client.address, none.as_bytes())));
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let form = with_key(
        &client.key,
        &[form, ("Content-Length", "2")],
        "POST",
        SIMPLE,
    ) + "{}";
    assert_eq!(send(client.address, form.as_bytes()).status, 415);
}

#[test]
fn a_declared_length_above_the_limit_is_413_before_the_body() {
    let (_server, client) = service();
    let length = (LARGEST + 1).to_string();
    let headers = [
        JSON,
        ("Content-Length", length.as_str()),
        ("Expect", "100-continue"),
    ];
    let head = with_key(&client.key, &headers, "POST", SIMPLE);
    // Not a byte of the body follows, and no 100 comes first.
    insta::assert_snapshot!(render(&send(client.address, head.as_bytes())));
}

#[test]
fn a_refusal_before_the_body_arrives_closes_the_connection() {
    let (_server, client) = service();
    let body = house().to_string();
    let length = body.len().to_string();
    let headers = [JSON, ("Content-Length", length.as_str())];
    for (key, path, status) in [
        ("dk_wrong", SIMPLE, 401),
        (keys().markets.as_str(), SIMPLE, 403),
        (client.key.as_str(), "/v3/nothing", 404),
    ] {
        let head = with_key(key, &headers, "POST", path);
        let mut stream = connect(client.address);
        stream.write_all((head.clone() + &body).as_bytes()).unwrap();
        let answer = read(&mut stream);
        assert_eq!(answer.header("connection"), Some("keep-alive"), "{path}");
        // Not a byte of the next body follows.
        stream.write_all(head.as_bytes()).unwrap();
        let answer = read(&mut stream);
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("connection"), Some("close"), "{path}");
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn a_body_that_grows_too_large_is_413() {
    let (_server, client) = service();
    let headers = [JSON, ("Transfer-Encoding", "chunked")];
    let mut stream = connect(client.address);
    stream
        .write_all(with_key(&client.key, &headers, "POST", SIMPLE).as_bytes())
        .unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for _ in 0..10 {
        // The server may have closed its side by the end; what it said is still to be read.
        let _ = stream.write_all(chunk.as_bytes());
    }
    assert_eq!(
        read(&mut stream).refusal(),
        (413, "body_too_large".into(), None)
    );
}

#[test]
fn the_largest_body_is_read() {
    let (_server, client) = service();
    let mut body = house().to_string();
    body += &" ".repeat(LARGEST - body.len());
    assert_eq!(client.post_text(SIMPLE, &body).status, 200);
}

#[test]
fn a_body_that_does_not_arrive_in_ten_seconds_is_408() {
    let (_server, client) = service();
    let head = with_key(
        &client.key,
        &[JSON, ("Content-Length", "9")],
        "POST",
        SIMPLE,
    );
    let mut stream = connect(client.address);
    let started = Instant::now();
    stream.write_all((head + "{").as_bytes()).unwrap();
    let answer = read(&mut stream);
    insta::assert_snapshot!(render(&answer));
    let waited = started.elapsed();
    assert!(
        waited > Duration::from_secs(9) && waited < Duration::from_secs(12),
        "{waited:?}"
    );
}

#[test]
fn a_head_that_does_not_arrive_in_ten_seconds_ends_its_connection() {
    ends_in_ten_seconds(b"POST /v3/value HTTP/1.1\r\nHost: te");
}

#[test]
fn a_silent_connection_is_closed_in_ten_seconds() {
    ends_in_ten_seconds(b"");
}

#[track_caller]
fn ends_in_ten_seconds(bytes: &[u8]) {
    let (_server, client) = service();
    let mut stream = connect(client.address);
    let started = Instant::now();
    stream.write_all(bytes).unwrap();
    assert_eq!(stream.read(&mut [0; 64]).unwrap(), 0);
    let waited = started.elapsed();
    assert!(
        waited > Duration::from_secs(9) && waited < Duration::from_secs(12),
        "{waited:?}"
    );
}

#[test]
fn an_aborted_body_affects_no_other_request() {
    let (_server, client) = service();
    for _ in 0..20 {
        let head = with_key(
            &client.key,
            &[JSON, ("Content-Length", "900")],
            "POST",
            SIMPLE,
        );
        connect(client.address)
            .write_all((head + "{").as_bytes())
            .unwrap();
    }
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
}

#[test]
fn a_body_whose_framing_breaks_is_refused_as_any_that_cannot_be_read() {
    let (_server, client) = service();
    let headers = [JSON, ("Transfer-Encoding", "chunked")];
    let head = with_key(&client.key, &headers, "POST", SIMPLE);
    let answer = send(client.address, (head + "zz\r\n{}\r\n").as_bytes());
    assert_eq!(
        answer.refusal(),
        (422, "invalid_json".into(), Some(String::new()))
    );
    assert_eq!(answer.json()["errors"][0], answer.json()["error"]);
}

#[test]
fn a_head_with_two_lengths_is_400_and_ends_its_connection() {
    let (_server, client) = service();
    let body = house().to_string();
    let length = body.len().to_string();
    let (sized, chunked) = (
        ("Content-Length", length.as_str()),
        ("Transfer-Encoding", "chunked"),
    );
    let request = |headers: &[(&str, &str)]| {
        let headers = [&[JSON][..], headers].concat();
        with_key(&client.key, &headers, "POST", SIMPLE)
    };
    let in_chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let good = [request(&[sized]) + &body, request(&[chunked]) + &in_chunks];
    for pair in [[sized, chunked], [chunked, sized]] {
        // The head comes in the same packet as the requests before it.
        let all = good.concat() + &request(&pair) + &in_chunks;
        let mut stream = connect(client.address);
        stream.write_all(all.as_bytes()).unwrap();
        let mut answers = Vec::new();
        let started = Instant::now();
        // A reset is an end, too.
        let _ = stream.read_to_end(&mut answers);
        assert!(started.elapsed() < Duration::from_secs(8));
        let answers = String::from_utf8(answers).unwrap();
        let statuses: Vec<&str> = answers
            .split("HTTP/1.1 ")
            .skip(1)
            .map(|answer| &answer[..3])
            .collect();
        assert_eq!(statuses, ["200", "200", "400"], "{answers}");
        assert!(answers.ends_with("\r\n\r\n"), "{answers}");
    }
}

#[test]
fn a_body_that_looks_like_a_head_with_two_lengths_is_a_body() {
    let (_server, client) = service();
    let headers = [("Content-Length", "3"), ("Transfer-Encoding", "chunked")];
    let body = with_key(&client.key, &headers, "POST", SIMPLE);
    let length = body.len().to_string();
    let sized = [JSON, ("Content-Length", length.as_str())];
    let chunked = [JSON, ("Transfer-Encoding", "chunked")];
    let mut stream = connect(client.address);
    for (headers, body) in [
        (sized, body.clone()),
        (chunked, format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())),
    ] {
        let head = with_key(&client.key, &headers, "POST", SIMPLE);
        for part in [head, body] {
            stream.write_all(part.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(read(&mut stream).refusal().1, "invalid_json");
    }
}

#[test]
fn a_good_body_gets_100_continue() {
    let (_server, client) = service();
    let body = house().to_string();
    let length = body.len().to_string();
    let headers = [
        JSON,
        ("Content-Length", length.as_str()),
        ("Expect", "100-continue"),
    ];
    let mut stream = connect(client.address);
    let head = with_key(&client.key, &headers, "POST", SIMPLE);
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(read(&mut stream).status, 100);
    stream.write_all(body.as_bytes()).unwrap();
    assert_eq!(read(&mut stream).status, 200);
}
