//! Versions of the contract and of releases.

use crate::common::client::Client;
use crate::common::demo::{self, house, house_with};
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::server::start;
use crate::v3_contract::jobs::completed_results;
use crate::v3_contract::{
    BATCH, COVERAGE, DEVELOPMENT, DEVELOPMENT_BATCH, JOBS, RELEASE, SIMPLE, SIMPLE_BATCH, STANDARD,
    assert_invalid, batch, contract, estimate, refused, value, with,
};
use chrono::NaiveDate;
use domesday_package::Endpoint;
use serde_json::{Value, json};
use tempfile::TempDir;

#[test]
fn versioning_1_the_version_stands_in_the_path() {
    let (_contract, client) = value();
    assert_eq!(client.post(SIMPLE, &house()).ok()["api_version"], "v3");
    for path in ["/simple-value", "/v2/simple-value", "/v4/simple-value"] {
        let answer = client.post(path, &house());
        assert_eq!(refused(&answer), (404, "route_not_found".to_owned()));
    }
}

#[test]
fn versioning_2_another_release_answers_on_the_same_paths_under_its_own_id() {
    let releases = Releases::copy();
    let demo = releases.release(demo::RELEASE).join("component.wasm");
    releases.add("another-2026-11", std::fs::read(demo).unwrap());
    let arguments = [
        "--release",
        "another-2026-11",
        "--allow-unsigned",
        "another-2026-11",
    ];
    let server = start().releases(releases.path()).with(&arguments).go();
    let client = server.demo();
    let result = client.post(SIMPLE, &house()).ok();
    assert_eq!(result["release_id"], "another-2026-11");
    assert!(estimate(&result) > 0);
    assert_eq!(client.get(RELEASE).ok()["release_id"], "another-2026-11");
}

/// Returns the whole result of a valuation but for the two ids that differ from response to
/// response.
#[track_caller]
fn lasting_result(client: &Client, request: &Value) -> Value {
    let mut result = client.post(STANDARD, request).ok();
    for id in ["execution_id", "valuation_id"] {
        assert!(result[id].is_string(), "{result}");
        result.as_object_mut().unwrap().remove(id);
    }
    result
}

#[test]
fn versioning_3_a_restart_changes_neither_the_release_nor_its_values() {
    const PROMOTED: &str = "promoted-2026-11";
    let (releases, temp_dir) = (Releases::copy(), TempDir::new().unwrap());
    let demo = releases.release(demo::RELEASE).join("component.wasm");
    releases.add(PROMOTED, std::fs::read(demo).unwrap());
    let serve = || {
        let start = start().releases(releases.path()).data(temp_dir.path());
        start.with(&["--allow-unsigned", PROMOTED])
    };
    let request = house_with(json!({"include_comparables": true, "include_context_metrics": true}));
    let server = serve().with(&["--release", demo::RELEASE]).go();
    let client = server.demo();
    let data = temp_dir.path().display().to_string();
    run(["release", "promote", PROMOTED, "--data", &data]).ok();
    let before = lasting_result(&client, &request);
    let job = completed_results(&client, &batch(json!({}), &[house()]));
    assert_eq!(before["release_id"], PROMOTED);
    for part in [
        "property",
        "valuation",
        "confidence",
        "input_resolution",
        "comparables",
        "context",
    ] {
        assert!(!before[part].is_null(), "{part}: {before}");
    }
    server.stop();
    // The same data and another process without the option for a release.
    let server = serve().go();
    let client = server.client(&client.key);
    assert_eq!(lasting_result(&client, &request), before);
    assert_eq!(client.get(RELEASE).ok()["release_id"], PROMOTED);
    let results = format!("{JOBS}/{}/results", job["job_id"].as_str().unwrap());
    assert_eq!(client.get(&results).ok(), job);
}

