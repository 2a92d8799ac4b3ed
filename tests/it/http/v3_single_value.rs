//! POST /v3/simple-value, POST /v3/value, GET /v3/releases/current and GET /v3/coverage: what a
//! good request is answered.

mod discovery;
mod inputs;
mod options;
mod results;

use crate::common::bodies::{names, without_ids};
use crate::common::client::Client;
use crate::common::server::{Server, shared, start};
use serde_json::Value;

const SIMPLE: &str = "/v3/simple-value";
const STANDARD: &str = "/v3/value";

/// Returns the suite's server, which the caller keeps alive, and a client of it.
fn service() -> (Server, Client) {
    let server = shared("v3_single_value", || start().go());
    let client = server.demo();
    (server, client)
}

fn estimate(result: &Value) -> u64 {
    result["valuation"]["estimated_value_gbp"].as_u64().unwrap()
}
