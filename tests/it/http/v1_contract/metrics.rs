//! The metrics that occur, each with its unit in its dataset.

use crate::v1_contract::both;
use crate::v1_contract::shown::of_metric;
use serde_json::json;

const AREA: &str = "&area=E06990001";
const PRODUCT: &str = "&mortgage_product=owner_occupied_fixed_5y_75ltv";

/// That a dataset lists this metric with this unit, and answers a series of it alone where it is
/// asked for.
#[track_caller]
fn occurs(metric: &str, unit: &str, family: &str, dataset: &str, selectors: &str) {
    let (_contract, client) = both();
    let catalogue = client.get(&format!("/v1/{family}/datasets")).ok();
    let mut entries = catalogue["datasets"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["dataset"] == dataset).unwrap();
    let listed = entry["metrics"].as_array().unwrap();
    assert!(
        listed.contains(&json!({"metric": metric, "unit": unit})),
        "{entry}"
    );
    let asked = format!("/v1/{family}/series?dataset={dataset}{selectors}&metrics={metric}");
    let body = client.get(&asked).ok();
    let series = of_metric(&body, metric);
    assert_eq!(series["unit"], unit);
    assert!(series["observations"][0]["value"].is_number(), "{series}");
    let all = body["series"].as_array().unwrap();
    assert!(all.iter().all(|one| one["metric"] == metric));
}

#[track_caller]
fn activity(metric: &str, unit: &str) {
    occurs(metric, unit, "markets", "market_activity", AREA);
}

#[track_caller]
fn rental(metric: &str, unit: &str) {
    occurs(metric, unit, "markets", "rental_market", AREA);
}

#[track_caller]
fn summary(metric: &str) {
    occurs(
        metric,
        "basis_points",
        "rates",
        "mortgage_spread_summary",
        PRODUCT,
    );
}

#[test]
fn v1_metric_price_per_sqm_gbp_occurs() {
    activity("price_per_sqm_gbp", "GBP/m2");
}

#[test]
fn v1_metric_sales_count_occurs() {
    activity("sales_count", "sales");
}

#[test]
fn v1_metric_sales_share_pct_occurs() {
    activity("sales_share_pct", "percent");
}

#[test]
fn v1_metric_sales_value_gbp_occurs() {
    activity("sales_value_gbp", "GBP");
}

#[test]
fn v1_metric_sales_value_per_km2_gbp_occurs() {
    activity("sales_value_per_km2_gbp", "GBP/km2");
}

#[test]
fn v1_metric_gross_yield_pct_occurs() {
    rental("gross_yield_pct", "percent");
}

#[test]
fn v1_metric_monthly_rent_gbp_occurs() {
    rental("monthly_rent_gbp", "GBP/month");
}

#[test]
fn v1_metric_property_value_gbp_occurs() {
    rental("property_value_gbp", "GBP");
}

#[test]
fn v1_metric_rate_pct_occurs_in_every_dataset_of_rates_in_percent() {
    let scenario = "&scenario=market_implied&horizon_to_month=0";
    for (dataset, selectors) in [
        ("bank_rate", ""),
        ("sonia_overnight", ""),
        ("ois_spot_curve", "&tenor_months=60"),
        ("ois_forward_curve", "&tenor_months=60"),
        ("nominal_gilt_spot_curve", "&tenor_months=60"),
        ("nominal_gilt_forward_curve", "&tenor_months=60"),
        ("real_gilt_spot_curve", "&tenor_months=60"),
        ("real_gilt_forward_curve", "&tenor_months=60"),
        ("market_implied_inflation", "&tenor_months=60"),
        ("market_implied_inflation_forward", "&tenor_months=60"),
        ("indicative_swap_rates", "&term_years=5"),
        (
            "forward_starting_swap_rates",
            "&term_years=5&horizon_to_month=0",
        ),
        ("mortgage_benchmarks", PRODUCT),
        ("sonia_forward_path", "&horizon_to_month=0"),
        ("bank_rate_scenarios", scenario),
        ("btl_refinancing_scenarios", scenario),
        ("mortgage_reversion_scenarios", scenario),
        ("financing_stress_scenarios", scenario),
    ] {
        occurs("rate_pct", "percent", "rates", dataset, selectors);
    }
}

#[test]
fn v1_metric_index_value_occurs() {
    occurs(
        "index_value",
        "index",
        "rates",
        "sonia_compounded_index",
        "",
    );
}

#[test]
fn v1_metric_spread_bp_occurs_in_both_spreads() {
    occurs(
        "spread_bp",
        "basis_points",
        "rates",
        "mortgage_swap_spread",
        PRODUCT,
    );
    occurs(
        "spread_bp",
        "basis_points",
        "rates",
        "mortgage_reversion_spread",
        "",
    );
}

#[test]
fn v1_metric_latest_spread_bp_occurs() {
    summary("latest_spread_bp");
}

#[test]
fn v1_metric_mean_spread_bp_occurs() {
    summary("mean_spread_bp");
}

#[test]
fn v1_metric_median_spread_bp_occurs() {
    summary("median_spread_bp");
}
