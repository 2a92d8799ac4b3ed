//! The errors of backups.

use domesday_journal::JournalError;
use domesday_package::{FileSignatureError, KeyError, Sha256Digest, StagedContentError};
use domesday_state::{StateError, UnixMillis};
use domesday_valuation::compile_cache::CompileCacheError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a backup is not made or not restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file or folder stands where the backup would be.
    #[error("{} exists, and nothing is overwritten. Name a folder that does not exist", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// Another backup of the data folder or a restore into it runs.
    #[error("another backup of {} or a restore into it runs. Wait until it has ended", data.display())]
    Busy {
        /// The data folder.
        data: PathBuf,
    },
    /// The data folder takes no restored content.
    #[error(transparent)]
    Content(#[from] StagedContentError),
    /// The folder holds no whole backup.
    #[error("{} holds no whole backup: it has no manifest.json. Use another backup", path.display())]
    NoManifest {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest is not one of this version.
    #[error("the manifest {} cannot be read: {reason}. Use the version that made the backup", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The parser's error.
        reason: serde_json::Error,
    },
    /// The manifest has another format.
    #[error(
        "the backup has the format {found:?}, this version knows {known:?}. Use a later version"
    )]
    Format {
        /// The format found.
        found: String,
        /// The known format.
        known: &'static str,
    },
    /// A file has other bytes than the backup was made of.
    #[error(
        "{} has the SHA-256 {found} and {bytes} bytes, the manifest says {expected} and {expected_bytes}. \
         Use another backup",
        path.display()
    )]
    Altered {
        /// The file.
        path: PathBuf,
        /// Its digest.
        found: Sha256Digest,
        /// Its bytes.
        bytes: u64,
        /// The manifest's digest.
        expected: Sha256Digest,
        /// The manifest's number of bytes.
        expected_bytes: u64,
    },
    /// The manifest is not signed by the key.
    #[error(transparent)]
    Signature(#[from] FileSignatureError),
    /// The data folder has no key, and takes none of this user.
    #[error(
        "there is no key to sign the backup with. Make the backup as the user of the service: {0}"
    )]
    Folder(#[from] CompileCacheError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The name of a file cannot be in a manifest.
    #[error("{} cannot be part of a backup: its name has other characters than letters, digits, '.', '_' and '-'", path.display())]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// The journal's record of removed files cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The state does not open.
    #[error(transparent)]
    State(#[from] StateError),
    /// The host's time is not a date of the calendar.
    #[error("the host's time of {} ms since 1970 is not a date; set its clock", at.0)]
    Clock {
        /// The time.
        at: UnixMillis,
    },
    /// The file system's error.
    #[error("cannot read or write {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl BackupError {
    /// Returns a function that adds the path to an error.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
        move |source| BackupError::Io {
            path: path.to_owned(),
            source,
        }
    }
}
