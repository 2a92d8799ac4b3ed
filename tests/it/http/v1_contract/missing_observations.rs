//! A missing observation is never zero, never filled, and never taken from another date.

use crate::common::client::Client;
use crate::v1_contract::response_body::{observations, of_metric, points, redacted_body};
use crate::v1_contract::{both, sparse_releases};
use serde_json::{Value, json};

/// Queries one of the sparse releases.
fn markets(client: &Client, query: &str) -> Value {
    let query = format!(
        "/v1/markets/series?dataset={query}&release_id={}",
        sparse_releases::MARKETS
    );
    redacted_body(&client.get(&query))
}

fn rates(client: &Client, query: &str) -> Value {
    let query = format!(
        "/v1/rates/series?dataset={query}&release_id={}",
        sparse_releases::RATES
    );
    redacted_body(&client.get(&query))
}

fn activity(client: &Client, query: &str) -> Value {
    markets(
        client,
        &format!("market_activity&area={}&{query}", sparse_releases::HOLED),
    )
}

/// Returns the first series of an answer.
fn first(body: &Value) -> &Value {
    &body["series"][0]
}

#[test]
fn v1_missing_day_is_empty_and_not_the_working_day_before() {
    let (_contract, client) = both();
    // A bank holiday and the weekend after it.
    for day in ["2020-05-08", "2020-05-09", "2020-05-10"] {
        let body = rates(&client, &format!("bank_rate&from={day}&to={day}"));
        assert_eq!(first(&body)["observations"], json!([]), "{day}");
        assert_eq!(first(&body)["availability"]["status"], "available");
        assert_eq!(body.get("notice"), None);
    }
    let around = rates(&client, "bank_rate&from=2020-05-07&to=2020-05-11");
    assert_eq!(
        points(first(&around)),
        [("2020-05-07", 0.1), ("2020-05-11", 0.1)]
    );
    // A day before it that has one does not stand in for the others either.
    let weekend = client.get("/v1/rates/series?dataset=bank_rate&from=2026-09-25&to=2026-09-28");
    let periods: Vec<_> = points(first(&weekend.ok()))
        .into_iter()
        .map(|(day, _)| day.to_owned())
        .collect();
    assert_eq!(periods, ["2026-09-25", "2026-09-28"]);
    insta::assert_json_snapshot!(
        "holiday",
        rates(&client, "bank_rate&from=2020-05-08&to=2020-05-08")
    );
}

#[test]
fn v1_missing_month_is_empty_and_not_the_month_before() {
    let (_contract, client) = both();
    let product = "mortgage_benchmarks&mortgage_product=owner_occupied_fixed_2y_75ltv";
    let body = rates(&client, &format!("{product}&from=2020-03&to=2020-03"));
    assert_eq!(first(&body)["observations"], json!([]));
    let body = rates(&client, &format!("{product}&from=2020-02&to=2020-04"));
    assert_eq!(points(first(&body)), [("2020-02", 1.45), ("2020-04", 1.5)]);
}

