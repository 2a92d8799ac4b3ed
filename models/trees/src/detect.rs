//! Detection of a model's format.

use crate::{Ensemble, ModelError, lightgbm, xgboost};

/// Reads a model in LightGBM's text format or XGBoost's JSON format.
///
/// # Errors
/// [`ModelError`], as [`lightgbm::read`] and [`xgboost::read`].
pub fn read(text: &str) -> Result<Ensemble, ModelError> {
    if text.trim_start().starts_with(['{', '[']) {
        xgboost::read(text)
    } else {
        lightgbm::read(text)
    }
}
