//! Errors: their statuses, codes and body.

use crate::v1_contract::{
    DEMO_RATES, ROUTES, assert_closed, assert_refused, both, contract, customer, names,
};
use serde_json::Value;
use std::time::{Duration, Instant};

#[test]
fn v1_error_400_for_an_unknown_parameter() {
    let (_contract, client) = both();
    for route in ROUTES {
        let parted = if route.contains('?') { '&' } else { '?' };
        let answer = client.get(&format!("{route}{parted}colour=red"));
        assert_refused(&answer, 400, "unknown_parameter", "colour");
    }
    let empty = client.get("/v1/rates/series?dataset=bank_rate&=1");
    assert_refused(&empty, 400, "unknown_parameter", "");
}

#[test]
fn v1_error_400_names_a_parameter_harmlessly_and_shortly() {
    let (_contract, client) = both();
    let named = |name: &str| {
        let answer = client.get(&format!("/v1/rates/series?dataset=bank_rate&{name}=1"));
        let (status, code, field) = answer.refusal();
        assert_eq!((status, code.as_str()), (400, "unknown_parameter"));
        field.unwrap()
    };
    assert_eq!(named("a%22b"), "a\"b");
    assert_eq!(named("a%0Ab%E2%80%AEc"), "a\u{fffd}b\u{fffd}c");
    assert_eq!(named(&"a".repeat(60)), "a".repeat(60));
    assert_eq!(named(&"a".repeat(5000)), "a".repeat(59) + "…");
}

#[test]
fn v1_error_400_comes_soon_for_as_many_names_as_a_head_holds() {
    let (_contract, client) = both();
    let names: Vec<String> = (0..10_000).map(|name| format!("{name:x}")).collect();
    let query = names.join("&");
    let mut fastest = Duration::MAX;
    for _ in 0..10 {
        let started = Instant::now();
        let answer = client.get(&format!("/v1/rates/series?dataset=bank_rate&{query}"));
        assert_refused(&answer, 400, "unknown_parameter", "0");
        let twice = client.get(&format!("/v1/rates/series?{query}&270f"));
        assert_refused(&twice, 400, "duplicate_parameter", "270f");
        fastest = fastest.min(started.elapsed());
    }
    // Compared each with each, two requests took a quarter of a second. Another load of the machine
    // slows some of the ten, and not all.
    assert!(fastest < Duration::from_millis(150), "{fastest:?}");
}

#[test]
fn v1_error_401_for_a_missing_or_invalid_key() {
    let (_contract, client) = both();
    for route in ROUTES {
        let answer = client.with_key("dk_wrong").get(route);
        assert_closed(&answer, 401, "invalid_credential");
    }
}

#[test]
fn v1_error_403_for_access_that_is_not_enabled() {
    let contract = contract();
    for route in ROUTES {
        let disabled = contract.customer("disabled").get(route);
        assert_closed(&disabled, 403, "access_disabled");
        let valuation = contract.customer("valuation").get(route);
        assert_closed(&valuation, 403, "scope_required");
    }
}

#[test]
fn v1_error_422_dataset_for_a_missing_dataset() {
    let (_contract, client) = both();
    for route in [
        "markets/series",
        "rates/series",
        "markets/coverage",
        "rates/coverage",
    ] {
        for query in ["", "?area=E06990001", "?release_id=none"] {
            let answer = client.get(&format!("/v1/{route}{query}"));
            assert_refused(&answer, 422, "missing_dataset", "dataset");
        }
    }
}

#[test]
fn v1_error_422_date_for_a_date_in_the_wrong_form() {
    let (_contract, client) = both();
    for (query, field) in [
        ("rates/series?dataset=bank_rate&from=2026-01", "from"),
        ("rates/coverage?dataset=bank_rate&to=yesterday", "to"),
        (
            "markets/series?dataset=market_activity&area=E06990001&to=2026-01-01",
            "to",
        ),
    ] {
        let answer = client.get(&format!("/v1/{query}"));
        assert_refused(&answer, 422, "invalid_parameter", field);
    }
}

