//! Whose model a text is.

use crate::{Ensemble, Refused, lightgbm, xgboost};

/// Reads a model of either maker: LightGBM's text, or XGBoost's JSON.
///
/// # Errors
/// As [`lightgbm::read`] and [`xgboost::read`].
pub fn read(text: &str) -> Result<Ensemble, Refused> {
    if text.trim_start().starts_with(['{', '[']) {
        xgboost::read(text)
    } else {
        lightgbm::read(text)
    }
}
