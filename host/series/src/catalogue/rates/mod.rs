//! The 22 datasets of sterling rates.

mod shapes;

use super::{Dataset, History};
use shapes::*;

/// All mortgage products: the fixed ones, then the variable one and the reversion rate.
pub const PRODUCTS: &[&str] = &[
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
    "owner_occupied_variable_2y_75ltv",
    "mortgage_reversion",
];

/// Fixed-rate mortgage products.
pub const FIXED_PRODUCTS: &[&str] = PRODUCTS.split_at(PRODUCTS.len() - 2).0;

/// Scenarios.
pub const SCENARIOS: &[&str] = &[
    "market_implied",
    "unchanged",
    "plus_50bp",
    "plus_100bp",
    "plus_200bp",
    "minus_50bp",
    "minus_100bp",
    "stress",
];

/// Years of the spot-starting swaps.
pub const SWAP_TERMS: &[u32] = &[1, 2, 3, 5, 7, 10, 15, 20, 25];
/// Years of the forward-starting swaps.
pub const FORWARD_TERMS: &[u32] = &[2, 3, 5, 10];
/// Years of the buy-to-let products.
pub const BTL_TERMS: &[u32] = &[2, 5];
/// Years of the owner-occupied products in the stress scenarios.
pub const STRESS_TERMS: &[u32] = &[2, 5, 10];
/// The last horizon, months after the snapshot.
pub const LAST_HORIZON: u32 = 120;

/// The table.
pub const DATASETS: &[Dataset] = &[
    reference(
        "bank_rate",
        "The Bank of England's policy rate, on the dates that it is stated for.",
        OBSERVED,
        &["rate_pct"],
    ),
    reference(
        "sonia_overnight",
        "The sterling overnight index average.",
        OBSERVED,
        &["rate_pct"],
    ),
    reference(
        "sonia_compounded_index",
        "The SONIA compounded index, an index number.",
        INDEX,
        &["index_value"],
    ),
    curve(
        "ois_spot_curve",
        "Spot rates of the overnight index swap curve.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "ois_forward_curve",
        "Instantaneous forward rates of the overnight index swap curve.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "nominal_gilt_spot_curve",
        "Spot rates of the nominal gilt curve.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "nominal_gilt_forward_curve",
        "Instantaneous forward rates of the nominal gilt curve.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "real_gilt_spot_curve",
        "Spot rates of the index-linked gilt curve.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "real_gilt_forward_curve",
        "Instantaneous forward rates of the index-linked gilt curve.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "market_implied_inflation",
        "Inflation implied by nominal and index-linked gilts, spot.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "market_implied_inflation_forward",
        "Inflation implied by nominal and index-linked gilts, instantaneous forward.",
        &[TENOR],
        CURVE_FIELDS,
    ),
    curve(
        "indicative_swap_rates",
        "Par rates of annual fixed against SONIA, computed from the OIS curve.",
        &[term(SWAP_TERMS)],
        CURVE_FIELDS,
    ),
    curve(
        "forward_starting_swap_rates",
        "Par rates of swaps that start later, computed from the OIS curve.",
        &[term(FORWARD_TERMS), HORIZON_FROM, HORIZON_TO],
        CURVE_FIELDS,
    ),
    mortgage(
        "mortgage_benchmarks",
        "Average quoted household mortgage rates.",
        &[PRODUCT],
        OBSERVED,
        &["rate_pct"],
        History::RetainedObservations,
        &[],
    ),
    mortgage(
        "mortgage_swap_spread",
        "Quoted fixed mortgage rates over the swap of the same term.",
        &[FIXED_PRODUCT],
        SPREAD,
        &["spread_bp"],
        History::RetainedObservations,
        SPREAD_FIELDS,
    ),
    mortgage(
        "mortgage_reversion_spread",
        "The reversion rate over Bank Rate at the month's end.",
        &[],
        SPREAD,
        &["spread_bp"],
        History::RetainedObservations,
        SPREAD_FIELDS,
    ),
    mortgage(
        "mortgage_spread_summary",
        "Latest, mean and median of up to twelve recent swap spreads.",
        &[FIXED_PRODUCT],
        SUMMARY,
        &["latest_spread_bp", "mean_spread_bp", "median_spread_bp"],
        History::LatestSummaryPerRelease,
        SPREAD_FIELDS,
    ),
    curve(
        "sonia_forward_path",
        "One-month forward rates of the OIS curve, month by month.",
        &[HORIZON_FROM, HORIZON_TO],
        PATH_FIELDS,
    ),
    scenario(
        "bank_rate_scenarios",
        "Paths of Bank Rate under stated assumptions.",
        &[SCENARIO, HORIZON_FROM, HORIZON_TO],
        PATH_FIELDS,
    ),
    scenario(
        "btl_refinancing_scenarios",
        "Buy-to-let fixed rates at a later refinancing under stated assumptions.",
        &[SCENARIO, term(BTL_TERMS), HORIZON_FROM, HORIZON_TO],
        MORTGAGE_SCENARIO_FIELDS,
    ),
    scenario(
        "mortgage_reversion_scenarios",
        "Paths of the reversion rate under stated assumptions.",
        &[SCENARIO, HORIZON_FROM, HORIZON_TO],
        REVERSION_SCENARIO_FIELDS,
    ),
    scenario(
        "financing_stress_scenarios",
        "Owner-occupied fixed rates at a later refinancing under stated assumptions.",
        &[SCENARIO, term(STRESS_TERMS), HORIZON_FROM, HORIZON_TO],
        MORTGAGE_SCENARIO_FIELDS,
    ),
];
