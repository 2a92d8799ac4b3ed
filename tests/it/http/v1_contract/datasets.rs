//! Every dataset answers: the latest of each as a whole.

use crate::v1_contract::both;
use crate::v1_contract::response_body::{observations, redacted_body};

/// Asserts that a query without dates returns an observation of every series. Nodes of curves and
/// horizons are narrowed to one.
#[track_caller]
fn assert_answers(family: &str, dataset: &str, selectors: &str) {
    let (_contract, client) = both();
    let path = format!("/v1/{family}/series?dataset={dataset}{selectors}");
    let body = redacted_body(&client.get(&path));
    assert_eq!(body["dataset"], dataset);
    assert!(
        body["release_id"]
            .as_str()
            .unwrap()
            .starts_with("synthetic-")
    );
    assert_ne!(observations(&body).count(), 0);
    let catalogue = client.get(&format!("/v1/{family}/datasets")).ok();
    let mut listed = catalogue["datasets"].as_array().unwrap().iter();
    assert!(listed.any(|entry| entry["dataset"] == dataset));
    insta::assert_json_snapshot!(dataset, body);
}

macro_rules! answers {
    ($($name:ident: $family:literal, $dataset:literal, $selectors:literal;)*) => {$(
        #[test]
        fn $name() {
            assert_answers($family, $dataset, $selectors);
        }
    )*};
}

answers! {
    v1_dataset_market_activity_answers: "markets", "market_activity", "&area=E06990001";
    v1_dataset_price_bands_answers:
        "markets", "price_bands", "&area=E06990001&price_band=200k_to_250k";
    v1_dataset_rental_market_answers: "markets", "rental_market", "&area=E06990001&bedroom_group=2";
    v1_dataset_new_build_price_differential_answers:
        "markets", "new_build_price_differential",
        "&area=E06990001&metrics=price_differential_pct,new_build_price_gbp,established_price_gbp,new_build_sales_count";
    v1_dataset_new_build_deliveries_answers: "markets", "new_build_deliveries", "&area=E06990001";
    v1_dataset_new_build_sales_share_answers:
        "markets", "new_build_sales_share",
        "&area=E06990001&metrics=new_build_share_pct,new_build_sales_count";
    v1_dataset_development_deliveries_answers:
        "markets", "development_deliveries", "&area=E06990001";
    v1_dataset_bank_rate_answers: "rates", "bank_rate", "";
    v1_dataset_sonia_overnight_answers: "rates", "sonia_overnight", "";
    v1_dataset_sonia_compounded_index_answers: "rates", "sonia_compounded_index", "";
    v1_dataset_ois_spot_curve_answers: "rates", "ois_spot_curve", "&tenor_months=60";
    v1_dataset_ois_forward_curve_answers: "rates", "ois_forward_curve", "&tenor_months=60";
    v1_dataset_nominal_gilt_spot_curve_answers:
        "rates", "nominal_gilt_spot_curve", "&tenor_months=60";
    v1_dataset_nominal_gilt_forward_curve_answers:
        "rates", "nominal_gilt_forward_curve", "&tenor_months=60";
    v1_dataset_real_gilt_spot_curve_answers: "rates", "real_gilt_spot_curve", "&tenor_months=60";
    v1_dataset_real_gilt_forward_curve_answers:
        "rates", "real_gilt_forward_curve", "&tenor_months=60";
    v1_dataset_market_implied_inflation_answers:
        "rates", "market_implied_inflation", "&tenor_months=60";
    v1_dataset_market_implied_inflation_forward_answers:
        "rates", "market_implied_inflation_forward", "&tenor_months=60";
    v1_dataset_indicative_swap_rates_answers: "rates", "indicative_swap_rates", "&term_years=5";
    v1_dataset_forward_starting_swap_rates_answers:
        "rates", "forward_starting_swap_rates",
        "&term_years=5&horizon_from_month=24&horizon_to_month=24";
    v1_dataset_mortgage_benchmarks_answers:
        "rates", "mortgage_benchmarks", "&mortgage_product=owner_occupied_fixed_5y_75ltv";
    v1_dataset_mortgage_swap_spread_answers:
        "rates", "mortgage_swap_spread", "&mortgage_product=owner_occupied_fixed_5y_75ltv";
    v1_dataset_mortgage_reversion_spread_answers: "rates", "mortgage_reversion_spread", "";
    v1_dataset_mortgage_spread_summary_answers:
        "rates", "mortgage_spread_summary", "&mortgage_product=owner_occupied_fixed_5y_75ltv";
    v1_dataset_sonia_forward_path_answers:
        "rates", "sonia_forward_path", "&horizon_from_month=24&horizon_to_month=24";
    v1_dataset_bank_rate_scenarios_answers:
        "rates", "bank_rate_scenarios",
        "&scenario=plus_100bp&horizon_from_month=24&horizon_to_month=24";
    v1_dataset_btl_refinancing_scenarios_answers:
        "rates", "btl_refinancing_scenarios",
        "&scenario=plus_100bp&term_years=2&horizon_from_month=24&horizon_to_month=24";
    v1_dataset_mortgage_reversion_scenarios_answers:
        "rates", "mortgage_reversion_scenarios",
        "&scenario=plus_100bp&horizon_from_month=24&horizon_to_month=24";
    v1_dataset_financing_stress_scenarios_answers:
        "rates", "financing_stress_scenarios",
        "&scenario=unchanged&term_years=10&horizon_from_month=24&horizon_to_month=24";
}
