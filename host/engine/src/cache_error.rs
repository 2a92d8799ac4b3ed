//! The reasons why a directory of compiled code is not used.

use std::io;
use std::path::PathBuf;

/// The reason why the cache's directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Another user could write into the directory.
    #[error(
        "{path} must be a folder of this user's own with mode 0700, because it holds native code: {problem}"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// The problem of its owner or mode.
        problem: &'static str,
    },
    /// The directory could not be created or read.
    #[error("cannot create or read the folder of compiled code {path}: {source}")]
    Io {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}
