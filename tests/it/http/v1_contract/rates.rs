//! Datasets of references, curves and swaps: their parameters, metrics and rules.

use crate::common::client::Client;
use crate::v1_contract::{
    assert_refused, both, fixture_rates, names, observations, points, rates, series,
};
use serde_json::{Value, json};

const COMMON: [&str; 6] = ["from", "to", "metrics", "release_id", "page_size", "cursor"];

/// Every selector of rates, with a value that some dataset takes.
const SELECTORS: [&str; 8] = [
    "tenor_months=60",
    "term_years=5",
    "horizon_from_month=24",
    "horizon_to_month=24",
    "scenario=stress",
    "mortgage_product=btl_fixed_2y_60ltv",
    "area=E06990001",
    "property_type=flat",
];

/// Asserts the entry of a dataset in the catalogue and in an answer: its parameters besides the
/// common ones, its metrics, unit and basis. No other selector is accepted.
#[track_caller]
pub fn assert_row(
    client: &Client,
    query: &[&str],
    optional: &[&str],
    metrics: &[&str],
    kind: [&str; 2],
) {
    let [unit, basis] = kind;
    let name = |pair: &&str| pair.split('=').next().unwrap().to_owned();
    let dataset = query[0].split('=').nth(1).unwrap();
    let catalogue = client.get("/v1/rates/datasets").ok();
    let entries = catalogue["datasets"].as_array().unwrap();
    let entry = entries
        .iter()
        .find(|entry| entry["dataset"] == dataset)
        .unwrap();
    let required: Vec<String> = query.iter().map(name).collect();
    assert_eq!(entry["required"], json!(required));
    let taken = optional.iter().chain(&COMMON).collect::<Vec<_>>();
    assert_eq!(entry["optional"], json!(taken));
    let expected: Vec<Value> = metrics
        .iter()
        .map(|metric| json!({"metric": metric, "unit": unit}))
        .collect();
    assert_eq!(entry["metrics"], json!(expected));
    let query = query.join("&");
    let answer = rates(client, &query);
    for (series, metric) in series(&answer).iter().zip(metrics.iter().cycle()) {
        assert_eq!(series["metric"], *metric);
        assert_eq!(
            (&series["unit"], &series["basis"]),
            (&json!(unit), &json!(basis))
        );
    }
    for selector in SELECTORS {
        let parameter = name(&selector);
        if !optional.contains(&parameter.as_str()) && !required.contains(&parameter) {
            let answer = client.get(&format!("/v1/rates/series?{query}&{selector}"));
            assert_refused(&answer, 400, "unknown_parameter", &parameter);
        }
    }
}

const OBSERVED: [&str; 2] = ["percent", "observed"];
const INDICATIVE: [&str; 2] = ["percent", "indicative"];

#[test]
fn v1_parameters_bank_rate_are_the_common_ones() {
    let (_contract, client) = both();
    assert_row(
        &client,
        &["dataset=bank_rate"],
        &[],
        &["rate_pct"],
        OBSERVED,
    );
}

#[test]
fn v1_parameters_sonia_overnight_are_the_common_ones() {
    let (_contract, client) = both();
    assert_row(
        &client,
        &["dataset=sonia_overnight"],
        &[],
        &["rate_pct"],
        OBSERVED,
    );
}

#[test]
fn v1_parameters_sonia_compounded_index_are_the_common_ones() {
    let (_contract, client) = both();
    let kind = ["index", "observed"];
    assert_row(
        &client,
        &["dataset=sonia_compounded_index"],
        &[],
        &["index_value"],
        kind,
    );
}

#[test]
fn v1_parameters_curves_are_one_maturity_and_the_common_ones() {
    let (_contract, client) = both();
    for dataset in [
        "ois_spot_curve",
        "ois_forward_curve",
        "nominal_gilt_spot_curve",
        "nominal_gilt_forward_curve",
        "real_gilt_spot_curve",
        "real_gilt_forward_curve",
        "market_implied_inflation",
        "market_implied_inflation_forward",
    ] {
        let query = format!("dataset={dataset}");
        assert_row(
            &client,
            &[&query],
            &["tenor_months"],
            &["rate_pct"],
            INDICATIVE,
        );
        assert!(series(&rates(&client, &query)).len() > 50);
        let node = rates(&client, &format!("{query}&tenor_months=60"));
        assert_eq!(points(&node).len(), 1);
    }
}

/// Returns the values of a dimension of all series.
fn dimension(envelope: &Value, name: &str) -> Vec<u64> {
    let values = series(envelope).iter();
    let mut values: Vec<u64> = values
        .map(|series| series["dimensions"][name].as_u64().unwrap())
        .collect();
    values.dedup();
    values
}

/// Asserts that a query takes none of these terms.
#[track_caller]
fn assert_no_terms(client: &Client, query: &str, terms: &[u32]) {
    for term in terms {
        let path = format!("/v1/rates/series?{query}&term_years={term}");
        assert_refused(&client.get(&path), 422, "invalid_parameter", "term_years");
    }
}

#[test]
fn v1_parameters_indicative_swaps_are_one_of_nine_terms() {
    let (_contract, client) = both();
    let query = "dataset=indicative_swap_rates";
    assert_row(
        &client,
        &[query],
        &["term_years"],
        &["rate_pct"],
        INDICATIVE,
    );
    let terms = [1, 2, 3, 5, 7, 10, 15, 20, 25];
    assert_eq!(dimension(&rates(&client, query), "term_years"), terms);
    for term in terms {
        let one = rates(&client, &format!("{query}&term_years={term}"));
        assert_eq!(dimension(&one, "term_years"), [term]);
    }
    assert_no_terms(&client, query, &[4, 30]);
}

