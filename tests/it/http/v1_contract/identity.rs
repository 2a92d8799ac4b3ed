//! The areas of a release, and which release is current.

use crate::common::packages::Releases;
use crate::common::server::start;
use crate::v1_contract::response_body::redacted_body;
use crate::v1_contract::{DEMO_MARKETS, both, names, sparse_releases};
use serde_json::{Value, json};

#[test]
fn v1_areas_are_codes_and_names_in_order_of_the_codes() {
    let (_contract, client) = both();
    let demo = client.get("/v1/markets/areas");
    insta::assert_json_snapshot!("areas", redacted_body(&demo));
    let demo = demo.ok();
    assert_eq!(names(&demo), ["areas", "release_id", "request_id"]);
    assert_eq!(demo["release_id"], DEMO_MARKETS);
    for area in demo["areas"].as_array().unwrap() {
        assert_eq!(names(area), ["code", "name"]);
        assert!(area["code"].is_string() && area["name"].is_string());
    }
    // They are those of the release, however many, whatever order they were given in.
    let listed = client
        .get(&format!(
            "/v1/markets/areas?release_id={}",
            sparse_releases::MARKETS
        ))
        .ok();
    assert_eq!(
        listed["areas"],
        json!([
            {"code": sparse_releases::HOLED, "name": "Ashby Hollow"},
            {"code": sparse_releases::SUPPRESSED, "name": "Thornet Vale"},
            {"code": sparse_releases::UNKNOWN, "name": "Cwm Brithel"},
        ])
    );
    for area in listed["areas"].as_array().unwrap() {
        let code = area["code"].as_str().unwrap();
        let path = format!(
            "/v1/markets/coverage?dataset=market_activity&area={code}&release_id={}",
            sparse_releases::MARKETS
        );
        client.get(&path).ok();
    }
}

#[test]
fn v1_current_release_is_the_default() {
    let (_contract, client) = both();
    for (family, route) in [
        ("markets", "series?dataset=market_activity&area=E06990001"),
        ("rates", "series?dataset=bank_rate"),
    ] {
        let answer = client.get(&format!("/v1/{family}/releases/current"));
        let body = redacted_body(&answer);
        let members = [
            "created_at",
            "family",
            "preview_bounds",
            "published_at",
            "release_id",
            "request_id",
            "status",
        ];
        assert_eq!(names(&body), members);
        assert_eq!(
            (&body["family"], &body["status"]),
            (&family.into(), &"accepted".into())
        );
        let series = client.get(&format!("/v1/{family}/{route}")).ok();
        assert_eq!(body["release_id"], series["release_id"]);
        insta::assert_json_snapshot!(format!("current_{family}"), body);
    }
}

#[test]
fn v1_current_moments_and_bounds_are_set_or_null() {
    // The demo's releases were never published, and are no export of a part.
    let (_contract, client) = both();
    for family in ["markets", "rates"] {
        let body = client.get(&format!("/v1/{family}/releases/current")).ok();
        assert_eq!(body.get("published_at"), Some(&Value::Null));
        assert_eq!(body.get("preview_bounds"), Some(&Value::Null));
    }
    let releases = Releases::copy();
    sparse_releases::write_all(releases.path());
    let allowed = [
        "--allow-unsigned",
        sparse_releases::MARKETS,
        "--allow-unsigned",
        sparse_releases::RATES,
    ];
    let server = start().releases(releases.path()).with(&allowed).go();
    let client = server.demo();
    let markets = redacted_body(&client.get("/v1/markets/releases/current"));
    assert_eq!(markets["published_at"], Value::Null);
    assert_eq!(markets["preview_bounds"], json!({"from": null, "to": null}));
    insta::assert_json_snapshot!("current_with_open_bounds", markets);
    let rates = redacted_body(&client.get("/v1/rates/releases/current"));
    // Publication is neither when it was made nor the day of any observation.
    assert_eq!(rates["published_at"], "2020-06-01T08:30:00Z");
    assert_eq!(rates["created_at"], "2020-05-30T06:00:00Z");
    assert_eq!(
        rates["preview_bounds"],
        json!({"from": "2020-04-30", "to": "2020-05-29"})
    );
    insta::assert_json_snapshot!("current_with_bounds", rates);
}
