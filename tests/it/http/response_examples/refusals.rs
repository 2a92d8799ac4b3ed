//! Errors that a request can provoke: each is the example of its code on the route.

use super::{examples, request};
use crate::common::client::Client;
use crate::common::demo::{NEIGHBOUR, at, divided, flat, house, shop};
use crate::common::raw::HttpResponse;
use crate::common::server::start;
use crate::openapi::document;
use serde_json::{Value, json};

/// Asserts that an error response is the example of its code on the route.
#[track_caller]
fn assert_example(document: &Value, method: &str, route: &str, code: &str, answer: &HttpResponse) {
    let mut body = answer.json();
    assert_eq!(body["error"]["code"], code, "{method} {route}: {body:#}");
    let status = answer.status.to_string();
    let response = &document["paths"][route][method]["responses"][&status];
    let mut example = examples(document, response)[code].clone();
    for value in [&mut body, &mut example] {
        if let Some(id) = value.get_mut("request_id") {
            *id = Value::Null;
        }
    }
    assert_eq!(body, example, "{method} {route}");
}

/// Returns a document with one member set, or removed where the value is null.
fn with(mut document: Value, pointer: &str, value: Value) -> Value {
    let (section, name) = pointer.rsplit_once('/').unwrap();
    let section = document
        .pointer_mut(section)
        .unwrap()
        .as_object_mut()
        .unwrap();
    section.remove(name);
    if !value.is_null() {
        section.insert(name.to_owned(), value);
    }
    document
}

