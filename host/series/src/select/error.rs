//! Errors of a query.

/// A request that cannot be answered, and the parameter at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {fault}")]
pub struct ParameterError {
    /// The offending parameter.
    pub field: String,
    /// The kind of the error.
    pub fault: ParameterErrorKind,
}

/// The kind of an error in a parameter. Messages never repeat the client's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterErrorKind {
    /// No dataset was named.
    #[error("a dataset must be named")]
    MissingDataset,
    /// There is no such dataset in the family.
    #[error("no dataset of this family has this name")]
    UnknownDataset,
    /// A required parameter is not there.
    #[error("this parameter must be given")]
    MissingParameter,
    /// The dataset, or the route, takes no such parameter.
    #[error("this parameter is not taken here")]
    UnknownParameter,
    /// It was given more than once.
    #[error("this parameter may be given once only")]
    DuplicateParameter,
    /// Its value is not of the right form or not permitted.
    #[error("{expected}")]
    InvalidParameter {
        /// The allowed values.
        expected: String,
    },
    /// The release holds no such local authority.
    #[error("the release holds no area of this code")]
    UnknownArea,
    /// The node exists nowhere in the release.
    #[error("this node exists nowhere in the release")]
    UnknownNode,
    /// Coverage takes no cursor.
    #[error("coverage takes no cursor")]
    CursorNotAccepted,
    /// A continuation takes the cursor alone.
    #[error("a continuation takes the cursor alone")]
    CursorWithSelectors,
}

impl ParameterErrorKind {
    /// Returns the fault as the error of this parameter.
    pub(crate) fn of(self, field: &str) -> ParameterError {
        ParameterError {
            field: field.to_owned(),
            fault: self,
        }
    }
}