#[test]
fn v1_missing_node_at_the_latest_snapshot_is_not_taken_from_an_older_one() {
    let (_contract, client) = both();
    let curve = rates(&client, "ois_spot_curve");
    let nodes: Vec<_> = curve["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["dimensions"]["tenor_months"].clone(), points(one)))
        .collect();
    assert_eq!(
        nodes,
        [
            (json!(12), vec![]),
            (json!(24), vec![]),
            (json!(60), vec![("2020-05-29", -0.01)]),
        ]
    );
    // The snapshot is chosen before the node.
    for (node, last) in [(12, "2020-05-07"), (24, "2020-04-30")] {
        let body = rates(&client, &format!("ois_spot_curve&tenor_months={node}"));
        assert_eq!(first(&body)["observations"], json!([]), "{node}");
        assert_eq!(first(&body)["availability"]["to"], last);
        let older = rates(
            &client,
            &format!("ois_spot_curve&tenor_months={node}&from={last}"),
        );
        assert_eq!(points(first(&older)).len(), 1);
    }
    insta::assert_json_snapshot!(
        "missing_node",
        rates(&client, "ois_spot_curve&tenor_months=12")
    );
    // The short end of the demo's gilts lacks its first month on most days.
    let short = client
        .get("/v1/rates/series?dataset=nominal_gilt_spot_curve&tenor_months=1")
        .ok();
    assert_eq!(first(&short)["observations"], json!([]));
    assert_eq!(first(&short)["availability"]["to"], "2026-09-17");
}

#[test]
fn v1_missing_suppressed_values_are_absent_and_said_to_be_withheld() {
    let (_contract, client) = both();
    let area = format!("market_activity&area={}", sparse_releases::SUPPRESSED);
    for dates in ["", "&from=2020-01", "&from=2020-02&to=2020-02"] {
        let body = markets(&client, &format!("{area}{dates}"));
        for metric in ["price_per_sqm_gbp", "sales_value_gbp"] {
            let series = of_metric(&body, metric);
            assert_eq!(series["observations"], json!([]), "{metric} {dates}");
            let withheld = json!({"status": "suppressed", "from": null, "to": null});
            assert_eq!(series["availability"], withheld);
        }
        let counts = of_metric(&body, "sales_count");
        assert_eq!(counts["availability"]["status"], "available");
        assert!(!points(counts).is_empty());
    }
    insta::assert_json_snapshot!("suppressed", markets(&client, &area));
    // The builder says so too: too few newly built homes were sold there.
    let demo = "/v1/markets/series?dataset=new_build_price_differential&area=E06990001&property_type=detached";
    let body = client.get(demo).ok();
    assert_eq!(first(&body)["observations"], json!([]));
    assert_eq!(first(&body)["availability"]["status"], "suppressed");
}

#[test]
fn v1_missing_withheld_month_is_absent_within_a_series() {
    let (_contract, client) = both();
    let body = activity(&client, "from=2020-01&to=2020-03");
    assert_eq!(
        points(of_metric(&body, "price_per_sqm_gbp")),
        [("2020-01", 2500.5), ("2020-03", 2510.0)]
    );
    let body = activity(&client, "from=2020-02&to=2020-02");
    assert_eq!(points(of_metric(&body, "sales_count")), [("2020-02", 9.0)]);
    assert_eq!(points(of_metric(&body, "price_per_sqm_gbp")), []);
    // Each metric has its own latest period, and says which.
    let body = activity(&client, "property_type=detached");
    assert_eq!(points(of_metric(&body, "sales_count")), [("2020-03", 7.0)]);
    assert_eq!(
        points(of_metric(&body, "price_per_sqm_gbp")),
        [("2020-02", 2610.0)]
    );
}

#[test]
fn v1_missing_is_not_zero_and_a_true_zero_is() {
    let (_contract, client) = both();
    let body = activity(&client, "property_type=flat&from=2020-01");
    for metric in ["sales_count", "sales_value_gbp"] {
        let series = of_metric(&body, metric);
        assert_eq!(series["availability"]["status"], "available");
        assert_eq!(
            points(series),
            [("2020-01", 0.0), ("2020-02", 0.0), ("2020-03", 0.0)]
        );
    }
    assert_eq!(points(of_metric(&body, "price_per_sqm_gbp")), []);
    let spread = "mortgage_swap_spread&mortgage_product=owner_occupied_fixed_2y_75ltv";
    assert_eq!(points(first(&rates(&client, spread))), [("2020-04", 0.0)]);
    assert_eq!(
        points(first(&rates(&client, "bank_rate"))),
        [("2020-05-12", 0.0)]
    );
    insta::assert_json_snapshot!("zeros", activity(&client, "property_type=flat"));
    // No homes in developments: there are none of them, and no mean size of them.
    let built =
        "/v1/markets/series?dataset=development_deliveries&area=E06990001&from=2026-07&to=2026-07";
    let built = client.get(built).ok();
    assert_eq!(
        points(of_metric(&built, "developments_count")),
        [("2026-07", 0.0)]
    );
    assert_eq!(points(of_metric(&built, "homes_per_development")), []);
}

#[test]
fn v1_missing_series_are_not_available_or_not_listed() {
    let (_contract, client) = both();
    let unknown = format!("market_activity&area={}", sparse_releases::UNKNOWN);
    let body = markets(&client, &unknown);
    assert_eq!(body["series"].as_array().unwrap().len(), 1);
    let nothing = json!({"status": "not_available", "from": null, "to": null});
    assert_eq!(first(&body)["availability"], nothing);
    assert_eq!(first(&body)["observations"], json!([]));
    insta::assert_json_snapshot!("not_available", body);
    // A segment that the release has no series of is a successful empty selection.
    let body = markets(&client, &format!("{unknown}&property_type=flat"));
    assert_eq!(body["series"], json!([]));
    assert_eq!(body.get("notice"), None);
    let product = rates(
        &client,
        "mortgage_benchmarks&mortgage_product=btl_fixed_2y_60ltv",
    );
    assert_eq!(first(&product)["availability"], nothing);
}

#[test]
fn v1_missing_dataset_is_empty_with_a_notice_and_its_reason() {
    let (_contract, client) = both();
    let message = "The release holds no series of bank_rate_scenarios.";
    let reason = sparse_releases::REASON;
    // Dates change nothing: no range of the dataset has a history.
    for dates in ["", "&from=2020-01-01"] {
        let query = format!("bank_rate_scenarios&scenario=unchanged{dates}");
        let body = rates(&client, &query);
        assert_eq!(body["series"], json!([]), "{query}");
        let notice = json!({
            "code": "dataset_not_in_release",
            "message": format!("{message} {reason}"),
        });
        assert_eq!(body["notice"], notice, "{query}");
    }
    // A curve that the release lacks has no nodes that a maturity could be compared with.
    let body = rates(&client, "real_gilt_spot_curve&tenor_months=12");
    assert_eq!(body["series"], json!([]));
    assert_eq!(body["notice"]["code"], "dataset_not_in_release");
    // Without a recorded reason the notice stands alone.
    let absent = format!("new_build_deliveries&area={}", sparse_releases::HOLED);
    let body = markets(&client, &absent);
    assert_eq!(body["series"], json!([]));
    let notice = json!({
        "code": "dataset_not_in_release",
        "message": "The release holds no series of new_build_deliveries.",
    });
    assert_eq!(body["notice"], notice);
    // Coverage has no notice.
    let path = format!(
        "/v1/rates/coverage?dataset=bank_rate_scenarios&scenario=unchanged&release_id={}",
        sparse_releases::RATES
    );
    let coverage = client.get(&path).ok();
    assert_eq!(coverage["series"], json!([]));
    assert_eq!(coverage.get("notice"), None);
}

#[test]
fn v1_missing_part_of_a_range_gives_the_rest_and_a_notice() {
    let (_contract, client) = both();
    let late = rates(&client, "bank_rate&from=2020-05-11&to=2020-07-31");
    assert_eq!(
        points(first(&late)),
        [("2020-05-11", 0.1), ("2020-05-12", 0.0)]
    );
    assert_eq!(late["notice"]["code"], "range_exceeds_history");
    insta::assert_json_snapshot!("partial_range", late);
    for query in [
        "bank_rate&from=2020-04-01&to=2020-05-06",
        "bank_rate&to=2030-01-01",
        "bank_rate&from=2000-01-01",
    ] {
        let body = rates(&client, query);
        assert_eq!(body["notice"]["code"], "range_exceeds_history", "{query}");
        assert!(body["notice"]["message"].is_string());
        assert_ne!(observations(&body).count(), 0);
    }
    for query in [
        "bank_rate",
        "bank_rate&from=2020-05-06&to=2020-05-12",
        "bank_rate&from=2020-05-08&to=2020-05-10",
    ] {
        assert_eq!(rates(&client, query).get("notice"), None, "{query}");
    }
    let months = activity(&client, "from=2020-03&to=2020-04&metrics=sales_count");
    assert_eq!(points(first(&months)), [("2020-03", 11.0)]);
    assert_eq!(months["notice"]["code"], "range_exceeds_history");
}

#[test]
fn v1_missing_range_outside_of_history_is_empty_with_its_availability() {
    let (_contract, client) = both();
    let history = json!({"status": "available", "from": "2020-05-06", "to": "2020-05-12"});
    for dates in [
        "from=2021-01-01&to=2021-12-31",
        "from=2021-01-01",
        "to=2020-05-05",
        "from=1990-01-01&to=1990-01-01",
    ] {
        let body = rates(&client, &format!("bank_rate&{dates}"));
        assert_eq!(first(&body)["observations"], json!([]), "{dates}");
        assert_eq!(first(&body)["availability"], history);
        assert_eq!(body["notice"]["code"], "range_exceeds_history");
        assert_eq!(body["next_cursor"], Value::Null);
    }
    insta::assert_json_snapshot!(
        "outside_of_history",
        rates(&client, "bank_rate&from=2021-01-01")
    );
    // Of series that have no history, any range is past it.
    let body = markets(
        &client,
        &format!(
            "market_activity&area={}&from=2020-01",
            sparse_releases::UNKNOWN
        ),
    );
    assert_eq!(body["notice"]["code"], "range_exceeds_history");
}
