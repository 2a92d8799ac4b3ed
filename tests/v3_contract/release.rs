//! The release's metadata.

use crate::common::demo::{self, house};
use crate::{RELEASE, SIMPLE, assert_invalid, value, with};
use serde_json::{Value, json};

fn metadata() -> Value {
    let (_contract, client) = value();
    client.get(RELEASE).ok()
}

#[test]
fn release_id_is_that_of_every_result() {
    let (_contract, client) = value();
    assert_eq!(metadata()["release_id"], demo::RELEASE);
    assert_eq!(
        client.post(SIMPLE, &house()).ok()["release_id"],
        demo::RELEASE
    );
}

#[test]
fn release_effective_date_is_stated() {
    assert_eq!(metadata()["effective_date"], "2026-10-01");
}

#[test]
fn release_countries_are_listed() {
    assert_eq!(metadata()["countries"], json!(["england", "wales"]));
}

#[test]
fn release_property_types_are_listed() {
    assert_eq!(metadata()["property_types"], json!(["D", "S", "T", "F"]));
}

#[test]
fn release_valuation_dates_are_those_that_are_taken() {
    let (_contract, client) = value();
    let window = &metadata()["valuation_date"];
    let on = |day: chrono::NaiveDate| {
        let day = day.format("%Y-%m-%d").to_string();
        client.post(SIMPLE, &with(house(), "/property/valuation_date", day))
    };
    let [first, last] = ["from", "to"].map(|end| {
        window[end]
            .as_str()
            .unwrap()
            .parse::<chrono::NaiveDate>()
            .unwrap()
    });
    assert_eq!(on(first).status, 200);
    assert_eq!(on(last).status, 200);
    for outside in [first.pred_opt().unwrap(), last.succ_opt().unwrap()] {
        let place = "/property/valuation_date";
        assert_invalid(&on(outside), "valuation_date_outside_window", place);
    }
}

#[test]
fn release_limit_batch_rows_is_stated() {
    assert_eq!(metadata()["limits"]["synchronous_batch_rows"], 2500);
}

#[test]
fn release_limit_job_rows_is_stated() {
    assert_eq!(metadata()["limits"]["asynchronous_job_rows"], 2500);
}

#[test]
fn release_endpoints_that_are_listed_are_there() {
    let (contract, _) = value();
    let client = contract.customer("all");
    let metadata = client.get(RELEASE).ok();
    let endpoints = metadata["endpoints"].as_array().unwrap();
    assert!(endpoints.contains(&json!(SIMPLE)));
    for endpoint in endpoints {
        let endpoint = endpoint.as_str().unwrap();
        let (got, posted) = (client.get(endpoint), client.post(endpoint, &json!({})));
        let there = [200, 422].contains(&got.status) || posted.status == 422;
        assert!(there, "{endpoint}: {got:?} {posted:?}");
    }
}
