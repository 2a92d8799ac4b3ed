//! The v1 contract, rule by rule: each test is named after the rule that it holds.
//!
//! `tests/contract/rules-v1.toml` lists the rules, their tests and the break of the code that must
//! turn each test red. Releases with the gaps that the demo's lack stand in [`fixture_releases`]
//! and [`sparse_releases`]. The builder computes that of [`computed_releases`].

mod authentication;
mod caching;
mod catalogue;
mod computed_releases;
mod continuations;
mod cursors;
mod datasets;
mod dates;
mod endpoints;
mod envelope;
mod errors;
mod fixture_releases;
mod identity;
mod limits;
mod metrics;
mod missing_observations;
mod mortgages;
mod observations;
mod promotion;
mod rates;
mod response_body;
mod series_object;
mod service;
mod sparse_releases;
mod states;
mod vintages;
mod windows;

use crate::common::client::Client;
use crate::common::customers::{self, Contract, Customer};
use crate::common::packages::copy_tree;
use crate::common::program::releases;
use crate::common::raw::HttpResponse;
use crate::common::server::{Start, shared, start};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A request to every route, each with what it requires.
const ROUTES: [&str; 9] = [
    "/v1/markets/series?dataset=market_activity&area=E06990001",
    "/v1/rates/series?dataset=bank_rate",
    "/v1/markets/coverage?dataset=market_activity&area=E06990001",
    "/v1/rates/coverage?dataset=bank_rate",
    "/v1/markets/datasets",
    "/v1/rates/datasets",
    "/v1/markets/areas",
    "/v1/markets/releases/current",
    "/v1/rates/releases/current",
];

/// The demo's releases, which are the current ones of the suite's server.
const DEMO_RATES: &str = "synthetic-rates-2026-10";
const DEMO_MARKETS: &str = "synthetic-markets-2026-10";

const BOTH: &[&str] = &["markets:read", "rates:read"];
const TWO_DATASETS: &[&str] = &["rates:read:bank_rate", "rates:read:ois_spot_curve"];
const VALUATION: &[&str] = &["avm:value", "avm:development", "avm:stored-data"];

/// The suite's customers. The key of `choosing` must name its metrics; `narrow` is another key of
/// the tenant of `both`.
const CUSTOMERS: &[Customer] = &[
    ("both", BOTH, |_| {}),
    ("other", BOTH, |_| {}),
    ("choosing", BOTH, |_| {}),
    ("narrow", &["rates:read:sonia_overnight"], |_| {}),
    ("revoked", BOTH, |_| {}),
    ("markets", &["markets:read"], |_| {}),
    ("rates", &["rates:read"], |_| {}),
    ("two_datasets", TWO_DATASETS, |_| {}),
    ("valuation", VALUATION, |_| {}),
    ("disabled", BOTH, |_| {}),
    ("no_units", BOTH, |plan| plan.monthly_units = 0),
    ("slow", BOTH, |plan| {
        plan.requests_per_second = 1;
        plan.burst = 2;
    }),
    ("limited", BOTH, |plan| {
        plan.requests_per_second = 1;
        plan.burst = 1;
    }),
    ("one_at_a_time", &["avm:value", "rates:read"], |plan| {
        plan.concurrency = 1;
    }),
];

/// Returns the suite's server: the demo's releases are current, and those of [`fixture_releases`]
/// stand beside them.
fn contract() -> Contract {
    Contract {
        server: shared("v1_contract", || serving().go()),
        keys: keys(),
    }
}

/// Prepares a server of the demo's releases and [`fixture_releases`], with the suite's customers.
fn serving() -> Start {
    let start = start();
    let folder = start.data_folder().with_file_name("releases");
    copy_tree(&releases(), &folder);
    fixture_releases::write_all(&folder);
    sparse_releases::write_all(&folder);
    computed_releases::write_all(&folder);
    make_keys(start.data_folder());
    let ids = fixture_releases::IDS.iter().chain(&[
        sparse_releases::MARKETS,
        sparse_releases::RATES,
        computed_releases::RATES,
    ]);
    let allowed = ids.flat_map(|id| ["--allow-unsigned", *id]);
    let allowed: Vec<&str> = allowed.collect();
    start.releases(&folder).with(&allowed)
}

/// Returns the customers' keys.
fn keys() -> BTreeMap<String, String> {
    customers::keys("v1_contract", CUSTOMERS)
}

/// Makes the customers in an empty state.
fn make_keys(data: &Path) {
    customers::make_keys(data, CUSTOMERS);
}

/// Returns the service, and a client with the key of one of the customers. The server stops with
/// the last value that holds it, so it is returned with its client.
fn customer(name: &str) -> (Contract, Client) {
    let contract = contract();
    let client = contract.customer(name);
    (contract, client)
}

/// Returns the service, and a client that may read both families.
fn both() -> (Contract, Client) {
    customer("both")
}

/// Asserts that this is refused with this status and code, and that the error names this parameter.
#[track_caller]
fn assert_refused(answer: &HttpResponse, status: u16, code: &str, field: &str) {
    let expected = (status, code.to_owned(), Some(field.to_owned()));
    assert_eq!(answer.refusal(), expected);
}

/// Asserts that this is refused with this status and code, and that the error names no parameter.
#[track_caller]
fn assert_closed(answer: &HttpResponse, status: u16, code: &str) {
    assert_eq!(answer.refusal(), (status, code.to_owned(), None));
}

/// Queries rates, with `dataset=` and the rest of the query.
#[track_caller]
fn rates(client: &Client, query: &str) -> Value {
    client.get(&format!("/v1/rates/series?{query}")).ok()
}

/// Queries the first release of [`fixture_releases`].
#[track_caller]
fn fixture_rates(client: &Client, query: &str) -> Value {
    rates(
        client,
        &format!("{query}&release_id={}", fixture_releases::RATES),
    )
}

/// Queries market statistics of one area.
#[track_caller]
fn markets(client: &Client, query: &str) -> Value {
    client
        .get(&format!("/v1/markets/series?area=E06990001&{query}"))
        .ok()
}

/// Returns the series of an envelope.
#[track_caller]
fn series(envelope: &Value) -> &[Value] {
    envelope["series"].as_array().unwrap()
}

/// Returns the observations of a series.
#[track_caller]
fn observations(series: &Value) -> &[Value] {
    series["observations"].as_array().unwrap()
}

/// Returns period and value of every observation of the only series.
#[track_caller]
fn points(envelope: &Value) -> Vec<(&str, f64)> {
    let [only] = series(envelope) else {
        panic!("not one series: {envelope}");
    };
    fn point(observation: &Value) -> (&str, f64) {
        let period = observation["period"].as_str().unwrap();
        (period, observation["value"].as_f64().unwrap())
    }
    observations(only).iter().map(point).collect()
}

fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

fn is_uuid(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.parse::<uuid::Uuid>().is_ok())
}
