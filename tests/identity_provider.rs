//! An identity provider over HTTP beside the snapshot: what it is asked and believed, and what becomes of
//! requests when it misbehaves.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

#[path = "identity_provider/believed.rs"]
mod believed;
mod common;
#[path = "identity_provider/many.rs"]
mod many;
#[path = "identity_provider/set_up.rs"]
mod set_up;
#[path = "identity_provider/silent.rs"]
mod silent;

use common::client::Client;
use common::places::Places;
use common::server::{Server, start};
use serde_json::Value;

const VALUE: &str = "/v3/value";
const BATCH: &str = "/v3/batch-value";

/// A service that asks this provider, and a client of it.
fn service(places: &Places) -> (Server, Client) {
    let server = start().with(&["--identity-provider", &places.url()]).go();
    let client = server.demo();
    (server, client)
}

/// The property of a result that was valued.
#[track_caller]
fn property(result: &Value) -> &Value {
    assert_eq!(result["status"], "valued", "{result}");
    &result["property"]
}
