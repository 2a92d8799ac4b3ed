//! XGBoost's JSON models (`Booster.save_model("model.json")`), written by versions 2 and 3.
//!
//! XGBoost scores in single precision. It rounds an input, sends it left if it is less than the
//! threshold, and sends NaN to the side that the node states. It adds the leaves to the base score
//! one by one. This module replaces `<` by `<=` with the next lower threshold, which is equivalent
//! in single precision.

mod categories;
mod header;
mod single_precision;
mod tree;

use crate::{Arithmetic, Ensemble, ModelError};
use header::File;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The booster's part of a file.
#[derive(Deserialize)]
struct Model<'a> {
    #[serde(default)]
    tree_info: Vec<i64>,
    #[serde(borrow)]
    trees: Vec<&'a RawValue>,
    /// Names of categories, from version 3.1 on.
    #[serde(default)]
    cats: categories::Names,
}

/// Reads a model.
///
/// # Errors
/// [`ModelError`] if the text is malformed or the booster is not `gbtree`. Models with several
/// classes or targets, vector leaves or an objective that predicts no value are errors, too.
pub fn read(text: &str) -> Result<Ensemble, ModelError> {
    let text = single_precision::replace_non_finite(text);
    let file: File<'_> = serde_json::from_str(&text).map_err(|why| {
        ModelError::NotXgBoost(format!(
            "{why}; save a model of XGBoost with Booster.save_model(\"model.json\"), and one of LightGBM with Booster.save_model as text"
        ))
    })?;
    let header = file.header()?;
    let model: Model<'_> = serde_json::from_str(header.model.get())
        .map_err(|why| ModelError::NotXgBoost(format!("learner.gradient_booster.model: {why}")))?;
    if let Some(class) = model.tree_info.iter().find(|class| **class != 0) {
        return Err(header::unsupported_error(
            "the model",
            format!("a tree is of class or target {class}"),
            header::ONE_ANSWER,
        ));
    }
    if model.tree_info.len() != model.trees.len() {
        return Err(ModelError::NotXgBoost(format!(
            "tree_info states {} trees; the file has {}",
            model.tree_info.len(),
            model.trees.len()
        )));
    }
    let mut words = tree::MAX_SET_WORDS;
    let trees = model.trees.iter().enumerate().map(|(number, raw)| {
        tree::read(
            &format!("tree {number}"),
            raw.get(),
            header.inputs.len(),
            &mut words,
        )
    });
    Ok(Ensemble {
        category_names: model.cats.read(header.inputs.len())?,
        trees: trees.collect::<Result<_, _>>()?,
        inputs: header.inputs,
        arithmetic: Arithmetic::XgBoost { base: header.base },
        averaged: false,
        transform: header.transform,
    })
}

#[cfg(test)]
mod tests;