#[test]
fn v1_error_429_for_a_limit_of_the_plan() {
    let (_contract, client) = customer("limited");
    assert_eq!(client.get(ROUTES[1]).status, 200);
    let refused = client.get(ROUTES[1]);
    assert_closed(&refused, 429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
}

#[test]
fn v1_errors_1_one_body_with_the_request_and_the_parameter_at_fault() {
    let (contract, client) = both();
    let date = client.get("/v1/rates/series?dataset=bank_rate&from=1st");
    assert_eq!(names(&date.json()["error"]), ["code", "field", "message"]);
    assert_eq!(date.json()["error"]["code"], "invalid_parameter");
    assert_eq!(date.json()["error"]["field"], "from");
    for answer in [
        date,
        client.get("/v1/rates/series"),
        client.get("/v1/rates/datasets?colour=red"),
        client.get("/v1/rates/nothing"),
        client.post("/v1/rates/series", &Value::Null),
        client.with_key("dk_wrong").get("/v1/rates/nothing"),
        contract.customer("disabled").get(ROUTES[0]),
        contract.customer("narrow").get(ROUTES[1]),
    ] {
        let body = answer.json();
        assert_eq!(names(&body), ["error", "request_id"], "{answer:?}");
        assert!(
            body["error"]["message"]
                .as_str()
                .is_some_and(|text| text.len() > 10)
        );
        assert_eq!(
            body["request_id"].as_str(),
            answer.header("x-service-request-id")
        );
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[test]
fn v1_errors_2_an_unknown_release_is_an_error_and_never_the_current_one() {
    let (_contract, client) = both();
    for route in [
        "rates/series?dataset=bank_rate&",
        "rates/coverage?dataset=bank_rate&",
        "rates/datasets?",
        "markets/series?dataset=market_activity&area=E06990001&",
        "markets/coverage?dataset=market_activity&area=E06990001&",
        "markets/datasets?",
        "markets/areas?",
    ] {
        for id in ["made-rates-2025-12", "current", "", "..%2Frates", "a/b"] {
            let answer = client.get(&format!("/v1/{route}release_id={id}"));
            assert_refused(&answer, 404, "release_not_found", "release_id");
        }
    }
    let shouted = DEMO_RATES.to_uppercase();
    let answer = client.get(&format!("/v1/rates/datasets?release_id={shouted}"));
    assert_refused(&answer, 404, "release_not_found", "release_id");
}

#[test]
fn v1_errors_5_valid_dates_outside_of_history_are_no_error() {
    let (_contract, client) = both();
    for query in [
        "rates/series?dataset=bank_rate&from=1800-01-01&to=1800-12-31",
        "rates/series?dataset=ois_spot_curve&from=2500-01-01",
        "markets/series?dataset=market_activity&area=E06990001&to=1900-01",
    ] {
        let answer = client.get(&format!("/v1/{query}")).ok();
        for series in answer["series"].as_array().unwrap() {
            assert_eq!(series["observations"], serde_json::json!([]));
        }
    }
}

/// Queries with one error each: status, code and the offending parameter.
const FAULTS: [(&str, u16, &str, &str); 17] = [
    ("rates/series", 422, "missing_dataset", "dataset"),
    (
        "rates/series?dataset=mortgage_benchmarks",
        422,
        "missing_parameter",
        "mortgage_product",
    ),
    (
        "rates/series?dataset=bank_rate&tenor_months=6",
        400,
        "unknown_parameter",
        "tenor_months",
    ),
    (
        "rates/series?dataset=bank_rate&to=a&to=a",
        400,
        "duplicate_parameter",
        "to",
    ),
    (
        "rates/series?dataset=bank_rate&page_size=a",
        422,
        "invalid_parameter",
        "page_size",
    ),
    (
        "rates/series?dataset=market_activity",
        422,
        "unknown_dataset",
        "dataset",
    ),
    (
        "markets/series?dataset=bank_rate",
        422,
        "unknown_dataset",
        "dataset",
    ),
    (
        "markets/series?dataset=market_activity&area=E09999999",
        422,
        "unknown_area",
        "area",
    ),
    (
        "markets/series?dataset=market_activity&area=e06990001",
        422,
        "unknown_area",
        "area",
    ),
    (
        "markets/series?dataset=market_activity&area=E06990001&property_type=castle",
        422,
        "invalid_parameter",
        "property_type",
    ),
    (
        "rates/series?dataset=ois_spot_curve&tenor_months=7777",
        422,
        "unknown_node",
        "tenor_months",
    ),
    (
        "rates/datasets?release_id=none",
        404,
        "release_not_found",
        "release_id",
    ),
    (
        "rates/coverage?cursor=none",
        400,
        "cursor_not_accepted",
        "cursor",
    ),
    ("rates/series?cursor=none", 422, "invalid_cursor", "cursor"),
    (
        "rates/series?cursor=none&dataset=bank_rate",
        400,
        "cursor_with_selectors",
        "dataset",
    ),
    (
        "rates/series?dataset=bank_rate&from=2026-02-01&to=2026-01-01",
        422,
        "invalid_parameter",
        "to",
    ),
    (
        "rates/series?dataset=sonia_forward_path&horizon_from_month=2&horizon_to_month=1",
        422,
        "invalid_parameter",
        "horizon_to_month",
    ),
];

#[test]
fn v1_code_of_each_fault_names_its_parameter() {
    let (_contract, client) = both();
    for (query, status, code, field) in FAULTS {
        let answer = client.get(&format!("/v1/{query}"));
        assert_refused(&answer, status, code, field);
    }
}

#[test]
fn v1_code_order_is_that_of_the_checks() {
    let contract = contract();
    // Each line mends the error that the line before was refused for.
    let narrow = contract.customer("narrow");
    for (query, status, code, field) in [
        (
            "to=a&to=a&colour=red&release_id=none",
            400,
            "duplicate_parameter",
            "to",
        ),
        (
            "to=a&colour=red&release_id=none",
            422,
            "missing_dataset",
            "dataset",
        ),
        (
            "to=a&colour=red&release_id=none&dataset=none",
            422,
            "unknown_dataset",
            "dataset",
        ),
        (
            "to=a&colour=red&release_id=none&dataset=bank_rate",
            400,
            "unknown_parameter",
            "colour",
        ),
        (
            "to=a&release_id=none&dataset=bank_rate",
            403,
            "scope_required",
            "dataset",
        ),
        (
            "to=a&release_id=none&dataset=sonia_overnight",
            404,
            "release_not_found",
            "release_id",
        ),
        (
            "to=a&dataset=sonia_overnight",
            422,
            "invalid_parameter",
            "to",
        ),
    ] {
        let answer = narrow.get(&format!("/v1/rates/series?{query}"));
        assert_refused(&answer, status, code, field);
    }
    let both = contract.customer("both");
    let curve = "dataset=ois_spot_curve&tenor_months=7777";
    for (query, code, field) in [
        (
            "&page_size=0&metrics=none&from=2026-02-01&to=2026-01-01",
            "invalid_parameter",
            "to",
        ),
        (
            "&page_size=0&metrics=none&from=2026-01-01&to=2026-02-01",
            "invalid_parameter",
            "metrics",
        ),
        ("&page_size=0", "invalid_parameter", "page_size"),
        ("", "unknown_node", "tenor_months"),
    ] {
        let answer = both.get(&format!("/v1/rates/series?{curve}{query}"));
        assert_refused(&answer, 422, code, field);
    }
    assert_eq!(
        narrow
            .get("/v1/rates/series?dataset=sonia_overnight")
            .status,
        200
    );
    let closed = contract
        .customer("markets")
        .get("/v1/rates/series?to=a&to=a");
    assert_closed(&closed, 403, "scope_required");
}
