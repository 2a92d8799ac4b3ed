//! Detection of a model's format.

use crate::{Ensemble, ModelError, lightgbm, xgboost};

/// Reads a model in LightGBM's text format or XGBoost's JSON format.
///
/// # Errors
/// [`ModelError`], as [`lightgbm::read`] and [`xgboost::read`].
pub fn read(text: &str) -> Result<Ensemble, ModelError> {
    read_with(text, &|_| false)
}

/// Reads the same. `is_categorical` decides by name which inputs are categorical where the text
/// does not say it.
///
/// # Errors
/// [`ModelError`], as [`read`].
pub fn read_with(
    text: &str,
    is_categorical: &dyn Fn(&str) -> bool,
) -> Result<Ensemble, ModelError> {
    if text.trim_start().starts_with(['{', '[']) {
        xgboost::read(text)
    } else {
        lightgbm::read_with(text, is_categorical)
    }
}
