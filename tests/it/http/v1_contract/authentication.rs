//! Keys and scopes.

use crate::common::program::run;
use crate::common::raw::{connect, head, read, send};
use crate::v1_contract::{ROUTES, assert_closed, assert_refused, both, contract, customer, names};
use serde_json::Value;
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn v1_authentication_1_all_routes_need_a_bearer_key() {
    let (contract, client) = both();
    for route in ROUTES {
        assert_eq!(client.get(route).status, 200, "{route}");
        let send = |headers: &[(&str, &str)]| {
            let request = head("GET", route, headers);
            send(contract.server.address, request.as_bytes()).status
        };
        assert_eq!(send(&[]), 401, "{route}");
        assert_eq!(send(&[("Authorization", &client.key)]), 401, "{route}");
        let basic = format!("Basic {}", client.key);
        assert_eq!(send(&[("Authorization", &basic)]), 401, "{route}");
    }
}

#[test]
fn v1_authentication_2_families_are_opened_each_by_itself() {
    let contract = contract();
    for (key, opened) in [("markets", "/v1/markets/"), ("rates", "/v1/rates/")] {
        let client = contract.customer(key);
        for route in ROUTES {
            let answer = client.get(route);
            if route.starts_with(opened) {
                assert_eq!(answer.status, 200, "{key}: {route}");
            } else {
                assert_closed(&answer, 403, "scope_required");
            }
        }
    }
}

#[test]
fn v1_authentication_2_datasets_are_opened_each_by_itself() {
    let (_contract, client) = customer("two_datasets");
    for route in ["series", "coverage"] {
        let get = |query: &str| client.get(&format!("/v1/rates/{route}?dataset={query}"));
        assert_eq!(get("bank_rate").status, 200);
        assert_eq!(get("ois_spot_curve&tenor_months=60").status, 200);
        for closed in [
            "sonia_overnight",
            "ois_forward_curve",
            "mortgage_benchmarks",
        ] {
            assert_refused(&get(closed), 403, "scope_required", "dataset");
        }
    }
}

#[test]
fn v1_authentication_2_catalogue_lists_the_accounts_datasets() {
    let contract = contract();
    let listed = |key: &str| {
        let catalogue = contract.customer(key).get("/v1/rates/datasets").ok();
        let entries = catalogue["datasets"].as_array().unwrap().clone();
        let name = |entry: Value| entry["dataset"].as_str().unwrap().to_owned();
        entries.into_iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(listed("two_datasets"), ["bank_rate", "ois_spot_curve"]);
    assert_eq!(listed("narrow"), ["sonia_overnight"]);
    assert_eq!(listed("both").len(), 22);
}

#[test]
fn v1_authentication_2_valuation_opens_neither_family() {
    let (_contract, client) = customer("valuation");
    for route in ROUTES {
        assert_closed(&client.get(route), 403, "scope_required");
    }
    assert_eq!(client.get("/v3/releases/current").status, 200);
}

#[test]
fn v1_authentication_3_401_for_a_missing_wrong_or_revoked_key() {
    let (contract, client) = both();
    let revoked = contract.customer("revoked");
    let route = ROUTES[1];
    assert_eq!(revoked.get(route).status, 200);
    let data = contract.server.data.display().to_string();
    let id = revoked.key.split('_').nth(1).unwrap();
    run(["key", "revoke", id, "--data", &data]).ok();
    let missing = send(contract.server.address, head("GET", route, &[]).as_bytes());
    assert_closed(&missing, 401, "missing_credential");
    for answer in [
        revoked.get(route),
        client.with_key("dk_0000000000000000_0").get(route),
    ] {
        assert_closed(&answer, 401, "invalid_credential");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(names(&answer.json()), ["error", "request_id"]);
    }
}

#[test]
fn v1_authentication_3_403_where_access_is_not_enabled() {
    let (contract, client) = customer("disabled");
    for route in ROUTES {
        assert_closed(&client.get(route), 403, "access_disabled");
    }
    let other = contract.customer("two_datasets").get(ROUTES[0]);
    assert_closed(&other, 403, "scope_required");
}

#[test]
fn v1_authentication_3_429_over_the_rate_of_the_plan() {
    let (_contract, client) = customer("slow");
    assert_eq!(client.get(ROUTES[1]).status, 200);
    // Whatever the route and the answer, a request counts.
    assert_eq!(client.get("/v1/rates/series").status, 422);
    let refused = client.get(ROUTES[0]);
    assert_closed(&refused, 429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.json()["request_id"].is_string());
}

#[test]
fn v1_authentication_3_429_is_not_for_the_units_of_valuations() {
    let (_contract, client) = customer("no_units");
    for _ in 0..3 {
        assert_eq!(client.get(ROUTES[0]).status, 200);
    }
}

#[test]
fn v1_authentication_3_concurrency_429_over_the_requests_of_the_plan() {
    let (contract, client) = customer("one_at_a_time");
    let bearer = format!("Bearer {}", client.key);
    // A valuation whose body is awaited holds the plan's only place.
    let waiting = head(
        "POST",
        "/v3/value",
        &[
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Content-Length", "2"),
            ("Expect", "100-continue"),
        ],
    );
    let mut stream = connect(contract.server.address);
    stream.write_all(waiting.as_bytes()).unwrap();
    assert_eq!(read(&mut stream).status, 100);
    let refused = client.get(ROUTES[1]);
    assert_closed(&refused, 429, "concurrency_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(stream);
    let started = Instant::now();
    while client.get(ROUTES[1]).status != 200 {
        assert!(started.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(10));
    }
}
