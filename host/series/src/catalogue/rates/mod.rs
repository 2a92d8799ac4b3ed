//! The 22 datasets of sterling rates.

mod choices;
mod shapes;

pub use choices::{
    BTL_TERMS, FIXED_PRODUCTS, FORWARD_TERMS, LAST_HORIZON, PRODUCTS, SCENARIOS, STRESS_TERMS,
    SWAP_TERMS,
};

use super::{Dataset, History};
use shapes::*;

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
        SCENARIO_FIELDS,
    ),
    scenario(
        "bank_rate_scenarios",
        "Paths of Bank Rate under stated assumptions.",
        &[SCENARIO, HORIZON_FROM, HORIZON_TO],
    ),
    scenario(
        "btl_refinancing_scenarios",
        "Buy-to-let fixed rates at a later refinancing under stated assumptions.",
        &[SCENARIO, term(BTL_TERMS), HORIZON_FROM, HORIZON_TO],
    ),
    scenario(
        "mortgage_reversion_scenarios",
        "Paths of the reversion rate under stated assumptions.",
        &[SCENARIO, HORIZON_FROM, HORIZON_TO],
    ),
    scenario(
        "financing_stress_scenarios",
        "Owner-occupied fixed rates at a later refinancing under stated assumptions.",
        &[SCENARIO, term(STRESS_TERMS), HORIZON_FROM, HORIZON_TO],
    ),
];
