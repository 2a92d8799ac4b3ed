//! Versions of the contract and of releases.

use crate::common::demo::{self, house};
use crate::common::packages::Releases;
use crate::common::server::start;
use crate::v3_contract::{RELEASE, SIMPLE, estimate, refused, value};

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

#[test]
fn versioning_3_a_restart_changes_neither_the_release_nor_its_values() {
    let (_contract, client) = value();
    let before = client.post(SIMPLE, &house()).ok();
    assert!(before["release_id"].is_string());
    let server = start().go();
    let after = server.demo().post(SIMPLE, &house()).ok();
    for part in ["release_id", "valuation", "confidence"] {
        assert_eq!(after[part], before[part]);
    }
}

#[test]
fn versioning_5_dates_limits_and_endpoints_are_in_the_metadata() {
    let (_contract, client) = value();
    let metadata = client.get(RELEASE).ok();
    assert!(metadata["valuation_date"]["from"].is_string());
    assert!(metadata["limits"]["synchronous_batch_rows"].is_u64());
    assert!(!metadata["endpoints"].as_array().unwrap().is_empty());
}

#[test]
fn versioning_6_the_other_interface_depends_on_no_key_of_this_one() {
    let (contract, client) = value();
    // Whatever the other interface has, a valuation key opens none of it, and its keys none of
    // this.
    assert!([403, 404].contains(&client.get("/v1/markets").status));
    let markets = contract.customer("markets");
    assert_eq!(
        refused(&markets.get(RELEASE)),
        (403, "scope_required".to_owned())
    );
}
