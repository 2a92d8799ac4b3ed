//! Errors of opening a release.

use domesday_package::PackageError;

/// A release could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The package differs from its manifest, or is of another kind.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// This version cannot read a file, though its bytes are those of the manifest.
    #[error("release {release}: {file}: {kind}")]
    File {
        /// The release's id.
        release: String,
        /// The file's name.
        file: &'static str,
        /// The kind of the error.
        kind: StoreErrorKind,
    },
}

/// The kind of an error in a file of a release.
#[derive(Debug, thiserror::Error)]
pub enum StoreErrorKind {
    /// The file is not a Parquet file, or is damaged.
    #[error("{0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A column is missing or of another type.
    #[error("has no column {0} of the right type")]
    Column(&'static str),
    /// A value that this version does not know.
    #[error("row {row}: invalid {column}: {value:?}")]
    Value {
        /// The row, from 0.
        row: usize,
        /// The column.
        column: &'static str,
        /// The value of the cell.
        value: String,
    },
    /// The observations are not in the order of the series and of time.
    #[error("row {row} is out of order")]
    Order {
        /// The row, from 0.
        row: usize,
    },
    /// More or fewer rows than the series declare.
    #[error("has {found} rows, but the series declare {expected}")]
    Count {
        /// Rows found.
        found: usize,
        /// Rows expected.
        expected: usize,
    },
}
