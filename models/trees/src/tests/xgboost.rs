//! Bit-identical scores with XGBoost, for random models and rows.
//!
//! `scripts/prove-trees` compares a million rows.

use super::peer_library;

#[test]
fn raw_scores_are_xgboosts_to_the_bit() {
    // The last digit of a C library's exponential in single precision may differ.
    peer_library::compare("xgboost", 3e-7);
}
