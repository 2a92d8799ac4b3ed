//! XGBoost's JSON models (`Booster.save_model("model.json")`), written by versions 2 and 3.
//!
//! A row is scored in single precision: an input is rounded to it, goes left where it is less than the threshold, and
//! where it is no number to the side that the node names. Leaves are added to the base score one after the
//! other. What XGBoost compares with `<` is compared here with `<=` and the next lower threshold, which is the same for
//! every number of single precision.

mod header;
mod single;
mod tree;

use crate::{Arithmetic, Ensemble, Refused};
use header::File;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Words of 32 categories in all sets of a model.
const MOST_SET_WORDS: usize = 8 << 20;

/// The booster's part of a file.
#[derive(Deserialize)]
struct Model<'a> {
    #[serde(default)]
    tree_info: Vec<i64>,
    #[serde(borrow)]
    trees: Vec<&'a RawValue>,
}

/// Reads a model.
///
/// # Errors
/// Where it is not well-formed, or asks for what is not represented: other boosters than `gbtree`, several classes or
/// targets, leaves that are vectors, objectives whose answer is no value.
pub fn read(text: &str) -> Result<Ensemble, Refused> {
    let text = single::plain(text);
    let file: File<'_> = serde_json::from_str(&text).map_err(|why| {
        Refused::NotXgBoost(format!(
            "{why}; save a model of XGBoost with Booster.save_model(\"model.json\"), and one of LightGBM with Booster.save_model as text"
        ))
    })?;
    let header = file.header()?;
    let model: Model<'_> = serde_json::from_str(header.model.get())
        .map_err(|why| Refused::NotXgBoost(format!("learner.gradient_booster.model: {why}")))?;
    if let Some(class) = model.tree_info.iter().find(|class| **class != 0) {
        return Err(header::unsupported(
            "the model",
            format!("a tree is of class or target {class}"),
            header::ONE_ANSWER,
        ));
    }
    if model.tree_info.len() != model.trees.len() {
        return Err(Refused::NotXgBoost(format!(
            "tree_info tells of {} trees, and there are {}",
            model.tree_info.len(),
            model.trees.len()
        )));
    }
    let mut words = MOST_SET_WORDS;
    let trees = model.trees.iter().enumerate().map(|(number, raw)| {
        tree::read(
            &format!("tree {number}"),
            raw.get(),
            header.inputs.len(),
            &mut words,
        )
    });
    Ok(Ensemble {
        trees: trees.collect::<Result<_, _>>()?,
        inputs: header.inputs,
        arithmetic: Arithmetic::XgBoost { base: header.base },
        averaged: false,
        transform: header.transform,
    })
}

#[cfg(test)]
mod tests;