/// Asserts that dates, limits and endpoints that the metadata state are those in force.
fn assert_in_force(client: &Client) {
    let metadata = client.get(RELEASE).ok();
    let window = &metadata["valuation_date"];
    let on = |day: NaiveDate| {
        client.post(
            STANDARD,
            &with(house(), "/property/valuation_date", day.to_string()),
        )
    };
    let [first, last] =
        ["from", "to"].map(|end| window[end].as_str().unwrap().parse::<NaiveDate>().unwrap());
    for inside in [first, last] {
        assert_eq!(on(inside).status, 200, "{inside}");
    }
    for outside in [first.pred_opt().unwrap(), last.succ_opt().unwrap()] {
        let pointer = "/property/valuation_date";
        assert_invalid(&on(outside), "valuation_date_outside_window", pointer);
    }
    let listed = metadata["endpoints"].as_array().unwrap();
    for endpoint in [
        SIMPLE,
        STANDARD,
        SIMPLE_BATCH,
        BATCH,
        DEVELOPMENT,
        DEVELOPMENT_BATCH,
        JOBS,
    ] {
        let status = client.post(endpoint, &json!({})).status;
        let expected: &[u16] = match listed.contains(&json!(endpoint)) {
            true => &[422],
            false => &[403, 404],
        };
        assert!(expected.contains(&status), "{endpoint}: {status}");
    }
    for endpoint in [RELEASE, COVERAGE] {
        assert!(listed.contains(&json!(endpoint)), "{endpoint}");
    }
    for (limit, routes, taken) in [
        (
            "synchronous_batch_rows",
            &[BATCH, DEVELOPMENT_BATCH][..],
            200,
        ),
        ("asynchronous_job_rows", &[JOBS][..], 202),
    ] {
        let most = metadata["limits"][limit].as_u64().unwrap();
        let of = |rows: u64| json!({"requests": (0..rows).collect::<Vec<_>>()});
        let routes = routes
            .iter()
            .filter(|&&route| listed.contains(&json!(route)));
        for route in routes {
            assert_eq!(client.post(route, &of(most)).status, taken, "{route}");
            let over = client.post(route, &of(most + 1));
            assert_eq!(refused(&over), (413, "too_many_rows".to_owned()));
        }
    }
}

#[test]
fn versioning_5_dates_limits_and_endpoints_are_those_of_the_metadata() {
    let contract = contract();
    for customer in ["all", "three_rows", "without_jobs", "value"] {
        assert_in_force(&contract.customer(customer));
    }
    // A key without the scope of developments sees neither of their routes.
    assert_eq!(
        contract.customer("value").get(RELEASE).ok()["endpoints"],
        json!([
            SIMPLE,
            STANDARD,
            SIMPLE_BATCH,
            BATCH,
            JOBS,
            RELEASE,
            COVERAGE
        ])
    );
    const OTHER: &str = "november";
    let releases = Releases::copy();
    let demo = releases.release(demo::RELEASE).join("component.wasm");
    releases.add_changed(OTHER, std::fs::read(demo).unwrap(), |body| {
        let day = |day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        (body.valuation_date.from, body.valuation_date.to) = (day(2), day(20));
        body.limits.synchronous_batch_rows = 5;
        body.limits.asynchronous_job_rows = 4;
        let without = [Endpoint::SimpleValue, Endpoint::DevelopmentBatchValue];
        body.endpoints
            .retain(|endpoint| !without.contains(endpoint));
    });
    let arguments = ["--release", OTHER, "--allow-unsigned", OTHER];
    let server = start().releases(releases.path()).with(&arguments).go();
    let client = server.demo();
    assert_in_force(&client);
    assert_eq!(
        client.get(RELEASE).ok()["endpoints"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
}

#[test]
fn versioning_6_the_other_interface_depends_on_no_key_of_this_one() {
    let (contract, client) = value();
    // A valuation key opens nothing of the other interface, and its keys open nothing of this one.
    let markets = contract.customer("markets");
    for family in ["markets", "rates"] {
        let path = |version: &str| format!("/{version}/{family}/releases/current");
        assert_eq!(markets.get(&path("v1")).status, 200, "{family}");
        assert_eq!(markets.get(&path("v3")).status, 404, "{family}");
        assert_eq!(client.get(&path("v1")).status, 403, "{family}");
    }
    assert_eq!(
        refused(&markets.get(RELEASE)),
        (403, "scope_required".to_owned())
    );
}
