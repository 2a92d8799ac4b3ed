//! The v3 contract, rule by rule: each test is named after the rule that it holds.
//!
//! `tests/contract/rules.toml` lists the rules, their tests and the break of the code that must
//! turn each test red. Finer points stand in the suites of the single routes.

mod authentication;
mod batch;
mod batch_options;
mod bodies;
pub(crate) mod deadline;
mod development;
mod endpoints;
mod errors;
mod failing;
mod job_rules;
mod jobs;
mod limits;
mod options;
mod pause;
mod plans;
mod release;
mod request;
mod result;
mod service;
mod units;
mod versioning;

use crate::common::client::Client;
use crate::common::customers::{self, Contract, Customer};
use crate::common::raw::{HttpResponse, head};
use crate::common::server::{Server, shared, start};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const SIMPLE: &str = "/v3/simple-value";
const STANDARD: &str = "/v3/value";
const SIMPLE_BATCH: &str = "/v3/simple-batch-value";
const BATCH: &str = "/v3/batch-value";
const DEVELOPMENT: &str = "/v3/development-value";
const DEVELOPMENT_BATCH: &str = "/v3/development-batch-value";
const JOBS: &str = "/v3/valuation-jobs";
const RELEASE: &str = "/v3/releases/current";
const COVERAGE: &str = "/v3/coverage";
/// The most bytes of a body or an answer.
const LARGEST: usize = 9_500_000;
const JSON: (&str, &str) = ("Content-Type", "application/json");

const VALUE: &[&str] = &["avm:value"];
const DEVELOPMENT_ONLY: &[&str] = &["avm:development"];
const ALL: &[&str] = &["avm:value", "avm:development", "avm:stored-data"];

/// The suite's customers.
const CUSTOMERS: &[Customer] = &[
    ("value", VALUE, |_| {}),
    ("all", ALL, |_| {}),
    ("development", DEVELOPMENT_ONLY, |_| {}),
    ("other", ALL, |_| {}),
    ("markets", &["markets:read", "rates:read"], |_| {}),
    ("disabled", ALL, |_| {}),
    ("three_rows", ALL, |plan| {
        plan.synchronous_batch_rows = 3;
        plan.asynchronous_job_rows = 2;
    }),
    ("without_jobs", ALL, |plan| plan.jobs = false),
    ("one_job", ALL, |plan| plan.queued_jobs = 1),
    ("no_units", VALUE, |plan| plan.monthly_units = 0),
    ("discovering_one_unit", VALUE, |plan| plan.monthly_units = 1),
    ("two_units", VALUE, |plan| plan.monthly_units = 2),
    ("two_units_for_jobs", VALUE, |plan| plan.monthly_units = 2),
    ("three_units", VALUE, |plan| plan.monthly_units = 3),
    ("ten_units", VALUE, |plan| plan.monthly_units = 10),
    ("one_at_a_time", VALUE, |plan| plan.concurrency = 1),
    ("slow", VALUE, |plan| {
        plan.requests_per_second = 1;
        plan.burst = 2;
    }),
];

fn contract() -> Contract {
    fn make() -> Server {
        let start = start().with_series();
        make_keys(start.data_folder());
        start.go()
    }
    Contract {
        server: shared("v3_contract", make),
        keys: keys(),
    }
}

/// Returns the service, and a client with the key of one of the customers. The server stops with
/// the last value that holds it, so it is returned with its client.
fn customer(name: &str) -> (Contract, Client) {
    let contract = contract();
    let client = contract.customer(name);
    (contract, client)
}

/// Returns the service, and a client that may value.
fn value() -> (Contract, Client) {
    customer("value")
}

/// Returns the service, and a client that may do everything.
fn all() -> (Contract, Client) {
    customer("all")
}

/// Returns the customers' keys.
fn keys() -> BTreeMap<String, String> {
    customers::keys("v3_contract", CUSTOMERS)
}

/// Makes the customers in an empty state.
fn make_keys(data: &Path) {
    customers::make_keys(data, CUSTOMERS);
}

/// Returns status and code of a refusal.
#[track_caller]
fn refused(answer: &HttpResponse) -> (u16, String) {
    let (status, code, _) = answer.refusal();
    (status, code)
}

/// Asserts that this is refused with 422, this code and this pointer.
#[track_caller]
fn assert_invalid(answer: &HttpResponse, code: &str, pointer: &str) {
    let expected = (422, code.to_owned(), Some(pointer.to_owned()));
    assert_eq!(answer.refusal(), expected);
}

/// Sets a member of a request at a pointer, and creates missing sections.
fn with(mut request: Value, pointer: &str, value: impl Into<Value>) -> Value {
    let mut target = &mut request;
    for name in pointer[1..].split('/') {
        target = &mut target[name];
    }
    *target = value.into();
    request
}

/// Removes a member of a request.
fn without(mut request: Value, pointer: &str) -> Value {
    let (section, name) = pointer.rsplit_once('/').unwrap();
    let section = request.pointer_mut(section).unwrap();
    section.as_object_mut().unwrap().remove(name).unwrap();
    request
}

/// Returns a batch with these options and rows.
fn batch(options: Value, rows: &[Value]) -> Value {
    json!({"options": options, "requests": rows})
}

/// Returns the request for a detached house that is to be built near the house of the demo.
fn proposed() -> Value {
    json!({
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "QA1 1AF",
            "site_latitude": 55.607,
            "site_longitude": -2.2132,
            "type": "D",
            "subtype": "house_detached",
            "title_tenure": "freehold"
        },
        "occupancy": {"status": "vacant"},
        "size": {"floor_area_m2": 110, "bedrooms": 4}
    })
}

fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

#[track_caller]
fn estimate(result: &Value) -> u64 {
    result["valuation"]["estimated_value_gbp"].as_u64().unwrap()
}

/// Returns the fields that a list of the input resolution names.
#[track_caller]
fn fields(result: &Value, list: &str) -> Vec<String> {
    let list = result["input_resolution"][list].as_array().unwrap();
    let field = |note: &Value| note["field"].as_str().unwrap().to_owned();
    list.iter().map(field).collect()
}

fn is_uuid(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.parse::<uuid::Uuid>().is_ok())
}

/// Returns the head of a request with the client's key, which is sent as bytes.
fn head_with(client: &Client, headers: &[(&str, &str)], method: &str, path: &str) -> String {
    let bearer = format!("Bearer {}", client.key);
    let mut all = vec![("Authorization", bearer.as_str())];
    all.extend_from_slice(headers);
    head(method, path, &all)
}
