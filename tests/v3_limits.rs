//! Every limit: at it, below it and above it.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

#[path = "v3_limits/bodies.rs"]
mod bodies;
mod common;
#[path = "v3_limits/concurrency.rs"]
mod concurrency;
#[path = "v3_limits/options.rs"]
mod options;
#[path = "v3_limits/rate.rs"]
mod rate;
#[path = "v3_limits/units.rs"]
mod units;

use common::raw::head;

const SIMPLE: &str = "/v3/simple-value";
const STANDARD: &str = "/v3/value";
const RELEASE: &str = "/v3/releases/current";
/// The largest body, bytes.
const LARGEST: usize = 9_500_000;

/// The head of a POST of JSON with this key and these headers besides.
fn post<'a>(key: &str, path: &str, headers: &[(&'a str, &'a str)]) -> String {
    let bearer = format!("Bearer {key}");
    let mut all = vec![
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    all.extend_from_slice(headers);
    head("POST", path, &all)
}
