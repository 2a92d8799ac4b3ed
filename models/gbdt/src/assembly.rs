//! `parameters.json`: the reference model's numbers, the mapping and the trees, as a release is built from them.

use crate::document as reference;
use crate::mapping::{Mapping, MappingError};
use domesday_trees::{Ensemble, Refused};
use serde::{Deserialize, Serialize};

/// The format that this version reads and writes.
pub const FORMAT: &str = "domesday-gbdt-parameters/1";

/// A file of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// For the reader: one sentence on where it comes from.
    pub about: String,
    /// What fills the trees' columns, and what their answer is.
    pub mapping: Mapping,
    /// The trained model as its maker wrote it: LightGBM's text or XGBoost's JSON.
    pub trees: String,
    /// The reference model, whose ranges are calibrated on the errors of the whole.
    pub reference: reference::Document,
}

/// Why a file of parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// Not JSON of this shape.
    #[error("not a file of parameters: {0}")]
    Shape(#[from] serde_json::Error),
    /// Of another format.
    #[error("format is {found}, but this version reads {FORMAT}")]
    Format {
        /// The format that the file states.
        found: String,
    },
    /// The reference model's part cannot be used.
    #[error("reference: {0}")]
    Reference(#[from] reference::DocumentError),
    /// The mapping cannot be used.
    #[error("mapping: {0}")]
    Mapping(#[from] MappingError),
    /// The trees cannot be used.
    #[error("trees: {0}")]
    Trees(#[from] Refused),
}

/// Reads and checks a file of parameters, the trees included.
///
/// # Errors
/// Where it is not of this shape, or the mapping does not fit the trees.
pub fn read(text: &str) -> Result<(Document, Ensemble), DocumentError> {
    let document: Document = serde_json::from_str(text)?;
    if document.format != FORMAT {
        return Err(DocumentError::Format {
            found: document.format,
        });
    }
    let trees = check(&document)?;
    Ok((document, trees))
}

/// Writes a file of parameters.
///
/// # Errors
/// Where it could not be read again.
pub fn write(document: &Document) -> Result<String, DocumentError> {
    check(document)?;
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

fn check(document: &Document) -> Result<Ensemble, DocumentError> {
    // The reference model's own check of its numbers.
    reference::write(&document.reference)?;
    document.mapping.check()?;
    let trees = domesday_trees::read(&document.trees)?;
    document.mapping.fits(&trees.inputs)?;
    Ok(trees)
}
