//! Answers that are compressed for a client that accepts it, and arrive whole.

use crate::common::client::agent;
use crate::common::demo::house;
use crate::common::server::{Server, shared, start};
use crate::v3_jobs::{accepted_job, await_results};
use flate2::read::GzDecoder;
use reqwest::blocking::{RequestBuilder, Response};
use serde_json::{Value, json};
use std::io::Read;

fn server() -> Server {
    shared("compression", || start().with_series().go())
}

/// Returns the answer to a client that accepts this encoding, and its body as it was sent.
fn encoded(server: &Server, path: &str, encoding: &str) -> (Option<String>, Vec<u8>) {
    let request = agent().get(format!("http://{}{path}", server.address));
    send(server, request, encoding)
}

fn send(server: &Server, request: RequestBuilder, encoding: &str) -> (Option<String>, Vec<u8>) {
    let request = request
        .bearer_auth(&server.demo().key)
        .header("Accept-Encoding", encoding);
    let answer = request.send().unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "content-encoding"), Some(encoding));
    let tag = header(&answer, "etag").map(str::to_owned);
    (tag, answer.bytes().unwrap().to_vec())
}

fn header<'a>(answer: &'a Response, name: &str) -> Option<&'a str> {
    let value = answer.headers().get(name)?;
    Some(value.to_str().unwrap())
}

fn decompress(gzip: &[u8]) -> Value {
    let mut text = String::new();
    GzDecoder::new(gzip).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_large_page_is_compressed_for_a_client_that_accepts_it() {
    let server = server();
    let path = "/v1/rates/series?dataset=ois_spot_curve&page_size=5000&from=2000-01-01";
    let plain = server.demo().get(path);
    assert_eq!(plain.status, 200, "{plain:?}");
    assert!(plain.text.len() > 50_000, "{} bytes", plain.text.len());
    assert_eq!(plain.header("content-encoding"), None);
    for encoding in ["gzip", "zstd"] {
        let (tag, bytes) = encoded(&server, path, encoding);
        // The tag is weak, so it is the same in every encoding.
        assert_eq!(tag.as_deref(), plain.header("etag"));
        assert!(bytes.len() * 4 < plain.text.len(), "{} bytes", bytes.len());
        if encoding == "gzip" {
            let (page, plain) = (decompress(&bytes), plain.json());
            let series = page["series"].as_array().unwrap();
            assert!(
                series.iter().any(|one| one["observations"][0].is_object()),
                "{series:?}"
            );
            assert_eq!(page["series"], plain["series"]);
        }
    }
}

/// Removes the members that differ from answer to answer.
fn without_ids(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !name.ends_with("_id") || name == "release_id");
            members.values_mut().for_each(without_ids);
        }
        Value::Array(items) => items.iter_mut().for_each(without_ids),
        _ => {}
    }
}

#[test]
fn a_large_batch_is_compressed_and_is_the_plain_answer() {
    let server = server();
    let options = json!({"include_comparables": true, "include_context_metrics": true});
    let body = json!({"requests": vec![house(); 40], "options": options});
    let path = "/v3/batch-value";
    let plain = server.demo().post(path, &body);
    assert_eq!(plain.status, 200, "{plain:?}");
    assert_eq!(plain.header("content-encoding"), None);
    let length = plain.text.len();
    assert!(length > 50_000, "{length} bytes");
    for encoding in ["gzip", "zstd"] {
        let request = agent()
            .post(format!("http://{}{path}", server.address))
            .header("Content-Type", "application/json")
            .body(body.to_string());
        let (_tag, bytes) = send(&server, request, encoding);
        assert!(
            bytes.len() * 4 < length,
            "{} of {length} bytes",
            bytes.len()
        );
        if encoding == "gzip" {
            let (mut answer, mut plain) = (decompress(&bytes), plain.json());
            let results = answer["results"].as_array().unwrap();
            assert!(results.len() == 40 && results[0]["comparables"][0].is_object());
            without_ids(&mut answer);
            without_ids(&mut plain);
            assert_eq!(answer, plain);
        }
    }
}

#[test]
fn the_results_of_a_job_are_compressed_to_their_end() {
    let server = server();
    let client = server.demo();
    let job = json!({"requests": vec![house(); 3]});
    let job = accepted_job(&client.post("/v3/valuation-jobs", &job));
    let plain = await_results(&client, &job);
    let path = job["results_url"].as_str().unwrap();
    // The client fails where the body ends early.
    let (_tag, bytes) = encoded(&server, path, "gzip");
    assert_eq!(decompress(&bytes), plain);
    encoded(&server, path, "zstd");
}
