//! Errors of a build.

use domesday_package::PackageError;

/// A release could not be written.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The draft contradicts itself or the catalogue.
    #[error("series {series}: {kind}")]
    Draft {
        /// The id of the series.
        series: String,
        /// The error.
        kind: DraftErrorKind,
    },
    /// There is nothing to publish.
    #[error("the inputs give no observations. Give files with more months, or more of the inputs")]
    Empty,
    /// A Parquet file could not be made.
    #[error("cannot write {file}: {error}")]
    Parquet {
        /// Its name.
        file: &'static str,
        /// The library's error.
        error: parquet::errors::ParquetError,
    },
    /// The package could not be written.
    #[error(transparent)]
    Package(#[from] PackageError),
}

/// The kind of an error in one series of a draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftErrorKind {
    /// Two observations for one period.
    #[error("has two observations for {0}")]
    Twice(String),
    /// A value that is not a number.
    #[error("the value for {0} is not finite")]
    NotFinite(String),
    /// A field that the catalogue does not give to the dataset.
    #[error("has the field {0}, which the catalogue does not define for its dataset")]
    Field(&'static str),
    /// A selector that the catalogue does not give to the dataset, or one that is missing.
    #[error("must have exactly the selectors of its dataset: {0}")]
    Selector(&'static str),
    /// The same series again.
    #[error("is in the draft twice")]
    Duplicate,
    /// A dataset of the other family.
    #[error("belongs to the other family")]
    Family,
}