#[test]
fn refusals_of_a_body_are_the_examples() {
    let server = start().with_series().go();
    let demo = server.demo();
    let document = document();
    let (value, batch, jobs) = ("/v3/value", "/v3/batch-value", "/v3/valuation-jobs");
    let options = |options: Value| with(house(), "/options", options);
    let rows = |options: Value| json!({"requests": [flat()], "options": options});
    let many = json!({"requests": vec![1; 2501]});
    for (route, code, body) in [
        (
            value,
            "unknown_field",
            with(house(), "/size/colour", json!(1)),
        ),
        (
            value,
            "missing_field",
            with(house(), "/occupancy", Value::Null),
        ),
        (
            value,
            "invalid_value",
            options(json!({"comparables_limit": 11})),
        ),
        (value, "empty_section", with(house(), "/size", json!({}))),
        (
            value,
            "null_option",
            options(json!({"include_comparables": null})),
        ),
        (
            value,
            "address_not_found",
            at("999", "Badger Yard Gardens", "QA1 1AF"),
        ),
        (value, "address_ambiguous", divided()),
        (
            value,
            "uprn_address_mismatch",
            with(house(), "/property/uprn", json!(NEIGHBOUR)),
        ),
        (value, "not_residential", shop()),
        (
            value,
            "outside_geography",
            at("15", "Royal Mile", "EH1 1AA"),
        ),
        (
            value,
            "valuation_date_outside_window",
            with(house(), "/property/valuation_date", json!("2020-01-01")),
        ),
        (
            batch,
            "unknown_field",
            with(rows(json!({})), "/colour", json!(1)),
        ),
        (batch, "missing_field", json!({})),
        (
            batch,
            "invalid_value",
            rows(json!({"comparables_limit": 11})),
        ),
        (
            batch,
            "null_option",
            rows(json!({"include_comparables": null})),
        ),
        (batch, "empty_requests", json!({"requests": []})),
        (batch, "too_many_rows", many.clone()),
        (
            jobs,
            "unknown_field",
            with(rows(json!({})), "/colour", json!(1)),
        ),
        (jobs, "missing_field", json!({})),
        (jobs, "too_many_rows", many),
    ] {
        assert_example(&document, "post", route, code, &demo.post(route, &body));
    }
    let site = request(&document, "/v3/development-value", "development").clone();
    for (code, pointer, changed) in [
        ("unknown_field", "/size/colour", json!(1)),
        ("empty_section", "/size", json!({})),
        ("outside_geography", "/property/postcode", json!("EH1 1AA")),
    ] {
        let route = "/v3/development-value";
        let answer = demo.post(route, &with(site.clone(), pointer, changed));
        assert_example(&document, "post", route, code, &answer);
    }
    let broken = demo.post_text(value, r#"{"property": }"#);
    assert_example(&document, "post", value, "invalid_json", &broken);
    let job = request(&document, jobs, "job");
    assert_eq!(demo.post(jobs, job).status, 202);
    let other = demo.post(jobs, &with(job.clone(), "/mode", json!("simple")));
    assert_example(&document, "post", jobs, "idempotency_conflict", &other);
}

#[test]
fn refusals_of_a_query_are_the_examples() {
    let server = start().with_series().go();
    let demo = server.demo();
    let document = document();
    for (code, url) in [
        ("unknown_field", "/v3/coverage?postcode=QA1+1AF&colour=1"),
        ("missing_field", "/v3/coverage"),
        ("invalid_value", "/v3/coverage?postcode=QA1"),
        ("unknown_field", "/v3/releases/current?colour=1"),
        ("missing_dataset", "/v1/rates/series"),
        ("unknown_dataset", "/v1/rates/series?dataset=gold"),
        (
            "missing_parameter",
            "/v1/markets/series?dataset=market_activity",
        ),
        (
            "missing_parameter",
            "/v1/rates/series?dataset=mortgage_swap_spread",
        ),
        (
            "unknown_parameter",
            "/v1/rates/series?dataset=bank_rate&colour=1",
        ),
        ("unknown_parameter", "/v1/rates/datasets?colour=1"),
        ("unknown_parameter", "/v1/markets/areas?colour=1"),
        ("unknown_parameter", "/v1/rates/releases/current?colour=1"),
        (
            "duplicate_parameter",
            "/v1/rates/datasets?release_id=a&release_id=a",
        ),
        (
            "invalid_parameter",
            "/v1/rates/coverage?dataset=bank_rate&metrics=none",
        ),
        (
            "unknown_area",
            "/v1/markets/series?dataset=market_activity&area=E06000001",
        ),
        (
            "unknown_node",
            "/v1/rates/series?dataset=ois_spot_curve&tenor_months=100000",
        ),
        (
            "release_not_found",
            "/v1/rates/datasets?release_id=rates-2020-01",
        ),
        ("cursor_not_accepted", "/v1/rates/coverage?cursor=abc"),
        ("invalid_cursor", "/v1/rates/series?cursor=abc"),
        (
            "cursor_with_selectors",
            "/v1/rates/series?cursor=abc&dataset=bank_rate",
        ),
    ] {
        let route = url.split('?').next().unwrap();
        assert_example(&document, "get", route, code, &demo.get(url));
    }
    let job = "/v3/valuation-jobs/{job_id}";
    let unknown = demo.get("/v3/valuation-jobs/0");
    assert_example(&document, "get", job, "job_not_found", &unknown);
}

#[test]
fn refusals_of_a_key_are_the_examples() {
    let plan = "requests_per_second = 1\nburst = 1\nconcurrency = 9\nmonthly_units = 0";
    let start = start().with_series();
    let poor = start.key_with_plan("poor", &["avm:value"], plan);
    let customer = start.key(&["avm:value"]);
    let reader = start.key(&["rates:read"]);
    let server = start.with(&["--no-demo"]).go();
    let document = document();
    let [poor, customer, reader, stranger] =
        [&*poor, &*customer, &*reader, "nobody"].map(|key| server.client(key));
    let value = "/v3/value";
    let post = |client: &Client, route: &str| client.post(route, &house());
    let assert_answer = |code, method, route, answer| {
        assert_example(&document, method, route, code, &answer);
    };
    for (client, code, route) in [
        (&stranger, "invalid_credential", value),
        (&reader, "scope_required", value),
        (&customer, "scope_required", "/v3/development-value"),
        (&poor, "monthly_valuation_quota_exceeded", value),
        (&poor, "rate_limited", value),
    ] {
        assert_example(&document, "post", route, code, &post(client, route));
    }
    for (client, route) in [
        (&reader, "/v3/releases/current"),
        (&reader, "/v1/markets/areas"),
        (&customer, "/v1/rates/datasets"),
    ] {
        assert_example(
            &document,
            "get",
            route,
            "scope_required",
            &client.get(route),
        );
    }
    assert_answer("method_not_allowed", "post", value, customer.get(value));
    let series = "/v1/rates/series";
    let posted = reader.post(series, &json!({}));
    assert_answer("method_not_allowed", "get", series, posted);
}
