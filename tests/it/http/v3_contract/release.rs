//! The release's metadata.

use crate::common::demo::{self, flat, house, welsh};
use crate::common::packages::Releases;
use crate::common::server::start;
use crate::v3_contract::{
    BATCH, RELEASE, SIMPLE, STANDARD, assert_invalid, customer, refused, value, with,
};
use domesday_package::{
    Country, Draft, Endpoint, PropertyType, Source, Trust, ValuationBody, open, write,
};
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
        let pointer = "/property/valuation_date";
        assert_invalid(&on(outside), "valuation_date_outside_window", pointer);
    }
}

#[test]
fn release_limit_batch_rows_is_stated() {
    assert_eq!(metadata()["limits"]["synchronous_batch_rows"], 2500);
    // A plan that takes fewer rows of a job than of a batch.
    let (_contract, fewer) = customer("three_rows");
    let limits = &fewer.get(RELEASE).ok()["limits"];
    assert_eq!(limits["synchronous_batch_rows"], 3);
}

#[test]
fn release_limit_job_rows_is_stated() {
    assert_eq!(metadata()["limits"]["asynchronous_job_rows"], 2500);
    let (_contract, fewer) = customer("three_rows");
    let limits = &fewer.get(RELEASE).ok()["limits"];
    assert_eq!(limits["asynchronous_job_rows"], 2);
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
        let is_routed = [200, 422].contains(&got.status) || posted.status == 422;
        assert!(is_routed, "{endpoint}: {got:?} {posted:?}");
    }
}

#[test]
fn release_endpoints_that_are_not_listed_are_not_there() {
    const FEW: &str = "few-endpoints";
    let releases = Releases::copy();
    let demo = releases.release(demo::RELEASE);
    let mut body: ValuationBody = open(&demo, &Trust::Unsigned).unwrap().body().unwrap();
    body.release_id = FEW.parse().unwrap();
    body.endpoints
        .retain(|endpoint| *endpoint == Endpoint::SimpleValue);
    (
        body.model.parameters_sha256,
        body.model.training_window,
        body.backtest,
    ) = (None, None, None);
    let bytes = |name: &str| Source::Bytes(std::fs::read(demo.join(name)).unwrap());
    let files = [
        (body.component.clone(), bytes("component.wasm")),
        (body.fixtures.clone(), bytes("fixtures.jsonl")),
    ];
    let draft = Draft {
        id: FEW.parse().unwrap(),
        created: "2026-10-01T00:00:00Z".parse().unwrap(),
        body,
        files: files.into(),
    };
    write(&releases.path().join("valuation"), draft).unwrap();
    let arguments = ["--release", FEW, "--allow-unsigned", FEW];
    let server = start().releases(releases.path()).with(&arguments).go();
    let client = server.demo();
    let listed = client.get(RELEASE).ok()["endpoints"].clone();
    assert_eq!(listed, json!([SIMPLE, RELEASE, "/v3/coverage"]));
    assert_eq!(client.post(SIMPLE, &house()).status, 200);
    for route in [STANDARD, BATCH, "/v3/valuation-jobs"] {
        // With each method, as a path that does not exist.
        for answer in [client.post(route, &house()), client.get(route)] {
            let expected = (404, "route_not_found".to_owned());
            assert_eq!(refused(&answer), expected, "{route}");
            assert_eq!(answer.header("allow"), None, "{route}");
        }
    }
    assert_eq!(client.get(SIMPLE).status, 405);
}

#[test]
fn limits_lowest_release_holds_on_batches_and_jobs() {
    const SMALL: &str = "few-rows";
    let releases = Releases::copy();
    let component = std::fs::read(releases.release(demo::RELEASE).join("component.wasm")).unwrap();
    releases.add_changed(SMALL, component, |body| {
        body.limits.synchronous_batch_rows = 5;
        body.limits.asynchronous_job_rows = 4;
    });
    let arguments = ["--release", SMALL, "--allow-unsigned", SMALL];
    let start = start().releases(releases.path()).with(&arguments);
    let lower = "synchronous_batch_rows = 2\nasynchronous_job_rows = 1";
    let (whole, lower) = (
        start.key(crate::v3_contract::ALL),
        start.key_with_plan("lower", crate::v3_contract::ALL, lower),
    );
    let server = start.go();
    for (key, batch_rows, job_rows) in [(whole, 5, 4), (lower, 2, 1)] {
        let client = server.client(&key);
        let limits = &client.get(RELEASE).ok()["limits"];
        assert_eq!(limits["synchronous_batch_rows"], batch_rows);
        assert_eq!(limits["asynchronous_job_rows"], job_rows);
        let of = |rows: usize| json!({"requests": vec![json!({}); rows]});
        for route in [
            crate::v3_contract::SIMPLE_BATCH,
            BATCH,
            crate::v3_contract::DEVELOPMENT_BATCH,
        ] {
            for rows in [batch_rows - 1, batch_rows] {
                assert_eq!(client.post(route, &of(rows)).status, 200, "{route} {rows}");
            }
            let over = client.post(route, &of(batch_rows + 1));
            assert_eq!(refused(&over), (413, "too_many_rows".to_owned()), "{route}");
        }
        assert_eq!(
            client.post(crate::v3_contract::JOBS, &of(job_rows)).status,
            202
        );
        let over = client.post(crate::v3_contract::JOBS, &of(job_rows + 1));
        assert_eq!(refused(&over), (413, "too_many_rows".to_owned()));
    }
}

/// The service refers a home that the release does not list, though its component would have valued
/// it.
#[test]
fn service_7_referred_by_country_and_type() {
    let releases = Releases::copy();
    let demo = releases.release(demo::RELEASE).join("component.wasm");
    releases.add_changed("houses", std::fs::read(demo).unwrap(), |body| {
        body.countries
            .retain(|&country| country == Country::England);
        body.property_types
            .retain(|&kind| kind != PropertyType::Flat);
    });
    let arguments = ["--release", "houses", "--allow-unsigned", "houses"];
    let start = start().releases(releases.path()).with(&arguments);
    let key = start.key_with_plan("customer", &["avm:value"], "monthly_units = 4");
    let server = start.go();
    let client = server.client(&key);
    for (request, code) in [
        (flat(), "outside_property_types"),
        (welsh(), "outside_countries"),
    ] {
        let result = client.post(STANDARD, &request).ok();
        assert_eq!(result["status"], "referred");
        assert_eq!(result["referral"]["code"], code);
        assert_eq!(
            result["property"]["postcode"],
            request["property"]["postcode"]
        );
        assert!(result["valuation"].get("estimated_value_gbp").is_none());
    }
    assert_eq!(client.post(STANDARD, &house()).ok()["status"], "valued");
    // It was looked for, so that it cost its unit as any referral does; who does not exist is
    // refused.
    let nowhere = with(flat(), "/property/street", "Nowhere Street");
    assert_eq!(
        refused(&client.post(STANDARD, &nowhere)).1,
        "address_not_found"
    );
    assert_eq!(
        refused(&client.post(STANDARD, &house())).1,
        "monthly_valuation_quota_exceeded"
    );
}
