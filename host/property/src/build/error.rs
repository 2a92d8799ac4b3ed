//! The reasons why a snapshot cannot be built.

use crate::SnapshotError;
use domesday_registers::sources::UnreadableFile;
use domesday_registers::{Day, ReadError};
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a snapshot could not be built. Damaged rows are rejected and counted instead.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file is not of the expected kind.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A register's file could not be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableFile),
    /// A file of the build could not be read or written.
    #[error(
        "cannot read or write {}: {source}; check its folder and the free space",
        path.display()
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A published snapshot never changes.
    #[error(
        "{} exists already; a snapshot is never overwritten. Choose another --snapshot-id",
        path.display()
    )]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// Two different texts have one fingerprint. This has never happened; the file format would
    /// have to change.
    #[error("two different {what} have the fingerprint {fingerprint:016x}")]
    Collision {
        /// The kind of text.
        what: &'static str,
        /// Their fingerprint.
        fingerprint: u64,
    },
    /// More rows share a key than a build holds in memory together.
    #[error(
        "more than {most} rows of {flags} share {key}. No register has as many, and a build holds \
         them in memory together. Check the files"
    )]
    TooManyRows {
        /// The flags of the rows' files.
        flags: &'static str,
        /// The key.
        key: String,
        /// The most rows that may share it.
        most: usize,
    },
    /// The snapshot lacks data for an update.
    #[error(
        "{} cannot be updated: the version that built it did not support updates. Build it again \
         from all files",
        path.display()
    )]
    NotUpdatable {
        /// The snapshot.
        path: PathBuf,
    },
    /// A price paid file that would have acted before one that the snapshot holds already.
    #[error(
        "{}: its latest sale is of {latest}, but the snapshot already holds price paid data to \
         {stored_to}. An update applies files in the order of their latest sales. Build the \
         snapshot again from all files",
        path.display()
    )]
    NoUpdate {
        /// The file.
        path: PathBuf,
        /// Its latest day.
        latest: Day,
        /// The latest day of the files that the snapshot holds.
        stored_to: Day,
    },
    /// The tables could not be written.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl BuildError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> BuildError + '_ {
        |source| BuildError::Io {
            path: path.to_owned(),
            source,
        }
    }
}
