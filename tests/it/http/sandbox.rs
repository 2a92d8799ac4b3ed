//! `domesday sandbox`: each case of its table, each fault of its stub, and where it is refused.

mod cases;
mod clients;
mod faults;
mod jobs;
mod start;

use crate::common::client::Client;
use crate::common::program::run;
use crate::common::server::{Server, shared, start_sandbox};
use serde_json::Value;

/// The header that asks for a fault.
const FAULT: &str = "Domesday-Sandbox";

/// Returns the suite's sandbox, which the caller keeps alive, and a client of it.
fn sandbox() -> (Server, Client) {
    let server = shared("sandbox", || start_sandbox().go());
    let client = server.sandbox();
    (server, client)
}

/// Returns the list of cases and faults.
fn list() -> Value {
    serde_json::from_str(&run(["sandbox", "--list"]).ok().stdout).unwrap()
}

/// Returns the cases.
fn cases() -> Vec<Value> {
    list()["cases"].as_array().unwrap().clone()
}

/// Returns the request of a case.
fn request(case: &str) -> Value {
    let found = cases().into_iter().find(|found| found["name"] == case);
    found.unwrap()["request"].clone()
}

/// Asserts that a document has these members, whatever others it has.
#[track_caller]
fn assert_has(document: &Value, members: &Value, name: &Value) {
    match (document, members) {
        (Value::Object(document), Value::Object(members)) => {
            for (member, value) in members {
                let found = document.get(member).unwrap_or(&Value::Null);
                assert_has(found, value, name);
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{name}: {document}");
            for (found, expected) in found.iter().zip(expected) {
                assert_has(found, expected, name);
            }
        }
        (found, expected) => assert_eq!(found, expected, "{name}"),
    }
}
