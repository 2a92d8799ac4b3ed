//! What a client can do to harm others, and that it does not.
//!
//! Each test states how much memory the service may grow by. A debug allocator's arenas and freed
//! pages that the system has not taken back count as growth too, so the bounds are not tight.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "hostile_clients/connections.rs"]
mod connections;
#[path = "hostile_clients/documents.rs"]
mod documents;

use common::demo::house;
use common::raw::head;
use common::server::Server;

const SIMPLE: &str = "/v3/simple-value";
const MIB: u64 = 1 << 20;

/// Runs `harm`, after which the service still values and has grown by `bound` bytes at most.
#[track_caller]
fn survives(server: &Server, bound: u64, harm: impl FnOnce()) {
    let client = server.demo();
    client.post(SIMPLE, &house()).ok();
    let before = server.resident();
    harm();
    client.post(SIMPLE, &house()).ok();
    let grown = server.resident().saturating_sub(before);
    assert!(grown <= bound, "it grew by {} KiB", grown >> 10);
}

/// The head of a POST of so many bytes of JSON.
fn post(key: &str, path: &str, length: usize) -> String {
    let (bearer, length) = (format!("Bearer {key}"), length.to_string());
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Content-Length", length.as_str()),
    ];
    head("POST", path, &headers)
}
