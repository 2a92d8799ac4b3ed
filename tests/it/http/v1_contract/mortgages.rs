//! Mortgage benchmarks and spreads, and their products.

use crate::v1_contract::rates::assert_row;
use crate::v1_contract::{
    assert_refused, both, computed_releases, fixture_rates, observations, points, rates, series,
};
use serde_json::{Value, json};

const FIXED: [&str; 14] = [
    "owner_occupied_fixed_2y_60ltv",
    "owner_occupied_fixed_2y_75ltv",
    "owner_occupied_fixed_2y_85ltv",
    "owner_occupied_fixed_2y_90ltv",
    "owner_occupied_fixed_2y_95ltv",
    "owner_occupied_fixed_3y_75ltv",
    "owner_occupied_fixed_5y_60ltv",
    "owner_occupied_fixed_5y_75ltv",
    "owner_occupied_fixed_5y_90ltv",
    "owner_occupied_fixed_10y_75ltv",
    "btl_fixed_2y_60ltv",
    "btl_fixed_2y_75ltv",
    "btl_fixed_5y_60ltv",
    "btl_fixed_5y_75ltv",
];
const VARIABLE: &str = "owner_occupied_variable_2y_75ltv";
const REVERSION: &str = "mortgage_reversion";

/// The datasets that take fixed products alone.
const OF_FIXED: [&str; 2] = ["mortgage_swap_spread", "mortgage_spread_summary"];

const PRODUCT: &str = "mortgage_product=owner_occupied_fixed_2y_75ltv";
const SUMMARY: [&str; 3] = ["latest_spread_bp", "mean_spread_bp", "median_spread_bp"];
const DERIVED: [&str; 2] = ["basis_points", "derived"];

#[test]
fn v1_parameters_benchmarks_need_a_product() {
    let (_contract, client) = both();
    let query = ["dataset=mortgage_benchmarks", PRODUCT];
    assert_row(&client, &query, &[], &["rate_pct"], ["percent", "observed"]);
}

#[test]
fn v1_parameters_swap_spread_needs_a_fixed_product() {
    let (_contract, client) = both();
    let query = ["dataset=mortgage_swap_spread", PRODUCT];
    assert_row(&client, &query, &[], &["spread_bp"], DERIVED);
}

#[test]
fn v1_parameters_reversion_spread_takes_no_product() {
    let (_contract, client) = both();
    let query = ["dataset=mortgage_reversion_spread"];
    assert_row(&client, &query, &[], &["spread_bp"], DERIVED);
}

#[test]
fn v1_parameters_spread_summary_needs_a_fixed_product() {
    let (_contract, client) = both();
    let query = ["dataset=mortgage_spread_summary", PRODUCT];
    assert_row(&client, &query, &[], &SUMMARY, DERIVED);
}

#[test]
fn v1_rates_4_a_spread_is_the_difference_of_its_rates_in_basis_points() {
    let (_contract, client) = both();
    let query = format!("dataset=mortgage_swap_spread&{PRODUCT}&from=2026-01&to=2026-06");
    let spreads = rates(&client, &query);
    let [spreads] = series(&spreads) else {
        panic!("not one series: {spreads}");
    };
    assert_eq!(observations(spreads).len(), 6, "{spreads}");
    for spread in observations(spreads) {
        let month = spread["period"].as_str().unwrap();
        assert_eq!(spread["reference_basis"], "ois_par_swap_2y");
        let date = spread["matched_swap_as_of_date"].as_str().unwrap();
        assert_eq!(date[..7], *month);
        let benchmark = format!("dataset=mortgage_benchmarks&{PRODUCT}&from={month}&to={month}");
        let mortgage = points(&rates(&client, &benchmark))[0].1;
        let swap = format!("dataset=indicative_swap_rates&term_years=2&from={date}&to={date}");
        let swap = points(&rates(&client, &swap))[0].1;
        let expected = (mortgage - swap) * 100.0;
        let value = spread["value"].as_f64().unwrap();
        // The spread is rounded to six places.
        assert!((value - expected).abs() < 0.501e-6, "{value} {expected}");
        assert_eq!(format!("{value:.6}").parse(), Ok(value));
    }
    // A build computes 6.77 against 3.75, and 3.6 against 3.75.
    let release = computed_releases::RATES;
    let query = format!("dataset=mortgage_reversion_spread&from=2026-01&release_id={release}");
    let path = format!("/v1/rates/series?{query}");
    let answer = client.get(&path);
    assert_eq!(
        points(&answer.ok()),
        [("2026-01", 302.0), ("2026-02", -15.0)]
    );
}

