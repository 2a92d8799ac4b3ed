//! Files of parameters, made outside the sandbox: the reference model's fit, the trees, the ranges.

pub mod expected_rows;
pub mod stack;
pub mod trees;

use crate::assembly::{self, Document};
use crate::mapping::Mapping;
use domesday_hedonic::fit::calibrate::{CalibrationOptions, calibrate};
use domesday_hedonic::fit::train::train;
use domesday_sdk::Day;
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

/// Fits the reference model to sales up to a day. The trees are a placeholder of one leaf, zero.
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
        trees: zero_trees(mapping.columns.keys()),
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

/// Returns a LightGBM model with these columns and one leaf, zero.
pub fn zero_trees<'a>(columns: impl ExactSizeIterator<Item = &'a String>) -> String {
    let last = columns.len().saturating_sub(1);
    let names: Vec<&str> = columns.map(String::as_str).collect();
    format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={last}\n\
         objective=regression\nfeature_names={}\n\nTree=0\nnum_leaves=1\nnum_cat=0\nleaf_value=0\n\nend of trees\n",
        names.join(" ")
    )
}
