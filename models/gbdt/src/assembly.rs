//! `parameters.json`: the reference model's parameters, the mapping and the trees.

use crate::document as reference;
use crate::expected::{self, ExpectedError, ExpectedRow};
use crate::mapping::{Mapping, MappingError};
use crate::stack::{Stack, StackError};
use domesday_trees::{Ensemble, ModelError};
use serde::{Deserialize, Serialize};

/// Format that this version reads and writes.
pub const FORMAT: &str = "domesday-gbdt-parameters/1";

/// A file of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// One sentence for the reader on the origin of the file.
    pub about: String,
    /// The sources of the trees' columns and the meaning of the score.
    pub mapping: Mapping,
    /// The trained model as saved: LightGBM's text or XGBoost's JSON.
    pub trees: String,
    /// Predictions that the trees must give. None where the build trained them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<ExpectedRow>,
    /// Weights of the members, fitted by calibration. Without them they are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// The reference model. Its ranges are calibrated on the errors of the whole.
    pub reference: reference::Document,
}

/// The reason why a file of parameters is refused.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON of this shape.
    #[error("not a file of parameters in format {FORMAT}: {0}")]
    Shape(#[from] serde_json::Error),
    /// The file has another format.
    #[error("unsupported format {found:?}; this version reads {FORMAT:?}")]
    Format {
        /// Format that the file states.
        found: String,
    },
    /// The reference model's part is invalid.
    #[error("invalid reference model: {0}")]
    Reference(#[from] reference::DocumentError),
    /// The mapping is invalid.
    #[error("invalid mapping: {0}")]
    Mapping(#[from] MappingError),
    /// The trees predict something else than the library that trained them.
    #[error(transparent)]
    Expected(#[from] ExpectedError),
    /// The stack's numbers are invalid.
    #[error("invalid stack: {0}")]
    Stack(#[from] StackError),
    /// The trees are invalid.
    #[error("invalid trees: {0}")]
    Trees(#[from] ModelError),
}

/// Reads and checks a file of parameters, including the trees.
///
/// # Errors
/// [`DocumentError`] if the text is not of this shape, or the mapping does not fit the trees.
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
/// [`DocumentError`] if the file could not be read again.
pub fn write(document: &Document) -> Result<String, DocumentError> {
    check(document)?;
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

fn check(document: &Document) -> Result<Ensemble, DocumentError> {
    // Writing applies the reference model's own checks.
    reference::write(&document.reference)?;
    document.mapping.check()?;
    document.stack.as_ref().map_or(Ok(()), Stack::check)?;
    let mapping = &document.mapping;
    let is_categorical = |column: &str| mapping.is_categorical(column);
    let trees = domesday_trees::read_with(&document.trees, &is_categorical)?;
    document.mapping.fits(&trees.inputs)?;
    let names = &trees.category_names;
    document.mapping.fits_categories(&trees.inputs, names)?;
    expected::check(&trees, &document.expected)?;
    Ok(trees)
}
