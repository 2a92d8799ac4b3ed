//! What cannot be read, or could only be represented inexactly.

/// Why a model was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not of the format.
    #[error("this is no LightGBM text model: {0}")]
    NotLightGbm(String),
    /// It is not of the format.
    #[error("this is no JSON model of XGBoost: {0}")]
    NotXgBoost(String),
    /// A line that must be there is not.
    #[error("{place}: the line {name}= is missing")]
    MissingLine {
        /// The header, or which tree.
        place: String,
        /// Its name.
        name: &'static str,
    },
    /// A line cannot be read.
    #[error("{place}: {name}={found} cannot be read")]
    BadLine {
        /// The header, or which tree.
        place: String,
        /// Its name.
        name: &'static str,
        /// What stands there, shortened.
        found: String,
    },
    /// A list has not as many values as the tree needs.
    #[error("{place}: {name} has {found} values, and the tree needs {needed}")]
    WrongCount {
        /// Which tree.
        place: String,
        /// The list.
        name: &'static str,
        /// Its values.
        found: usize,
        /// How many it needs.
        needed: usize,
    },
    /// The nodes of a tree do not make a tree.
    #[error("{place}: {problem}")]
    NoTree {
        /// Which tree.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It is well-formed, but is not represented here.
    #[error("{place}: {what}; {instead}")]
    Unsupported {
        /// The header, or which tree.
        place: String,
        /// What it asks for.
        what: String,
        /// What to do.
        instead: &'static str,
    },
    /// It has more of something than the layout can number.
    #[error("{place} has {found} {what}; at most {limit} can be packed")]
    TooMany {
        /// Of which input or tree, or of the model.
        place: String,
        /// What of.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
}
