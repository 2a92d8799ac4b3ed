//! Making files of parameters, outside the sandbox: the reference model's fit, the trees, the ranges.

pub mod learn;

use crate::assembly::{self, Document};
use crate::mapping::Mapping;
use domesday_hedonic::fit::calibrate::{Wanted, calibrate};
use domesday_hedonic::fit::train::train;
use domesday_sdk::Day;
use std::io::BufRead;

/// What a build without other parameters uses.
const DEFAULTS: &str = include_str!("../../parameters.json");

/// Why parameters could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The reference model's fit or calibration.
    #[error(transparent)]
    Reference(#[from] domesday_hedonic::fit::FitError),
    /// What came out, or went in, cannot be used.
    #[error(transparent)]
    Document(#[from] assembly::DocumentError),
    /// The mapping file is no such file.
    #[error("the mapping file: {0}")]
    Toml(#[from] toml::de::Error),
    /// The mapping file has a name that cannot be used.
    #[error("the mapping file: {0}")]
    Mapping(#[from] crate::mapping::MappingError),
}

/// Reads a mapping file and checks its names.
///
/// # Errors
/// Where it is no such file, or a name is not on the list.
pub fn mapping(text: &str) -> Result<Mapping, FitError> {
    let mapping: Mapping = toml::from_str(text)?;
    mapping.check()?;
    Ok(mapping)
}

/// Fits the reference model to sales up to a day. The trees say nothing yet: their one leaf is nought.
///
/// # Errors
/// Where a line cannot be read, or the sales are too few.
pub fn begin(mapping: Mapping, sales: impl BufRead, through: Day) -> Result<Document, FitError> {
    let (defaults, _) = assembly::read(DEFAULTS)?;
    Ok(Document {
        format: assembly::FORMAT.to_owned(),
        about: "The reference model alone, with trees that say nothing yet.".to_owned(),
        trees: silent(mapping.columns.keys()),
        mapping,
        reference: train(defaults.reference, sales, through)?,
    })
}

/// Calibrates the ranges on valuations of later sales.
///
/// # Errors
/// As the reference model's calibration.
pub fn ranges(
    mut document: Document,
    predictions: impl BufRead,
    wanted: Wanted,
) -> Result<Document, FitError> {
    document.reference = calibrate(document.reference, predictions, wanted)?;
    Ok(document)
}

/// A model of one leaf, nought, that has these columns.
pub fn silent<'a>(columns: impl ExactSizeIterator<Item = &'a String>) -> String {
    let last = columns.len().saturating_sub(1);
    let names: Vec<&str> = columns.map(String::as_str).collect();
    format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={last}\n\
         objective=regression\nfeature_names={}\n\nTree=0\nnum_leaves=1\nnum_cat=0\nleaf_value=0\n\nend of trees\n",
        names.join(" ")
    )
}
