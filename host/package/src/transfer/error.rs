//! Errors of transfers.

use super::repository::RepositoryError;
use crate::snapshot_pin::PinError;
use crate::{GateError, PackageError, PackageId, Sha256Digest};
use std::io;
use std::path::{Path, PathBuf};

/// A release did not reach its destination.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The folder of releases has no package of that id.
    #[error("there is no {word} {id} in {}", folder.display())]
    Absent {
        /// The noun of its kind.
        word: &'static str,
        /// Its id.
        id: PackageId,
        /// The folder of releases.
        folder: PathBuf,
    },
    /// The source has other bytes under the id than those that were promoted.
    #[error(
        "release {id} at the source has the manifest {found}, but the promoted one is {promoted}; publish that package there"
    )]
    OtherManifest {
        /// The release's id.
        id: PackageId,
        /// The manifest of the source.
        found: Sha256Digest,
        /// The manifest that was promoted.
        promoted: String,
    },
    /// The release and the snapshot do not belong together.
    #[error(transparent)]
    Pin(Box<PinError>),
    /// The release has no report of a check that it passed.
    #[error(transparent)]
    Check(#[from] GateError),
    /// A package cannot be opened.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The manifest cannot be fetched.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder of releases cannot be read.
    #[error("cannot read the folder {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// Another package of the id is in the way.
    #[error("cannot set {} aside", .0.display())]
    NotSetAside(PathBuf, #[source] io::Error),
    /// The new package, which is whole, cannot take the place of another of its id.
    #[error("cannot put the new package in place at {}", .0.display())]
    NotReplaced(PathBuf, #[source] io::Error),
    /// The new package is in its place, and may be gone after a power cut.
    #[error(
        "the new package is at {}, but the disk cannot confirm it{}; look whether it is there after a restart",
        place.display(),
        say_aside(aside.as_deref())
    )]
    NotConfirmed {
        /// Its place.
        place: PathBuf,
        /// The folder that has the other package.
        aside: Option<PathBuf>,
        /// The reason.
        source: io::Error,
    },
    /// Another package of the id was moved away, and cannot be moved back.
    #[error(
        "cannot put the new package in place ({cause}), nor move {} back to {}; move it there by hand",
        folder.display(),
        place.display()
    )]
    NotPutBack {
        /// Its place.
        place: PathBuf,
        /// The folder that has it.
        folder: PathBuf,
        /// The reason why the new package is not in its place.
        cause: io::Error,
        /// The reason why this one cannot be moved back.
        source: io::Error,
    },
    /// The package cannot be sent.
    #[error("{word} {id} was not sent")]
    NotSent {
        /// The noun of its kind.
        word: &'static str,
        /// Its id.
        id: PackageId,
        /// The reason.
        source: Box<RepositoryError>,
    },
    /// The package cannot be fetched.
    #[error("{word} {id} was not fetched")]
    NotFetched {
        /// The noun of its kind.
        word: &'static str,
        /// Its id.
        id: PackageId,
        /// The reason.
        source: Box<RepositoryError>,
    },
    /// The package cannot be copied.
    #[error("{word} {id} was not copied")]
    NotCopied {
        /// The noun of its kind.
        word: &'static str,
        /// Its id.
        id: PackageId,
        /// The reason.
        source: Box<PackageError>,
    },
}

/// Says where the package is that made way, as a part of a sentence.
fn say_aside(aside: Option<&Path>) -> String {
    let say = |aside: &Path| format!(", and the other one is at {}", aside.display());
    aside.map(say).unwrap_or_default()
}

impl From<PinError> for TransferError {
    fn from(error: PinError) -> TransferError {
        TransferError::Pin(Box::new(error))
    }
}
