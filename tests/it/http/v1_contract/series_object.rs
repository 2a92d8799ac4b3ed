//! The members of a series, one by one.

use crate::common::client::Client;
use crate::v1_contract::response_body::{of_metric, points};
use crate::v1_contract::{both, sparse_releases};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A query of each dataset whose series differ in some member.
const MARKETS: [&str; 7] = [
    "market_activity&area=E06990001",
    "price_bands&area=E06990001&price_band=200k_to_250k",
    "rental_market&area=E06990001",
    "new_build_price_differential&area=E06990001&metrics=price_differential_pct,new_build_sales_count",
    "new_build_deliveries&area=E06990001",
    "new_build_sales_share&area=E06990001",
    "development_deliveries&area=E06990001",
];
const RATES: [&str; 7] = [
    "bank_rate",
    "ois_spot_curve&tenor_months=60",
    "forward_starting_swap_rates&term_years=5&horizon_from_month=24&horizon_to_month=24",
    "mortgage_benchmarks&mortgage_product=owner_occupied_fixed_5y_75ltv",
    "mortgage_swap_spread&mortgage_product=owner_occupied_fixed_5y_75ltv",
    "mortgage_spread_summary&mortgage_product=owner_occupied_fixed_5y_75ltv",
    "bank_rate_scenarios&scenario=stress&horizon_to_month=0",
];

fn markets(client: &Client, query: &str) -> Value {
    client
        .get(&format!("/v1/markets/series?dataset={query}"))
        .ok()
}

fn rates(client: &Client, query: &str) -> Value {
    client
        .get(&format!("/v1/rates/series?dataset={query}"))
        .ok()
}

/// Returns the answers to all queries of both lists.
fn everything(client: &Client) -> Vec<Value> {
    let markets = MARKETS.iter().map(|query| markets(client, query));
    let rates = RATES.iter().map(|query| rates(client, query));
    markets.chain(rates).collect()
}

/// Returns a member of every series of all answers.
fn every(client: &Client, member: &str) -> Vec<Value> {
    let answers = everything(client);
    let series = answers
        .iter()
        .flat_map(|body| body["series"].as_array().unwrap());
    series.map(|one| one[member].clone()).collect()
}

fn words(values: &[Value]) -> BTreeSet<&str> {
    values.iter().map(|value| value.as_str().unwrap()).collect()
}

#[test]
fn v1_series_basis_is_one_of_six_words() {
    let (_contract, client) = both();
    let six = [
        "derived",
        "estimated",
        "indicative",
        "observed",
        "recorded_revisable",
        "scenario",
    ];
    assert!(words(&every(&client, "basis")).into_iter().eq(six));
    for (query, basis) in [
        (RATES[0], "observed"),
        (RATES[1], "indicative"),
        (RATES[3], "observed"),
        (RATES[4], "derived"),
        (RATES[6], "scenario"),
    ] {
        assert_eq!(
            rates(&client, query)["series"][0]["basis"],
            basis,
            "{query}"
        );
    }
    let activity = markets(&client, MARKETS[0]);
    assert_eq!(
        of_metric(&activity, "price_per_sqm_gbp")["basis"],
        "estimated"
    );
    assert_eq!(
        of_metric(&activity, "sales_count")["basis"],
        "recorded_revisable"
    );
}

#[test]
fn v1_series_frequency_is_monthly_or_daily() {
    let (_contract, client) = both();
    for query in MARKETS {
        assert_eq!(markets(&client, query)["series"][0]["frequency"], "monthly");
    }
    for (at, query) in RATES.iter().enumerate() {
        let expected = if (3..6).contains(&at) {
            "monthly"
        } else {
            "daily"
        };
        assert_eq!(rates(&client, query)["series"][0]["frequency"], expected);
    }
}

#[test]
fn v1_series_metric_is_the_metrics_id() {
    let (_contract, client) = both();
    let summary = rates(&client, RATES[5]);
    let series = summary["series"].as_array().unwrap().iter();
    let metrics: Vec<&Value> = series.map(|one| &one["metric"]).collect();
    assert_eq!(
        metrics,
        ["latest_spread_bp", "mean_spread_bp", "median_spread_bp"]
    );
}

#[test]
fn v1_series_unit_is_that_of_the_metric() {
    let (_contract, client) = both();
    for body in everything(&client) {
        let dataset = body["dataset"].as_str().unwrap();
        let family = if MARKETS.iter().any(|query| query.starts_with(dataset)) {
            "markets"
        } else {
            "rates"
        };
        let catalogue = client.get(&format!("/v1/{family}/datasets")).ok();
        let mut entries = catalogue["datasets"].as_array().unwrap().iter();
        let entry = entries.find(|entry| entry["dataset"] == dataset).unwrap();
        for series in body["series"].as_array().unwrap() {
            let pair = json!({"metric": series["metric"], "unit": series["unit"]});
            assert!(
                entry["metrics"].as_array().unwrap().contains(&pair),
                "{pair}"
            );
        }
    }
}

