//! The choices, terms and horizons that the datasets of rates have.

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
