//! The rate of requests and its burst.

use crate::common::demo::house;
use crate::common::raw::{head, send};
use crate::common::server::{Server, start};
use crate::v3_limits::{RELEASE, SIMPLE, post};
use std::time::Duration;

/// Starts a server with a tenant of five requests at once and one a second after that. Returns it
/// with two keys of the tenant, of which the second may not value, and another tenant's key.
fn slow() -> (Server, String, String, String) {
    let start = start().with_series();
    let plan = "requests_per_second = 1\nburst = 5\nconcurrency = 1";
    let value = start.key_with_plan("slow", &["avm:value"], plan);
    let rates = start.key_with_plan("slow", &["rates:read"], plan);
    let other = start.key(&["avm:value"]);
    (start.go(), value, rates, other)
}

#[test]
fn a_burst_passes_and_the_next_request_is_429_until_retry_after() {
    let (server, value, rates, other) = slow();
    let client = server.client(&value);
    for remaining in ["4", "3", "2", "1", "0"] {
        let answer = match remaining {
            "3" => client.get("/v3/coverage?postcode=QA1+1AF"),
            "2" => client.post(SIMPLE, &house()),
            _ => client.get(RELEASE),
        };
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(
            answer.header("ratelimit-policy"),
            Some("\"requests\";q=5;w=5")
        );
        let state = answer.header("ratelimit").unwrap();
        assert!(
            state.starts_with(&format!("\"requests\";r={remaining};t=")),
            "{state}"
        );
    }
    // Everything is refused, by whichever key of the tenant's.
    let refused = client.post(SIMPLE, &house());
    assert_eq!(refused.refusal(), (429, "rate_limited".into(), None));
    assert_eq!(refused.json()["error"]["retryable"], true);
    assert_eq!(client.get(RELEASE).status, 429);
    // The draft: no Retry-After of an answer is earlier than what its RateLimit says.
    assert_eq!(refused.header("ratelimit"), Some("\"requests\";r=0;t=1"));
    let other = server.client(&other);
    assert_eq!(other.get(RELEASE).status, 200, "another tenant has its own");

    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 1);
    std::thread::sleep(Duration::from_secs(wait));
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
    assert_eq!(server.client(&rates).get(RELEASE).status, 403);
}

#[test]
fn the_rate_is_checked_after_the_scope_and_before_the_body() {
    let (server, value, rates, _) = slow();
    let client = server.client(&value);
    for _ in 0..5 {
        client.get("/v3/nothing");
    }
    // Each of these is refused for what comes before the rate.
    assert_eq!(server.client("dk_none").get(RELEASE).status, 401);
    assert_eq!(client.get("/v3/nothing").status, 404);
    assert_eq!(client.get(SIMPLE).status, 405);
    assert_eq!(server.client(&rates).post(SIMPLE, &house()).status, 403);
    // Each of these for the rate, though it is wrong in what comes after, and the service looks
    // nothing up.
    for headers in [
        vec![("Content-Length", "9500001"), ("Expect", "100-continue")],
        vec![("Content-Encoding", "gzip"), ("Content-Length", "3")],
        vec![("Content-Length", "100"), ("Expect", "100-continue")],
    ] {
        let answer = send(server.address, post(&value, SIMPLE, &headers).as_bytes());
        assert_eq!(answer.refusal().1, "rate_limited", "{headers:?}");
    }
}

#[test]
fn only_responses_to_a_valid_key_have_rate_limit_headers() {
    let (server, value, ..) = slow();
    let without = send(server.address, head("GET", RELEASE, &[]).as_bytes());
    let health = send(server.address, head("GET", "/healthz", &[]).as_bytes());
    for answer in [without, health] {
        assert_eq!(answer.header("ratelimit"), None);
        assert_eq!(answer.header("ratelimit-policy"), None);
    }
    let unknown = server.client(&value).get("/v3/nothing");
    assert_eq!(unknown.status, 404);
    assert!(unknown.header("ratelimit").is_some());
}