#[test]
fn v1_rates_4_negative_and_zero_spreads_stand_as_they_are() {
    let (_contract, client) = both();
    let answer = fixture_rates(
        &client,
        &format!("dataset=mortgage_swap_spread&{PRODUCT}&from=2025-10"),
    );
    assert_eq!(points(&answer), [("2025-10", 0.0), ("2025-12", -12.5)]);
}

/// Returns the spreads of the demo's last months before the summary's, and the summary's values.
fn summary() -> (Vec<(String, f64)>, Value) {
    let (_contract, client) = both();
    let summary = rates(
        &client,
        &format!("dataset=mortgage_spread_summary&{PRODUCT}"),
    );
    let spreads = rates(
        &client,
        &format!("dataset=mortgage_swap_spread&{PRODUCT}&from=2024-01"),
    );
    let spreads = points(&spreads);
    let owned = spreads
        .into_iter()
        .map(|(month, value)| (month.to_owned(), value));
    (owned.collect(), summary)
}

#[test]
fn v1_rates_5_a_summary_is_of_the_final_month_and_no_earlier_one_is_made() {
    let (spreads, summary) = summary();
    let (last, spread) = spreads.last().unwrap();
    let value = |at: usize| &observations(&series(&summary)[at])[0];
    for (at, metric) in SUMMARY.iter().enumerate() {
        assert_eq!(series(&summary)[at]["metric"], *metric);
        assert_eq!(
            series(&summary)[at]["history_capability"],
            "latest_summary_per_release"
        );
        assert_eq!(value(at)["period"], last.as_str());
    }
    assert_eq!(value(0)["value"].as_f64().unwrap(), *spread);
    let (_contract, client) = both();
    let query = format!("dataset=mortgage_spread_summary&{PRODUCT}&to=2026-07");
    for series in series(&rates(&client, &query)) {
        assert_eq!(observations(series), &[] as &[Value]);
        assert_eq!(series["availability"]["to"], last.as_str());
    }
}

#[test]
fn v1_limits_2_a_summary_is_of_the_last_twelve_spreads() {
    let (spreads, summary) = summary();
    let mut last: Vec<f64> = spreads
        .iter()
        .rev()
        .take(12)
        .map(|(_, value)| *value)
        .collect();
    let value = |at: usize| {
        observations(&series(&summary)[at])[0]["value"]
            .as_f64()
            .unwrap()
    };
    let mean = last.iter().sum::<f64>() / 12.0;
    // Both are rounded to six places.
    assert!((value(1) - mean).abs() < 0.501e-6);
    last.sort_by(f64::total_cmp);
    assert!((value(2) - f64::midpoint(last[5], last[6])).abs() < 0.501e-6);
}

#[test]
fn v1_rates_6_mortgage_datasets_are_monthly_and_state_their_period() {
    let (_contract, client) = both();
    for query in [
        format!("dataset=mortgage_benchmarks&{PRODUCT}"),
        format!("dataset=mortgage_swap_spread&{PRODUCT}"),
        "dataset=mortgage_reversion_spread".to_owned(),
        format!("dataset=mortgage_spread_summary&{PRODUCT}"),
    ] {
        for series in series(&rates(&client, &query)) {
            assert_eq!(series["frequency"], "monthly");
            assert_eq!(observations(series)[0]["period"], "2026-08");
        }
    }
}

