//! Address lookup at a provider over HTTP: which lookups the service makes, which responses it
//! trusts, and how requests fail when the provider does.

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

/// Starts a service that uses this provider, and returns it with a client.
fn service(places: &Places) -> (Server, Client) {
    let server = start().with(&["--address-provider", &places.url()]).go();
    let client = server.demo();
    (server, client)
}

/// Returns the property of a result, which must be `valued`.
#[track_caller]
fn property(result: &Value) -> &Value {
    assert_eq!(result["status"], "valued", "{result}");
    &result["property"]
}