#[test]
fn v1_series_window_months_is_a_length_or_null_and_of_markets_alone() {
    let (_contract, client) = both();
    for (query, months) in [(0, 12), (1, 12), (3, 36), (4, 12), (5, 12), (6, 12)] {
        let body = markets(&client, MARKETS[query]);
        for series in body["series"].as_array().unwrap() {
            assert_eq!(series["window_months"], months, "{series}");
        }
    }
    let rental = markets(&client, MARKETS[2]);
    assert_eq!(
        of_metric(&rental, "property_value_gbp")["window_months"],
        24
    );
    assert_eq!(of_metric(&rental, "monthly_rent_gbp")["window_months"], 1);
    let gross = of_metric(&rental, "gross_yield_pct");
    assert_eq!(gross.get("window_months"), Some(&Value::Null));
    for query in RATES {
        assert_eq!(
            rates(&client, query)["series"][0].get("window_months"),
            None
        );
    }
}

#[test]
fn v1_series_windows_of_a_yield_are_two() {
    let (_contract, client) = both();
    let rental = markets(&client, MARKETS[2]);
    let gross = of_metric(&rental, "gross_yield_pct");
    assert_eq!(gross["capital_window_months"], 24);
    assert_eq!(gross["rental_window_months"], 1);
    for metric in ["property_value_gbp", "monthly_rent_gbp"] {
        let other = of_metric(&rental, metric);
        assert_eq!(other.get("capital_window_months"), None);
        assert_eq!(other.get("rental_window_months"), None);
    }
}

#[test]
fn v1_series_history_capability_is_one_of_three_words() {
    let (_contract, client) = both();
    for body in everything(&client) {
        let expected = match body["dataset"].as_str().unwrap() {
            "mortgage_spread_summary" => "latest_summary_per_release",
            "bank_rate_scenarios" => "saved_snapshot_only",
            _ => "retained_observations",
        };
        for series in body["series"].as_array().unwrap() {
            assert_eq!(series["history_capability"], expected);
        }
    }
}

#[test]
fn v1_series_series_id_is_one_series_own_and_stays() {
    let (_contract, client) = both();
    let ids = every(&client, "series_id");
    assert_eq!(words(&ids).len(), ids.len());
    // Coverage and a query of other dates know the same series by it.
    let id = &rates(&client, RATES[1])["series"][0]["series_id"];
    assert_eq!(
        &rates(&client, &format!("{}&from=2026-09-30", RATES[1]))["series"][0]["series_id"],
        id
    );
    let coverage = client
        .get(&format!("/v1/rates/coverage?dataset={}", RATES[1]))
        .ok();
    assert_eq!(&coverage["series"][0]["series_id"], id);
    // Another release knows it by the same id.
    let other = rates(
        &client,
        &format!("{}&release_id={}", RATES[1], sparse_releases::RATES),
    );
    assert_eq!(&other["series"][0]["series_id"], id);
}

#[test]
fn v1_series_dimensions_are_numbers_or_none() {
    let (_contract, client) = both();
    for (query, expected) in [
        (0, json!({})),
        (1, json!({"tenor_months": 60})),
        (2, json!({"term_years": 5, "horizon_month": 24})),
        (3, json!({"term_years": 5, "ltv_pct": 75})),
        (6, json!({"horizon_month": 0})),
    ] {
        assert_eq!(
            rates(&client, RATES[query])["series"][0]["dimensions"],
            expected
        );
    }
    for (product, expected) in [
        ("owner_occupied_variable_2y_75ltv", json!({"ltv_pct": 75})),
        ("mortgage_reversion", json!({})),
    ] {
        let query = format!("mortgage_benchmarks&mortgage_product={product}");
        let body = rates(&client, &query);
        assert_eq!(body["series"][0]["dimensions"], expected);
    }
    for query in MARKETS {
        assert_eq!(
            markets(&client, query)["series"][0]["dimensions"],
            json!({})
        );
    }
}

#[test]
fn v1_series_availability_is_a_status_and_the_first_and_last_period() {
    let (_contract, client) = both();
    let all = rates(&client, "bank_rate&from=2000-01-01&page_size=5000");
    let series = &all["series"][0];
    let periods = points(series);
    let (first, last) = (periods.first().unwrap().0, periods.last().unwrap().0);
    let expected = json!({"status": "available", "from": first, "to": last});
    assert_eq!(series["availability"], expected);
    // The dates asked for change nothing of it.
    let latest = rates(&client, "bank_rate");
    assert_eq!(latest["series"][0]["availability"], expected);
    let months = markets(
        &client,
        "market_activity&area=E06990001&from=2020-01&metrics=sales_count",
    );
    let availability = &months["series"][0]["availability"];
    assert_eq!(
        availability["to"],
        points(&months["series"][0]).last().unwrap().0
    );
    assert_eq!(
        availability["from"].as_str().unwrap().len(),
        "2020-01".len()
    );
}

#[test]
fn v1_series_observations_are_a_list_that_may_be_empty() {
    let (_contract, client) = both();
    let some = rates(&client, "bank_rate&from=2026-09-28");
    assert_eq!(
        some["series"][0]["observations"].as_array().unwrap().len(),
        3
    );
    let none = rates(&client, "bank_rate&from=2026-09-26&to=2026-09-27");
    assert_eq!(none["series"][0]["observations"], json!([]));
}
