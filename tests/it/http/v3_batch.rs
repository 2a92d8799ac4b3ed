//! POST /v3/simple-batch-value and POST /v3/batch-value: the envelope, and that every row is
//! answered as if it had come alone.

mod deadline;
mod endpoints;
mod envelope;
mod independence;
mod limits;
mod options;
mod rows;

use crate::common::bodies::without_ids;
use crate::common::client::Client;
use crate::common::server::{Server, shared, start};
use serde_json::{Value, json};

const SIMPLE: &str = "/v3/simple-batch-value";
const STANDARD: &str = "/v3/batch-value";

/// Returns the suite's server, which the caller keeps alive, and a client of it.
fn service() -> (Server, Client) {
    let server = shared("v3_batch", || start().go());
    let client = server.demo();
    (server, client)
}

fn batch(rows: Vec<Value>) -> Value {
    json!({"requests": rows})
}

fn batch_with(options: Value, rows: Vec<Value>) -> Value {
    json!({"options": options, "requests": rows})
}

/// Posts a batch, and returns its results.
#[track_caller]
fn results(client: &Client, route: &str, body: &Value) -> Vec<Value> {
    let mut answer = client.post(route, body).ok();
    match answer["results"].take() {
        Value::Array(results) => results,
        other => panic!("no results: {other}"),
    }
}
