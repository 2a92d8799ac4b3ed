//! Errors of a snapshot.

use std::path::PathBuf;

/// A snapshot could not be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The file is not a snapshot.
    #[error("{path} is not a property snapshot: {what}. Build it with `domesday property build`")]
    NotASnapshot {
        /// The file.
        path: PathBuf,
        /// The missing part.
        what: &'static str,
    },
    /// The file was made by another version.
    #[error("{path} has schema {found}, but this program reads schema {expected}. Build it again")]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The file's schema version.
        found: u32,
        /// Ours.
        expected: u32,
    },
    /// A row does not have its table's form.
    #[error("the snapshot has a damaged row in table {table}; copy its package again")]
    Damaged {
        /// The table.
        table: &'static str,
    },
    /// The query's time ended before its answer was whole.
    #[error("the query ran out of time")]
    OutOfTime,
    /// The storage engine failed.
    #[error("cannot read or write the snapshot: {0}")]
    Storage(Box<redb::Error>),
}

macro_rules! storage_errors {
    ($($error:ty),+) => {$(
        impl From<$error> for SnapshotError {
            fn from(error: $error) -> Self {
                SnapshotError::Storage(Box::new(error.into()))
            }
        }
    )+};
}
storage_errors!(
    redb::DatabaseError,
    redb::TransactionError,
    redb::TableError,
    redb::StorageError,
    redb::CommitError
);
