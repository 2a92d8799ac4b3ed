//! The envelope of series and coverage, member by member.

use crate::v1_contract::response_body::redacted_body;
use crate::v1_contract::sparse_releases;
use crate::v1_contract::{DEMO_MARKETS, DEMO_RATES, both, is_uuid, names};
use serde_json::{Value, json};

const ACTIVITY: &str = "/v1/markets/series?dataset=market_activity&area=E06990001";
const CURVE: &str = "/v1/rates/series?dataset=ois_spot_curve&tenor_months=60";
/// Every member, in order; a notice stands before the series where there is one.
const MEMBERS: [&str; 9] = [
    "dataset",
    "next_cursor",
    "published_at",
    "release_id",
    "release_status",
    "request_id",
    "revision_policy",
    "selection",
    "series",
];

#[test]
fn v1_envelope_request_id_is_of_one_answer() {
    let (_contract, client) = both();
    let mut ids = Vec::new();
    for route in [ACTIVITY, CURVE, ACTIVITY, CURVE] {
        let answer = client.get(route);
        let id = answer.ok()["request_id"].clone();
        assert!(is_uuid(&id), "{id}");
        assert_eq!(id.as_str(), answer.header("x-service-request-id"));
        assert!(!ids.contains(&id));
        ids.push(id);
    }
}

#[test]
fn v1_envelope_dataset_is_the_one_asked() {
    let (_contract, client) = both();
    assert_eq!(client.get(ACTIVITY).ok()["dataset"], "market_activity");
    assert_eq!(client.get(CURVE).ok()["dataset"], "ois_spot_curve");
}

#[test]
fn v1_envelope_release_id_is_the_package_that_answered() {
    let (_contract, client) = both();
    assert_eq!(client.get(ACTIVITY).ok()["release_id"], DEMO_MARKETS);
    assert_eq!(client.get(CURVE).ok()["release_id"], DEMO_RATES);
    let pinned = client.get(&format!("{CURVE}&release_id={}", sparse_releases::RATES));
    assert_eq!(pinned.ok()["release_id"], sparse_releases::RATES);
}

#[test]
fn v1_envelope_published_at_is_recorded_or_null() {
    let (_contract, client) = both();
    for route in [ACTIVITY, CURVE] {
        let body = client.get(route).ok();
        assert_eq!(body.get("published_at"), Some(&Value::Null));
    }
    for route in ["series", "coverage"] {
        let query = format!(
            "/v1/rates/{route}?dataset=bank_rate&release_id={}",
            sparse_releases::RATES
        );
        assert_eq!(
            client.get(&query).ok()["published_at"],
            "2020-06-01T08:30:00Z"
        );
    }
}

#[test]
fn v1_envelope_release_status_is_accepted() {
    let (_contract, client) = both();
    let named = format!("{CURVE}&release_id={}", sparse_releases::RATES);
    for route in [ACTIVITY, CURVE, &named] {
        let body = client.get(route).ok();
        assert_eq!(body["release_status"], "accepted", "{route}");
    }
}

#[test]
fn v1_envelope_selection_echoes_selectors_as_text_and_the_mode() {
    let (_contract, client) = both();
    let selection = |query: &str| client.get(&format!("/v1/{query}")).ok()["selection"].clone();
    for (query, expected) in [
        (
            "markets/series?dataset=market_activity&area=E06990001&property_type=detached",
            json!({"area": "E06990001", "property_type": "detached", "mode": "latest"}),
        ),
        (
            "markets/series?dataset=rental_market&area=E06990001&bedroom_group=2",
            json!({"area": "E06990001", "bedroom_group": "2", "mode": "latest"}),
        ),
        (
            "markets/series?dataset=price_bands&area=E06990001&price_band=100k_to_150k",
            json!({"area": "E06990001", "price_band": "100k_to_150k", "mode": "latest"}),
        ),
        (
            "rates/series?dataset=ois_spot_curve&tenor_months=60",
            json!({"tenor_months": "60", "mode": "latest"}),
        ),
        (
            "rates/series?dataset=forward_starting_swap_rates&term_years=5&horizon_from_month=0&horizon_to_month=2",
            json!({"term_years": "5", "horizon_from_month": "0", "horizon_to_month": "2", "mode": "latest"}),
        ),
        (
            "rates/series?dataset=bank_rate_scenarios&scenario=stress&horizon_to_month=0",
            json!({"scenario": "stress", "horizon_to_month": "0", "mode": "latest"}),
        ),
        (
            "rates/series?dataset=mortgage_benchmarks&mortgage_product=btl_fixed_2y_60ltv",
            json!({"mortgage_product": "btl_fixed_2y_60ltv", "mode": "latest"}),
        ),
        ("rates/series?dataset=bank_rate", json!({"mode": "latest"})),
        // The selection states the default of each parameter that the query leaves out.
        (
            "markets/series?dataset=market_activity&area=E06990001",
            json!({"area": "E06990001", "property_type": "all", "mode": "latest"}),
        ),
        (
            "rates/series?dataset=bank_rate&from=2026-09-01",
            json!({"mode": "range"}),
        ),
        (
            "markets/coverage?dataset=rental_market&area=E06990001",
            json!({"area": "E06990001", "bedroom_group": "all", "mode": "latest"}),
        ),
    ] {
        assert_eq!(selection(query), expected, "{query}");
    }
}

#[test]
fn v1_envelope_revision_policy_says_that_later_releases_may_revise() {
    let (_contract, client) = both();
    for route in [ACTIVITY, CURVE] {
        let body = client.get(route).ok();
        let policy = body["revision_policy"].as_str().unwrap();
        assert!(policy.contains("later release may revise"), "{policy}");
    }
}

#[test]
fn v1_envelope_series_is_a_list_of_objects() {
    let (_contract, client) = both();
    for (route, count) in [(ACTIVITY, 5), (CURVE, 1)] {
        let body = client.get(route).ok();
        let series = body["series"].as_array().unwrap();
        assert_eq!(series.len(), count);
        assert!(series.iter().all(Value::is_object));
    }
}

#[test]
fn v1_envelope_next_cursor_is_a_token_or_null() {
    let (_contract, client) = both();
    let first = client.get(&format!("{ACTIVITY}&page_size=4")).ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    assert!(!cursor.is_empty());
    let last = client
        .get(&format!("/v1/markets/series?cursor={cursor}"))
        .ok();
    assert_eq!(last.get("next_cursor"), Some(&Value::Null));
    assert_eq!(names(&last), MEMBERS);
    insta::assert_json_snapshot!(
        "first_page",
        redacted_body(&client.get(&format!("{ACTIVITY}&page_size=2")))
    );
}

#[test]
fn v1_coverage_envelope_is_the_series_one_without_observations() {
    let (_contract, client) = both();
    for (name, query) in [
        (
            "coverage_markets",
            "markets/coverage?dataset=rental_market&area=E06990001",
        ),
        (
            "coverage_rates",
            "rates/coverage?dataset=ois_spot_curve&tenor_months=60",
        ),
    ] {
        let body = redacted_body(&client.get(&format!("/v1/{query}")));
        assert_eq!(names(&body), MEMBERS);
        assert_eq!(body["next_cursor"], Value::Null);
        let mut whole = client
            .get(&format!("/v1/{}", query.replace("coverage", "series")))
            .ok();
        for series in whole["series"].as_array_mut().unwrap() {
            series
                .as_object_mut()
                .unwrap()
                .remove("observations")
                .unwrap();
        }
        assert_eq!(body["series"], whole["series"]);
        insta::assert_json_snapshot!(name, body);
    }
}
