//! An identity provider over HTTP beside the snapshot: what it is asked and believed, and what
//! becomes of requests when it misbehaves.

mod concurrency;
mod config;
mod timeouts;
mod trust;

use crate::common::client::Client;
use crate::common::places::Places;
use crate::common::server::{Server, start};
use serde_json::Value;

const VALUE: &str = "/v3/value";
const BATCH: &str = "/v3/batch-value";

/// A service that asks this provider, and a client of it.
fn service(places: &Places) -> (Server, Client) {
    let server = start().with(&["--address-provider", &places.url()]).go();
    let client = server.demo();
    (server, client)
}

/// The property of a result that was valued.
#[track_caller]
fn property(result: &Value) -> &Value {
    assert_eq!(result["status"], "valued", "{result}");
    &result["property"]
}
