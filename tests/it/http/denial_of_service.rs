//! Attacks by a client on the service, which must not harm others.
//!
//! Each test states how much memory the service may grow by, at its peak. The allocator's arenas
//! and freed pages that the system has not taken back count as growth too, so the bounds are not
//! tight.

mod connections;
mod documents;
mod readers;
mod rows;
mod submissions;

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::raw::head;
use crate::common::server::Server;

const SIMPLE: &str = "/v3/simple-value";
const STANDARD_BATCH: &str = "/v3/batch-value";
const JOBS: &str = "/v3/valuation-jobs";
const RELEASE: &str = "/v3/releases/current";
const MIB: u64 = 1 << 20;
/// The largest body and the largest answer, bytes.
const LARGEST: usize = 9_500_000;

/// Runs `harm`, after which the service still values; it never grew by more than `bound` bytes.
#[track_caller]
fn survives(server: &Server, bound: u64, harm: impl FnOnce()) {
    assert_growth(server, &server.demo(), bound, harm);
}

/// Asserts the same for a server without a demo, through a client that takes no part in `harm`.
#[track_caller]
fn assert_growth(server: &Server, client: &Client, bound: u64, harm: impl FnOnce()) {
    client.post(SIMPLE, &house()).ok();
    let before = server.resident();
    server.reset_peak();
    harm();
    client.post(SIMPLE, &house()).ok();
    let grown = server.peak().saturating_sub(before);
    println!("it grew by {} KiB of {}", grown >> 10, bound >> 10);
    assert!(grown <= bound, "it grew by {} KiB", grown >> 10);
}

/// Returns the head of a POST request with a JSON body of this length.
fn post(key: &str, path: &str, length: usize) -> String {
    let (bearer, length) = (format!("Bearer {key}"), length.to_string());
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Content-Length", length.as_str()),
    ];
    head("POST", path, &headers)
}
