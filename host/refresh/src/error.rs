//! The errors of a round.

use crate::part::Part;
use domesday_package::KeyError;
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
    /// The configuration is not valid.
    #[error("{path} is not the configuration of a refresh: {message}")]
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
    /// A part was named that the configuration does not have.
    #[error("the configuration has no [{part}]; add it, or name another part with --only")]
    NoPart {
        /// The part.
        part: Part,
    },
    /// The key that signs cannot be read.
    #[error("sign_with or a trusted key cannot be read")]
    Key(#[from] KeyError),
    /// Nothing that the key signs would be trusted.
    #[error(
        "{keys} has no {key}, which sign_with belongs to; copy its .pub file there, and restart the service"
    )]
    Untrusted {
        /// The public key.
        key: String,
        /// The folder of trusted keys.
        keys: PathBuf,
    },
    /// The files of an object store did not come.
    #[error("cannot fetch the files of {location}; {log} has the reason")]
    Fetch {
        /// The location in the object store.
        location: String,
        /// The log of the command.
        log: PathBuf,
    },
    /// Another round is under way, or a step that a killed round left.
    #[error("another round, or a step that it left, holds {path}; wait until it ends")]
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
