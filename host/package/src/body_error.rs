//! The faults of the part of a manifest that belongs to its kind.

use crate::FilePath;

/// What is wrong with a body.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// Not JSON of the kind's shape.
    #[error("{0}")]
    Shape(#[source] serde_json::Error),
    /// The body names a file that the manifest does not list.
    #[error("{field} names {file}, which is not among the files")]
    UnlistedFile {
        /// The body's field.
        field: &'static str,
        /// The file that it names.
        file: FilePath,
    },
    /// A value breaks a rule of the kind.
    #[error("{field} {rule}")]
    Rule {
        /// The body's field.
        field: &'static str,
        /// What must hold.
        rule: &'static str,
    },
}
