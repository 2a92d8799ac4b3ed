//! Bodies with very many rows, and rows and envelopes with very many unknown members.

use crate::common::client::Client;
use crate::common::raw::HttpResponse;
use crate::common::server::start;
use crate::denial_of_service::{JOBS, LARGEST, MIB, STANDARD_BATCH, survives};
use std::time::{Duration, Instant};

/// The longest response to a body of these, on a busy machine.
const MAX_RESPONSE_TIME: Duration = Duration::from_secs(5);
const ROUTES: [&str; 4] = [
    "/v3/simple-batch-value",
    STANDARD_BATCH,
    "/v3/development-batch-value",
    JOBS,
];

/// Returns the largest body: `start`, `item` as often as it fits, separated by commas, and `end`.
fn filled(start: &str, item: &str, end: &str) -> String {
    let count = (LARGEST - start.len() - end.len() + 1) / (item.len() + 1);
    let mut text = String::with_capacity(LARGEST);
    text += start;
    text += &format!("{item},").repeat(count - 1);
    text + item + end
}

/// Returns unknown members of this length altogether, each with another name.
fn unknown(bytes: usize) -> String {
    let mut members = String::with_capacity(bytes);
    for at in 0.. {
        let member = format!("\"x{at}\":0,");
        if members.len() + member.len() > bytes {
            break;
        }
        members += &member;
    }
    members.pop();
    members
}

#[track_caller]
fn post_promptly(client: &Client, route: &str, body: &str) -> HttpResponse {
    let started = Instant::now();
    let answer = client.post_text(route, body);
    let took = started.elapsed();
    println!("{route}: {} after {took:?}", answer.status);
    assert!(took < MAX_RESPONSE_TIME, "{route}: {took:?}");
    answer
}

#[test]
fn a_flood_of_tiny_rows_is_counted_and_none_is_stored() {
    let server = start().go();
    let client = server.demo();
    // Of the smallest there are nearly five million, which would take 16 bytes each at least. The
    // bodies of two requests may be held at once, and the heap returns what it freed later.
    survives(&server, 64 * MIB, || {
        for row in ["{}", "0", "[]", "null", "\"\"", "{\"property\":{}}"] {
            let body = filled("{\"requests\":[", row, "]}");
            assert!(body.len() > LARGEST - 32, "{}", body.len());
            for route in ROUTES {
                let answer = post_promptly(&client, route, &body);
                let refused = (413, "too_many_rows".into(), Some("/requests".into()));
                assert_eq!(answer.refusal(), refused, "{route} {row}");
                assert_eq!(answer.json()["error"]["retryable"], false);
                assert!(answer.text.len() < 1_000, "{}", answer.text.len());
            }
        }
    });
}

#[test]
fn rows_and_envelopes_full_of_unknown_fields_are_refused_in_small_responses() {
    let server = start().go();
    let client = server.demo();
    survives(&server, 192 * MIB, || {
        // As many rows as a batch takes, and fewer, with hundreds of unknown fields each.
        let batch = |rows: usize| {
            let row = format!("{{{}}}", unknown(LARGEST / rows - 10));
            format!("{{\"requests\":[{}]}}", vec![row; rows].join(","))
        };
        let refused = post_promptly(&client, STANDARD_BATCH, &batch(2_500));
        assert_eq!(refused.refusal().1, "response_too_large");
        let answer = post_promptly(&client, STANDARD_BATCH, &batch(1_000)).ok();
        assert_eq!(answer["summary"]["rejected"], 1_000);
        for result in answer["results"].as_array().unwrap() {
            // As many as are listed.
            assert_eq!(result["errors"].as_array().unwrap().len(), 20);
        }
        // One row, the shared options, and the envelope itself.
        let many = unknown(LARGEST - 100);
        for (body, listed) in [
            (format!("{{\"requests\":[{{{many}}}]}}"), 1),
            (
                format!("{{\"options\":{{{many}}},\"requests\":[{{}}]}}"),
                20,
            ),
            (format!("{{\"requests\":[{{}}],{many}}}"), 20),
        ] {
            let answer = post_promptly(&client, STANDARD_BATCH, &body);
            assert!(answer.text.len() < 20_000, "{}", answer.text.len());
            let value = answer.json();
            match answer.status {
                200 => assert_eq!(value["results"].as_array().unwrap().len(), listed),
                _ => {
                    assert_eq!(answer.refusal().1, "unknown_field");
                    assert_eq!(value["errors"].as_array().unwrap().len(), listed);
                }
            }
        }
    });
}
