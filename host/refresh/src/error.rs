//! The errors of a round.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a round cannot begin or go on. A step that fails is no error: the report says it.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// A file or folder cannot be read or written.
    #[error("cannot read or write {path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The configuration is not one.
    #[error("{path} is no configuration of a refresh: {message}")]
    Config {
        /// The file.
        path: PathBuf,
        /// The problem and its place.
        message: String,
    },
    /// The record of earlier rounds cannot be read.
    #[error(
        "{path} is not the record of earlier rounds ({problem}); restore it, or remove it to build everything anew"
    )]
    Record {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// Another round is under way.
    #[error("another round holds {path}; wait until it ends")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
}

/// Returns the error of a file or folder.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> RefreshError + use<> {
    let path = path.to_owned();
    move |source| RefreshError::Io { path, source }
}
