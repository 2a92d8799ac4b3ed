//! The metrics that occur, each with its unit in its dataset.

use crate::v1_contract::both;
use crate::v1_contract::response_body::of_metric;
use serde_json::json;

const AREA: &str = "&area=E06990001";
const PRODUCT: &str = "&mortgage_product=owner_occupied_fixed_5y_75ltv";
const SCENARIO: &str = "&scenario=market_implied&horizon_to_month=0";

/// Asserts that a dataset lists this metric with this unit. A query for the metric returns its
/// series alone.
#[track_caller]
fn assert_occurs(metric: &str, unit: &str, family: &str, dataset: &str, selectors: &str) {
    let (_contract, client) = both();
    let catalogue = client.get(&format!("/v1/{family}/datasets")).ok();
    let mut entries = catalogue["datasets"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["dataset"] == dataset).unwrap();
    let listed = entry["metrics"].as_array().unwrap();
    assert!(
        listed.contains(&json!({"metric": metric, "unit": unit})),
        "{entry}"
    );
    let path = format!("/v1/{family}/series?dataset={dataset}{selectors}&metrics={metric}");
    let body = client.get(&path).ok();
    let series = of_metric(&body, metric);
    assert_eq!(series["unit"], unit);
    assert!(series["observations"][0]["value"].is_number(), "{series}");
    let all = body["series"].as_array().unwrap();
    assert!(all.iter().all(|one| one["metric"] == metric));
}

macro_rules! occurs {
    ($($name:ident: $metric:literal, $unit:literal, [$($family:literal $dataset:literal $selectors:expr),+ $(,)?];)*) => {$(
        #[test]
        fn $name() {
            $(assert_occurs($metric, $unit, $family, $dataset, $selectors);)+
        }
    )*};
}

occurs! {
    v1_metric_price_per_sqm_gbp_occurs:
        "price_per_sqm_gbp", "GBP/m2", ["markets" "market_activity" AREA];
    v1_metric_sales_count_occurs:
        "sales_count", "sales", ["markets" "market_activity" AREA];
    v1_metric_sales_share_pct_occurs:
        "sales_share_pct", "percent", ["markets" "market_activity" AREA];
    v1_metric_sales_value_gbp_occurs:
        "sales_value_gbp", "GBP", ["markets" "market_activity" AREA];
    v1_metric_sales_value_per_km2_gbp_occurs:
        "sales_value_per_km2_gbp", "GBP/km2", ["markets" "market_activity" AREA];
    v1_metric_gross_yield_pct_occurs:
        "gross_yield_pct", "percent", ["markets" "rental_market" AREA];
    v1_metric_monthly_rent_gbp_occurs:
        "monthly_rent_gbp", "GBP/month", ["markets" "rental_market" AREA];
    v1_metric_property_value_gbp_occurs:
        "property_value_gbp", "GBP", ["markets" "rental_market" AREA];
    v1_metric_rate_pct_occurs_in_every_dataset_of_rates_in_percent:
        "rate_pct", "percent", [
            "rates" "bank_rate" "",
            "rates" "sonia_overnight" "",
            "rates" "ois_spot_curve" "&tenor_months=60",
            "rates" "ois_forward_curve" "&tenor_months=60",
            "rates" "nominal_gilt_spot_curve" "&tenor_months=60",
            "rates" "nominal_gilt_forward_curve" "&tenor_months=60",
            "rates" "real_gilt_spot_curve" "&tenor_months=60",
            "rates" "real_gilt_forward_curve" "&tenor_months=60",
            "rates" "market_implied_inflation" "&tenor_months=60",
            "rates" "market_implied_inflation_forward" "&tenor_months=60",
            "rates" "indicative_swap_rates" "&term_years=5",
            "rates" "forward_starting_swap_rates" "&term_years=5&horizon_to_month=0",
            "rates" "mortgage_benchmarks" PRODUCT,
            "rates" "sonia_forward_path" "&horizon_to_month=0",
            "rates" "bank_rate_scenarios" SCENARIO,
            "rates" "btl_refinancing_scenarios" SCENARIO,
            "rates" "mortgage_reversion_scenarios" SCENARIO,
            "rates" "financing_stress_scenarios" SCENARIO,
        ];
    v1_metric_index_value_occurs:
        "index_value", "index", ["rates" "sonia_compounded_index" ""];
    v1_metric_spread_bp_occurs_in_both_spreads:
        "spread_bp", "basis_points", [
            "rates" "mortgage_swap_spread" PRODUCT,
            "rates" "mortgage_reversion_spread" "",
        ];
    v1_metric_latest_spread_bp_occurs:
        "latest_spread_bp", "basis_points", ["rates" "mortgage_spread_summary" PRODUCT];
    v1_metric_mean_spread_bp_occurs:
        "mean_spread_bp", "basis_points", ["rates" "mortgage_spread_summary" PRODUCT];
    v1_metric_median_spread_bp_occurs:
        "median_spread_bp", "basis_points", ["rates" "mortgage_spread_summary" PRODUCT];
}
