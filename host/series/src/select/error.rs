//! Errors of a query.

/// A request that cannot be answered, and the offending parameter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {kind}")]
pub struct ParameterError {
    /// The offending parameter.
    pub field: String,
    /// The kind of the error.
    pub kind: ParameterErrorKind,
}

/// The kind of an error in a parameter. Messages never repeat the client's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterErrorKind {
    /// No dataset was named.
    #[error("this parameter is required")]
    MissingDataset,
    /// The family has no dataset of this name.
    #[error("no dataset of this family has this name")]
    UnknownDataset,
    /// A required parameter is missing.
    #[error("this parameter is required")]
    MissingParameter,
    /// Neither the dataset nor the route has the parameter.
    #[error("neither the dataset nor the route has this parameter")]
    UnknownParameter,
    /// It was given more than once.
    #[error("this parameter must not be repeated")]
    DuplicateParameter,
    /// Its value is not of the right form or not permitted.
    #[error("{expected}")]
    InvalidParameter {
        /// The allowed values.
        expected: String,
    },
    /// The release has no local authority with this code.
    #[error("the release has no area with this code")]
    UnknownArea,
    /// The node exists nowhere in the release.
    #[error("the release has no such node")]
    UnknownNode,
    /// Coverage takes no cursor.
    #[error("coverage does not accept a cursor")]
    CursorNotAccepted,
    /// A continuation takes the cursor alone.
    #[error("a continuation accepts only the cursor")]
    CursorWithSelectors,
}

impl ParameterErrorKind {
    /// Returns this kind as the error of a parameter.
    pub(crate) fn of(self, field: &str) -> ParameterError {
        ParameterError {
            field: field.to_owned(),
            kind: self,
        }
    }
}