#[test]
fn v1_rates_7_mortgage_datasets_take_no_area_type_tenor_or_scenario() {
    let (_contract, client) = both();
    for dataset in [
        "mortgage_benchmarks",
        "mortgage_swap_spread",
        "mortgage_spread_summary",
    ] {
        for name in [
            "area",
            "property_type",
            "tenor_months",
            "scenario",
            "term_years",
        ] {
            let path = format!("/v1/rates/series?dataset={dataset}&{PRODUCT}&{name}=1");
            assert_refused(&client.get(&path), 400, "unknown_parameter", name);
        }
    }
}

#[test]
fn v1_product_fixed_is_taken_by_benchmarks_spreads_and_summaries() {
    let (_contract, client) = both();
    for product in FIXED {
        for dataset in ["mortgage_benchmarks", OF_FIXED[0], OF_FIXED[1]] {
            let query = format!("dataset={dataset}&mortgage_product={product}");
            let answer = rates(&client, &query);
            assert_eq!(answer["selection"]["mortgage_product"], product);
            let dimensions = &series(&answer)[0]["dimensions"];
            let [term, loan] = [1, 0].map(|back| {
                let part = product.rsplit('_').nth(back).unwrap();
                let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
                digits.parse::<u64>().unwrap()
            });
            assert_eq!(*dimensions, json!({"term_years": term, "ltv_pct": loan}));
        }
    }
}

/// Asserts that a product has benchmarks, no term, and neither spreads nor summaries.
#[track_caller]
fn assert_benchmark_alone(product: &str, dimensions: &Value) {
    let (_contract, client) = both();
    let query = format!("mortgage_product={product}");
    let answer = rates(&client, &format!("dataset=mortgage_benchmarks&{query}"));
    assert_eq!(points(&answer).len(), 1);
    assert_eq!(series(&answer)[0]["dimensions"], *dimensions);
    for dataset in OF_FIXED {
        let path = format!("/v1/rates/series?dataset={dataset}&{query}");
        assert_refused(
            &client.get(&path),
            422,
            "invalid_parameter",
            "mortgage_product",
        );
    }
}

#[test]
fn v1_product_variable_is_taken_by_benchmarks_alone_and_has_no_fixed_term() {
    assert_benchmark_alone(VARIABLE, &json!({"ltv_pct": 75}));
}

#[test]
fn v1_product_reversion_is_taken_by_benchmarks_alone_and_has_no_fixed_term() {
    assert_benchmark_alone(REVERSION, &json!({}));
}

#[test]
fn v1_product_others_are_refused_and_ltv_is_unknown() {
    let (_contract, client) = both();
    let path = "/v1/rates/series?dataset=mortgage_benchmarks";
    for product in [
        "owner_occupied_fixed_3y_60ltv",
        "btl_variable_2y_75ltv",
        "OWNER_OCCUPIED_FIXED_2Y_75LTV",
        "owner_occupied_fixed_2y_75ltv,btl_fixed_2y_60ltv",
        "",
    ] {
        let answer = client.get(&format!("{path}&mortgage_product={product}"));
        assert_refused(&answer, 422, "invalid_parameter", "mortgage_product");
    }
    for name in ["ltv", "ltv_pct"] {
        let answer = client.get(&format!("{path}&{PRODUCT}&{name}=75"));
        assert_refused(&answer, 400, "unknown_parameter", name);
    }
}

#[test]
fn v1_product_gaps_are_months_without_observations() {
    let (_contract, client) = both();
    let query = format!("dataset=mortgage_benchmarks&{PRODUCT}");
    let november = fixture_rates(&client, &format!("{query}&from=2025-11&to=2025-11"));
    assert_eq!(points(&november), []);
    let all = fixture_rates(&client, &format!("{query}&from=2025-10"));
    assert_eq!(points(&all), [("2025-10", 4.4), ("2025-12", 4.1)]);
}
