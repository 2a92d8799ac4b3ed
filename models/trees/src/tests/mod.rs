//! Tests of the trees through the crate's public interface.

mod lightgbm;
mod peer_library;
#[path = "../../../../tests/common/python.rs"]
mod python;
mod xgboost;
