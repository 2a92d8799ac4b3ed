//! XGBoost itself as the peer: random models of every kind, random rows, bit for bit.
//!
//! `scripts/prove-trees` does the same with a million rows.
#![allow(clippy::unwrap_used)]

mod makers;
#[path = "../../../tests/common/python.rs"]
mod python;

#[test]
fn raw_scores_are_xgboosts_to_the_bit() {
    // The exponential of a C library may differ in the last digit of single precision.
    makers::compare("xgboost", 3e-7);
}
