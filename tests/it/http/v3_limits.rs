//! Every limit: at it, below it and above it.

mod bodies;
mod concurrency;
mod options;
mod rate;
mod units;

use crate::common::raw::head;

const SIMPLE: &str = "/v3/simple-value";
const STANDARD: &str = "/v3/value";
const RELEASE: &str = "/v3/releases/current";
/// The largest body, bytes.
const LARGEST: usize = 9_500_000;

/// Returns the head of a POST request of JSON with this key and these further headers.
fn post<'a>(key: &str, path: &str, headers: &[(&'a str, &'a str)]) -> String {
    let bearer = format!("Bearer {key}");
    let mut all = vec![
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    all.extend_from_slice(headers);
    head("POST", path, &all)
}
