//! Rents that are newer than the values that yields rest on.

use crate::common::client::Client;
use crate::v1_contract::response_body::{of_metric, points, redacted_body, text};
use crate::v1_contract::{both, sparse_releases};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn rental(client: &Client, dates: &str) -> Value {
    let query = format!(
        "/v1/markets/series?dataset=rental_market&area={}&release_id={}{dates}",
        sparse_releases::HOLED,
        sparse_releases::MARKETS
    );
    redacted_body(&client.get(&query))
}

/// Returns the yield of exactly this month.
fn of_month(client: &Client, month: &str) -> Value {
    let body = rental(client, &format!("&from={month}&to={month}"));
    of_metric(&body, "gross_yield_pct")["observations"][0].clone()
}

/// Returns the months of a yield's rent and value, their gap, and whether it mixes them.
fn inputs(gross: &Value) -> [Value; 4] {
    [
        "rental_observation_month",
        "capital_observation_month",
        "input_month_gap",
        "mixed_vintage",
    ]
    .map(|name| gross[name].clone())
}

#[test]
fn v1_vintage_gap_0_is_one_month_for_both() {
    let (_contract, client) = both();
    let gross = of_month(&client, "2020-03");
    let expected = json!(["2020-03", "2020-03", 0, false]);
    assert_eq!(json!(inputs(&gross)), expected);
    assert_eq!(gross["capital_period_end"], gross["rental_period_end"]);
}

#[test]
fn v1_vintage_gap_1_is_a_rent_one_month_newer() {
    let (_contract, client) = both();
    let gross = of_month(&client, "2020-04");
    let expected = json!(["2020-04", "2020-03", 1, true]);
    assert_eq!(json!(inputs(&gross)), expected);
    assert_eq!(gross["capital_period_end"], "2020-03-31");
    assert_eq!(gross["rental_period_end"], "2020-04-30");
}

#[test]
fn v1_vintage_gap_2_is_the_most() {
    let (_contract, client) = both();
    let expected = json!(["2020-05", "2020-03", 2, true]);
    assert_eq!(json!(inputs(&of_month(&client, "2020-05"))), expected);
    // A rent three months newer stands alone.
    let body = rental(&client, "&from=2020-06&to=2020-06");
    assert_eq!(
        points(of_metric(&body, "monthly_rent_gbp")),
        [("2020-06", 820.0)]
    );
    assert_eq!(points(of_metric(&body, "gross_yield_pct")), []);
}

#[test]
fn v1_vintage_capital_missing_leaves_the_rent_alone() {
    let (_contract, client) = both();
    let body = rental(&client, "&from=2020-02&to=2020-02");
    assert_eq!(
        points(of_metric(&body, "monthly_rent_gbp")),
        [("2020-02", 820.0)]
    );
    // The value of January is not carried forward, and so there is no yield.
    assert_eq!(points(of_metric(&body, "property_value_gbp")), []);
    assert_eq!(points(of_metric(&body, "gross_yield_pct")), []);
    insta::assert_json_snapshot!("capital_missing", body);
}

#[test]
fn v1_vintage_latest_of_a_group_may_be_of_different_months() {
    let (_contract, client) = both();
    let body = rental(&client, "");
    for (metric, month) in [
        ("monthly_rent_gbp", "2020-06"),
        ("gross_yield_pct", "2020-05"),
        ("property_value_gbp", "2020-03"),
    ] {
        assert_eq!(points(of_metric(&body, metric))[0].0, month);
    }
    insta::assert_json_snapshot!("latest", body);
}

#[test]
fn v1_vintage_every_yield_follows_from_its_disclosed_inputs() {
    let (_contract, client) = both();
    let areas = client.get("/v1/markets/areas").ok();
    let (mut gaps, mut alone) = (BTreeSet::new(), 0);
    for area in areas["areas"].as_array().unwrap() {
        for group in ["all", "1", "2", "3", "4_plus"] {
            let query = format!(
                "/v1/markets/series?dataset=rental_market&area={}&bedroom_group={group}&from=2015-01&page_size=5000",
                text(&area["code"])
            );
            let body = client.get(&query).ok();
            let of = |metric: &str| -> BTreeMap<String, f64> {
                let points = points(of_metric(&body, metric)).into_iter();
                points
                    .map(|(month, value)| (month.to_owned(), value))
                    .collect()
            };
            let (rents, values) = (of("monthly_rent_gbp"), of("property_value_gbp"));
            let yields = of_metric(&body, "gross_yield_pct")["observations"]
                .as_array()
                .unwrap();
            for gross in yields {
                let [rental, capital, gap, mixed] = inputs(gross);
                assert_eq!(gross["period"], rental);
                let months = |month: &Value| {
                    let (year, month) = text(month).split_once('-').unwrap();
                    12 * year.parse::<i64>().unwrap() + month.parse::<i64>().unwrap()
                };
                let apart = months(&rental) - months(&capital);
                assert!((0..=2).contains(&apart), "{gross}");
                assert_eq!(
                    (gap.as_i64(), mixed.as_bool()),
                    (Some(apart), Some(apart > 0))
                );
                gaps.insert(apart);
                let expected = 1200.0 * rents[text(&rental)] / values[text(&capital)];
                let value = gross["value"].as_f64().unwrap();
                assert!((value - expected).abs() < 1e-9, "{gross} {expected}");
            }
            alone += rents.len() - yields.len();
        }
    }
    assert!(gaps.into_iter().eq([0, 1, 2]));
    assert!(alone > 0, "no rent of the demo stands without a value");
}
