//! Errors of reading and packing a model.

/// The reason why a model is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is not in LightGBM's format.
    #[error("not a LightGBM text model: {0}")]
    NotLightGbm(String),
    /// The text is not in XGBoost's format.
    #[error("not an XGBoost JSON model: {0}")]
    NotXgBoost(String),
    /// A required line is missing.
    #[error("{place}: the line {name}= is missing")]
    MissingLine {
        /// The header, or the tree's number.
        place: String,
        /// Name of the line.
        name: &'static str,
    },
    /// A line has an invalid value.
    #[error("{place}: invalid value {name}={found}")]
    InvalidLine {
        /// The header, or the tree's number.
        place: String,
        /// Name of the line.
        name: &'static str,
        /// Value of the line, shortened.
        found: String,
    },
    /// A list has the wrong length.
    #[error("{place}: {name} has {found} values; {needed} are needed")]
    WrongCount {
        /// The tree's number.
        place: String,
        /// Name of the list.
        name: &'static str,
        /// Length of the list.
        found: usize,
        /// Length needed.
        needed: usize,
    },
    /// The nodes do not form a tree.
    #[error("{place}: {problem}")]
    InvalidTree {
        /// The tree's number.
        place: String,
        /// The problem.
        problem: String,
    },
    /// The model is valid but not supported.
    #[error("{place}: {what}; {instead}")]
    Unsupported {
        /// The header, or the tree's number.
        place: String,
        /// The unsupported property.
        what: String,
        /// The remedy.
        instead: &'static str,
    },
    /// The model exceeds a limit of the layout.
    #[error("{place} has {found} {what}; the limit is {limit}")]
    TooMany {
        /// The input, the tree or the model.
        place: String,
        /// The limited quantity.
        what: &'static str,
        /// The quantity found.
        found: usize,
        /// The limit.
        limit: usize,
    },
}
