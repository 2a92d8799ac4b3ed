//! LightGBM itself as the peer: random models of every kind, random rows, bit for bit.
//!
//! `scripts/prove-trees` does the same with a million rows.
#![allow(clippy::unwrap_used)]

mod makers;
#[path = "../../../tests/common/python.rs"]
mod python;

#[test]
fn raw_scores_are_lightgbms_to_the_bit() {
    // The exponential of a C library may differ in its last digit.
    makers::compare("lightgbm", 1e-15);
}
