//! Rows that are not reached in time fail, and the response leaves.

use super::{STANDARD, batch};
use crate::common::client::Client;
use crate::common::demo::{house, shop};
use crate::common::guest;
use crate::common::packages::Releases;
use crate::common::server::{Server, start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const RELEASE: &str = "endless";
/// The service's deadline here, in place of the contract's 25 seconds.
const DEADLINE: Duration = Duration::from_millis(1_000);
/// The delay of a complete answer that a busy machine may add.
const LATE: Duration = Duration::from_secs(4);

fn service() -> (Server, Client) {
    let releases = Releases::copy();
    let component = guest::component("guest-misbehaving");
    // Fuel for far longer than the deadline.
    releases.add_changed(RELEASE, component, |body| body.fuel_per_row = 1 << 50);
    let server = start()
        .releases(releases.path())
        .with(&["--release", RELEASE, "--allow-unsigned", RELEASE])
        .with(&["--threads", "2", "--processing-deadline", "1000"])
        .go();
    let client = server.demo();
    (server, client)
}

fn bedrooms(number: u8) -> Value {
    let mut request = house();
    request["size"]["bedrooms"] = number.into();
    request
}

#[test]
fn rows_that_are_not_reached_fail_and_may_be_tried_again() {
    let (_server, client) = service();
    // Both threads meet a row that never ends.
    let mut rows = vec![bedrooms(12); 200];
    for at in [3, 40, 70] {
        rows[at] = bedrooms(1);
    }
    rows[199] = json!({"request_reference": "broken"});
    let started = Instant::now();
    let answer = client.post(STANDARD, &batch(rows)).ok();
    let took = started.elapsed();
    assert!(took >= DEADLINE && took < DEADLINE + LATE, "{took:?}");
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 200);
    assert_eq!(results[0]["status"], "valued");
    assert_eq!(results[199]["status"], "rejected");
    assert_eq!(results[199]["request_reference"], "broken");
    for at in [3, 4, 40, 70, 198] {
        let result = &results[at];
        assert_eq!(result["status"], "valuation_failed", "{at}: {result}");
        assert_eq!(result["errors"][0]["code"], "processing_deadline_exceeded");
        assert_eq!(
            result["errors"][0]["message"],
            "This row was not valued within the 1-second deadline. Retry it."
        );
        assert_eq!(result["errors"][0]["retryable"], true);
        assert!(result["valuation_id"].is_string());
    }
    assert_eq!(answer["status"], "partial");
    // The threads are free again.
    let answer = client.post(STANDARD, &batch(vec![bedrooms(12); 10])).ok();
    assert_eq!(answer["status"], "completed");
}

#[test]
fn a_single_request_that_takes_too_long_is_503() {
    let (_server, client) = service();
    let answer = client.post("/v3/value", &bedrooms(1));
    assert_eq!(answer.status, 503);
    assert_eq!(
        answer.json()["error"]["code"],
        "processing_deadline_exceeded"
    );
    assert_eq!(
        answer.json()["error"]["message"],
        "The valuation was not done within 1 second. Try again."
    );
    assert_eq!(answer.json()["error"]["retryable"], true);
    assert!(answer.header("retry-after").is_some());
}

#[test]
fn a_row_that_the_release_fails_on_costs_its_own_result_alone() {
    let (_server, client) = service();
    let rows = vec![bedrooms(12), bedrooms(2), bedrooms(12), bedrooms(5), shop()];
    let answer = client.post(STANDARD, &batch(rows)).ok();
    assert_eq!(
        answer["summary"],
        json!({
            "requested": 5, "valued": 2, "referred": 0, "rejected": 1, "valuation_failed": 2
        })
    );
    for at in [1, 3] {
        let error = &answer["results"][at]["errors"][0];
        assert_eq!(error["code"], "release_failed");
        assert_eq!(error["retryable"], false);
    }
}
