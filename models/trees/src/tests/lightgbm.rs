//! Bit-identical scores with LightGBM, for random models and rows.
//!
//! `scripts/prove-trees` compares a million rows.

use super::peer_library;

#[test]
fn raw_scores_are_lightgbms_to_the_bit() {
    // The last digit of a C library's exponential may differ.
    peer_library::compare("lightgbm", 1e-15);
}
