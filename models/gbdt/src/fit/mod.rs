//! Files of parameters, made outside the sandbox: the reference model's fit, the trees, the ranges.

pub mod expected_rows;
pub mod stack;
pub mod trees;

use crate::assembly::{self, Document};
use crate::mapping::{Mapping, TargetName};
use domesday_hedonic::fit::calibrate::{CalibrationOptions, calibrate};
use domesday_hedonic::fit::train::train;
use domesday_sdk::Day;
use serde_json::json;
use std::io::BufRead;

/// Parameters of a build without a file.
const DEFAULTS: &str = include_str!("../../parameters.json");

/// The reason why a file of parameters could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The fit or calibration of the reference model failed.
    #[error(transparent)]
    Reference(#[from] domesday_hedonic::fit::FitError),
    /// The file of parameters read or written is invalid.
    #[error(transparent)]
    Document(#[from] assembly::DocumentError),
    /// A line of valuations cannot be read.
    #[error("cannot read the valuations")]
    Read(#[from] std::io::Error),
    /// A line is not a valuation.
    #[error("line {line} is no valuation with inputs: {source}")]
    Row {
        /// Line, from 1.
        line: usize,
        /// The reason.
        source: serde_json::Error,
    },
    /// The mapping file is not TOML of its shape.
    #[error("invalid mapping file: {0}")]
    Toml(#[from] toml::de::Error),
    /// The mapping file has an invalid name.
    #[error("invalid mapping file: {0}")]
    Mapping(#[from] crate::mapping::MappingError),
}

/// Reads a mapping file and checks its names.
///
/// # Errors
/// [`FitError::Toml`] if the text is not a mapping file, and [`FitError::Mapping`] for an unknown
/// name.
pub fn mapping(text: &str) -> Result<Mapping, FitError> {
    let mapping: Mapping = toml::from_str(text)?;
    mapping.check()?;
    Ok(mapping)
}

/// Fits the reference model to sales up to a day. The trees are a placeholder of one leaf.
///
/// # Errors
/// [`FitError::Reference`] if a line cannot be read, or the sales are too few.
pub fn fit_reference(
    mapping: Mapping,
    sales: impl BufRead,
    through: Day,
) -> Result<Document, FitError> {
    let (defaults, _) = assembly::read(DEFAULTS)?;
    Ok(Document {
        format: assembly::FORMAT.to_owned(),
        about: "The reference model alone, with trees that say nothing yet.".to_owned(),
        trees: make_placeholder_trees(&mapping),
        expected: Vec::new(),
        mapping,
        stack: None,
        reference: train(defaults.reference, sales, through)?,
    })
}

/// Fits the weights of a stack, and calibrates the ranges, on valuations of later sales.
///
/// # Errors
/// [`FitError::Reference`], as the reference model's calibration. [`FitError::Row`] or
/// [`FitError::Read`] if a stack's valuation cannot be read.
pub fn calibrate_ranges(
    mut document: Document,
    predictions: impl BufRead,
    wanted: CalibrationOptions<'_>,
) -> Result<Document, FitError> {
    let left = stack::fit_stack(&mut document, predictions)?;
    document.reference = calibrate(document.reference, left.as_slice(), wanted)?;
    Ok(document)
}

/// Returns an XGBoost model with the mapping's columns and one leaf. LightGBM's text has no column
/// whose name has a blank, and XGBoost's may have one.
pub(crate) fn make_placeholder_trees(mapping: &Mapping) -> String {
    // A price of nothing would be no member of a stack, and its rows would have no inputs.
    let leaf = match (mapping.target, &mapping.offset) {
        (TargetName::Price, None) => 1.0,
        _ => 0.0,
    };
    let names: Vec<&String> = mapping.columns.keys().collect();
    json!({
        "learner": {
            "feature_names": names,
            "gradient_booster": {
                "name": "gbtree",
                "model": {
                    "tree_info": [0],
                    "trees": [{
                        "left_children": [-1],
                        "right_children": [-1],
                        "split_indices": [0],
                        "split_conditions": [leaf],
                        "default_left": [0],
                        "split_type": [0],
                        "categories": [],
                        "categories_nodes": [],
                        "categories_segments": [],
                        "categories_sizes": [],
                        "tree_param": {},
                    }],
                },
            },
            "learner_model_param": {
                "base_score": "0",
                "num_feature": names.len().to_string(),
            },
            "objective": { "name": "reg:squarederror" },
        },
        "version": [3, 0, 0],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_trees_have_columns_whose_names_have_blanks() {
        let (mut document, _) = assembly::read(DEFAULTS).unwrap();
        document.mapping = mapping(
            "target = \"log_price\"\n[columns]\n\"floor area\" = \"floor_area_m2\"\n\
             rooms = \"habitable_rooms\"\n",
        )
        .unwrap();
        document.trees = make_placeholder_trees(&document.mapping);
        let text = assembly::write(&document).unwrap();
        let (_, trees) = assembly::read(&text).unwrap();
        assert_eq!(trees.inputs, ["floor area", "rooms"]);
        assert_eq!(trees.score(&[90.0, 5.0]), 0.0);
    }
}