#[test]
fn v1_parameters_forward_swaps_are_one_of_four_terms_and_horizons() {
    let (_contract, client) = both();
    let query = "dataset=forward_starting_swap_rates";
    let optional = ["term_years", "horizon_from_month", "horizon_to_month"];
    assert_row(&client, &[query], &optional, &["rate_pct"], INDICATIVE);
    for term in [2, 3, 5, 10] {
        let query = format!("{query}&term_years={term}&horizon_from_month=11&horizon_to_month=13");
        let answer = rates(&client, &query);
        assert_eq!(dimension(&answer, "term_years"), [term]);
        assert_eq!(dimension(&answer, "horizon_month"), [11, 12, 13]);
    }
    // Swaps that start at once have these terms.
    assert_no_terms(&client, query, &[1, 7, 25]);
}

#[test]
fn v1_rates_1_references_take_no_selector_and_have_no_row_for_days_without_one() {
    let (_contract, client) = both();
    for dataset in ["bank_rate", "sonia_overnight", "sonia_compounded_index"] {
        for selector in SELECTORS {
            let path = format!("/v1/rates/series?dataset={dataset}&{selector}");
            let name = selector.split('=').next().unwrap();
            assert_refused(&client.get(&path), 400, "unknown_parameter", name);
        }
        let latest = fixture_rates(&client, &format!("dataset={dataset}"));
        assert_eq!(points(&latest)[0].0, "2026-01-09");
        let week = fixture_rates(&client, &format!("dataset={dataset}&from=2026-01-05"));
        assert_eq!(points(&week).len(), 4);
    }
    // An unchanged value is stated for each of its days.
    let unchanged = fixture_rates(&client, "dataset=bank_rate&to=2026-01-06");
    assert_eq!(
        points(&unchanged),
        [("2026-01-05", 4.0), ("2026-01-06", 4.0)]
    );
    let index = fixture_rates(&client, "dataset=sonia_compounded_index");
    assert_eq!(points(&index), [("2026-01-09", 120.1505)]);
    assert_eq!(series(&index)[0]["unit"], "index");
}

#[test]
fn v1_rates_2_a_maturity_must_exist_in_the_release_and_nothing_is_interpolated() {
    let (_contract, client) = both();
    for (dataset, tenor) in [
        ("ois_spot_curve", "61"),
        ("ois_spot_curve", "0"),
        ("ois_spot_curve", "6000"),
        ("real_gilt_spot_curve", "1"),
    ] {
        let path = format!("/v1/rates/series?dataset={dataset}&tenor_months={tenor}");
        assert_refused(&client.get(&path), 422, "unknown_node", "tenor_months");
        let path = path.replace("series", "coverage");
        assert_refused(&client.get(&path), 422, "unknown_node", "tenor_months");
    }
    for tenor in ["60.0", "five", "-60", "060", "%2B60", ""] {
        let path = format!("/v1/rates/series?dataset=ois_spot_curve&tenor_months={tenor}");
        assert_refused(&client.get(&path), 422, "invalid_parameter", "tenor_months");
    }
}

#[test]
fn v1_rates_2_each_node_is_identified_and_says_how_it_compounds() {
    let (_contract, client) = both();
    let curve = rates(&client, "dataset=ois_spot_curve");
    let tenors = dimension(&curve, "tenor_months");
    assert!(tenors.is_sorted() && tenors.contains(&60));
    // The grid is not uniform.
    let steps: Vec<u64> = tenors.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.contains(&1) && steps.contains(&6), "{steps:?}");
    for series in series(&curve) {
        assert_eq!(series["frequency"], "daily");
        assert_eq!(names(&series["dimensions"]), ["tenor_months"]);
        let node = &observations(series)[0];
        assert_eq!(node["compounding"], "continuous");
        assert_eq!(node["day_count"], "ACT/365F");
        assert_eq!(node["interval_kind"], "spot");
        assert_eq!(node["interval_start_month"], 0);
        assert_eq!(
            node["interval_end_month"],
            series["dimensions"]["tenor_months"]
        );
    }
}

#[test]
fn v1_rates_3_a_forward_swap_is_its_duration_after_its_start() {
    let (_contract, client) = both();
    let surface = rates(
        &client,
        "dataset=forward_starting_swap_rates&page_size=5000",
    );
    assert_eq!(series(&surface).len(), 4 * 121);
    for series in series(&surface) {
        assert_eq!(
            names(&series["dimensions"]),
            ["horizon_month", "term_years"]
        );
        let (term, start) = (
            &series["dimensions"]["term_years"],
            &series["dimensions"]["horizon_month"],
        );
        let swap = &observations(series)[0];
        assert_eq!(swap["interval_start_month"], *start);
        let end = start.as_u64().unwrap() + 12 * term.as_u64().unwrap();
        assert_eq!(swap["interval_end_month"], end);
    }
    let page = rates(&client, "dataset=forward_starting_swap_rates&page_size=100");
    assert_eq!(series(&page).len(), 100);
    assert!(page["next_cursor"].is_string());
}
