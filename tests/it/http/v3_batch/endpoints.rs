//! A release lists the routes that it may be used by, and no other is there.

use super::batch;
use crate::common::demo::house;
use crate::common::guest;
use crate::common::packages::Releases;
use crate::common::server::start;
use domesday_package::Endpoint;
use serde_json::json;

#[test]
fn a_route_that_the_release_does_not_list_is_404() {
    let releases = Releases::copy();
    let component = guest::component("guest-misbehaving");
    releases.add_changed("few", component, |body| {
        body.endpoints = vec![Endpoint::SimpleValue, Endpoint::BatchValue];
    });
    let server = start()
        .releases(releases.path())
        .with(&["--release", "few", "--allow-unsigned", "few"])
        .go();
    let client = server.demo();
    let metadata = client.get("/v3/releases/current").ok();
    assert_eq!(
        metadata["endpoints"],
        json!([
            "/v3/simple-value",
            "/v3/batch-value",
            "/v3/releases/current",
            "/v3/coverage"
        ])
    );
    for absent in [
        "/v3/value",
        "/v3/simple-batch-value",
        "/v3/development-value",
        "/v3/development-batch-value",
        "/v3/valuation-jobs",
    ] {
        let answer = client.post(absent, &json!({}));
        assert_eq!(answer.status, 404, "{absent}");
        assert_eq!(answer.json()["error"]["code"], "route_not_found");
    }
    assert_eq!(client.post("/v3/simple-value", &house()).status, 200);
    assert_eq!(
        client.post("/v3/batch-value", &batch(vec![house()])).status,
        200
    );
}
