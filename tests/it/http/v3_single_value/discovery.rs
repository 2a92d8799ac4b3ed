//! The routes that describe the active release and its coverage.

use crate::common::demo::{FLAT, POSTCODE, RELEASE, WINDOW, house};
use crate::v3_contract::deadline::{endless, spinning};
use crate::v3_single_value::service;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The deadline of a service that has a short one.
const DEADLINE: Duration = Duration::from_secs(1);
/// The delay of an answer that a busy machine may add.
const LATE: Duration = Duration::from_secs(4);
/// Coverage checks until a job's row is begun.
const ATTEMPTS: usize = 500;

#[test]
fn the_current_release_describes_itself() {
    let (_server, client) = service();
    let expected = json!({
        "release_id": RELEASE,
        "effective_date": "2026-10-01",
        "countries": ["england", "wales"],
        "property_types": ["D", "S", "T", "F"],
        "valuation_date": {"from": WINDOW.0, "to": WINDOW.1},
        "limits": {"synchronous_batch_rows": 2500, "asynchronous_job_rows": 2500},
        "endpoints": [
            "/v3/simple-value",
            "/v3/value",
            "/v3/simple-batch-value",
            "/v3/batch-value",
            "/v3/development-value",
            "/v3/development-batch-value",
            "/v3/valuation-jobs",
            "/v3/releases/current",
            "/v3/coverage",
        ],
    });
    assert_eq!(client.get("/v3/releases/current").ok(), expected);
}

#[test]
fn every_listed_endpoint_exists() {
    let (_server, client) = service();
    let metadata = client.get("/v3/releases/current").ok();
    for endpoint in metadata["endpoints"].as_array().unwrap() {
        let endpoint = endpoint.as_str().unwrap();
        let found = [client.get(endpoint), client.post(endpoint, &json!({}))];
        assert!(
            found
                .iter()
                .any(|answer| [200, 422].contains(&answer.status)),
            "{endpoint}: {found:?}"
        );
    }
}

#[test]
fn a_key_sees_the_endpoints_of_its_scopes() {
    let start = crate::common::server::start();
    let keys = [
        &["avm:value"][..],
        &["avm:development"],
        &["avm:stored-data"],
        &["avm:value", "avm:development"],
    ]
    .map(|scopes| start.key(scopes));
    let server = start.with(&["--no-demo"]).go();
    let (value, development) = (
        [
            "/v3/simple-value",
            "/v3/value",
            "/v3/simple-batch-value",
            "/v3/batch-value",
        ],
        ["/v3/development-value", "/v3/development-batch-value"],
    );
    let jobs = ["/v3/valuation-jobs"];
    let any = ["/v3/releases/current", "/v3/coverage"];
    let expected = [
        [&value[..], &jobs, &any].concat(),
        [&development[..], &any].concat(),
        any.to_vec(),
        [&value[..], &development, &jobs, &any].concat(),
    ];
    for (key, expected) in keys.iter().zip(expected) {
        let client = server.client(key);
        let listed = client.get("/v3/releases/current").ok()["endpoints"].clone();
        assert_eq!(listed, json!(expected));
        for path in value.iter().chain(&development).chain(&jobs) {
            let open = client.post(path, &json!({})).status != 403;
            assert_eq!(open, expected.contains(path), "{path}");
        }
    }
}

#[test]
fn coverage_reports_postcode_and_uprn_separately() {
    let (_server, client) = service();
    let coverage = |query: &str| client.get(&format!("/v3/coverage?{query}")).ok();
    let known = coverage("postcode=qa11af");
    assert_eq!(known["release_id"], RELEASE);
    assert_eq!(known["postcode"]["value"], POSTCODE);
    assert_eq!(known["postcode"]["represented"], true);
    assert!(known["postcode"]["recent_sales"].is_u64());
    assert_eq!(known["uprn"], Value::Null);

    let present = json!({"value": FLAT, "present": true});
    // A UPRN of another postcode is present all the same.
    assert_eq!(
        coverage(&format!("postcode=QA1+1AF&uprn={FLAT}"))["uprn"],
        present
    );
    let absent = coverage("postcode=ZZ99%209ZZ&uprn=1");
    assert_eq!(absent["postcode"]["represented"], false);
    assert_eq!(absent["postcode"]["recent_sales"], 0);
    assert_eq!(absent["uprn"], json!({"value": "1", "present": false}));
}

#[test]
fn coverage_counts_no_shop_as_present() {
    let (_server, client) = service();
    let shop = client.get("/v3/coverage?postcode=QA12AR&uprn=999597172236");
    assert_eq!(shop.ok()["uprn"]["present"], false);
}

/// A job's row has the only thread, for the ten seconds after which the clock ends it.
#[test]
fn a_coverage_check_that_finds_no_worker_is_refused_soon_after_the_deadline() {
    let one = ["--threads", "1", "--job-runners", "1"];
    let (_server, client) = endless(&[&one[..], &["--processing-deadline", "1000"]].concat());
    let job = json!({"requests": [spinning(house())]});
    assert_eq!(client.post("/v3/valuation-jobs", &job).status, 202);
    for _ in 0..ATTEMPTS {
        let began = Instant::now();
        let answer = client.get("/v3/coverage?postcode=QA11AF");
        let took = began.elapsed();
        assert!(took < DEADLINE + LATE, "{took:?}: {answer:?}");
        if answer.status == 200 {
            // The row is not begun yet.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        assert_eq!(answer.refusal(), (503, "overloaded".to_owned(), None));
        assert!(answer.header("retry-after").is_some());
        assert!(took > DEADLINE, "{took:?}");
        return;
    }
    panic!("the row was never begun");
}
