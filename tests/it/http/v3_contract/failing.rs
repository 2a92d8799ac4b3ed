//! Rows that a release cannot value, and faults of the service.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::guest;
use crate::common::packages::Releases;
use crate::common::server::{Server, start};
use crate::v3_contract::{BATCH, batch, with};
use serde_json::{Value, json};
use std::sync::OnceLock;

const MISBEHAVING: &str = "misbehaving";
/// Bedrooms by which the guest values at a round sum, traps, and overruns its stack.
const GOOD: u8 = 12;
const TRAP: u8 = 2;
const DEEP: u8 = 4;

/// A server of a release that misbehaves by the number of bedrooms.
fn misbehaving() -> (Server, Client) {
    static COMPONENT: OnceLock<Vec<u8>> = OnceLock::new();
    let component = COMPONENT.get_or_init(|| guest::component("guest-misbehaving"));
    let releases = Releases::copy();
    releases.add(MISBEHAVING, component.clone());
    let arguments = ["--release", MISBEHAVING, "--allow-unsigned", MISBEHAVING];
    let server = start().releases(releases.path()).with(&arguments).go();
    let client = server.demo();
    (server, client)
}

fn rooms(bedrooms: u8) -> Value {
    with(house(), "/size/bedrooms", bedrooms)
}

#[test]
fn row_valuation_failed_harms_no_other_row() {
    let (_server, client) = misbehaving();
    let rows = [rooms(GOOD), rooms(TRAP), rooms(GOOD)];
    let envelope = client.post(BATCH, &batch(json!({}), &rows)).ok();
    let statuses: Vec<_> = envelope["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["status"])
        .collect();
    assert_eq!(statuses, ["valued", "valuation_failed", "valued"]);
    assert_eq!(envelope["results"][1]["errors"][0]["retryable"], false);
}

#[test]
fn errors_6_failed_rows_say_whether_for_now_or_for_good() {
    let (_server, client) = misbehaving();
    let rows = [rooms(TRAP), rooms(DEEP)];
    let envelope = client.post(BATCH, &batch(json!({}), &rows)).ok();
    let errors = [0, 1].map(|at| envelope["results"][at]["errors"][0].clone());
    assert_eq!(errors[0]["retryable"], false);
    // Whether the host's stack ends first, which passes, or the guest's own, is the compiler's
    // choice.
    assert_eq!(errors[1]["retryable"], errors[1]["code"] == "internal");
}

#[test]
fn error_500_for_a_fault_of_the_service() {
    let releases = Releases::copy();
    let server = start().releases(releases.path()).go();
    let snapshot = releases.snapshot().join("snapshot.redb");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(snapshot)
        .unwrap();
    file.set_len(4096).unwrap();
    let answer = server.demo().get("/v3/coverage?postcode=QA11AF");
    assert_eq!(answer.status, 500, "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], "internal");
    assert_eq!(answer.json()["error"]["retryable"], true);
}
