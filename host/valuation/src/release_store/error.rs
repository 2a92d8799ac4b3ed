//! The reasons why a release cannot be served.

use domesday_package::Sha256Digest;
use std::io;
use std::path::PathBuf;

/// The reason why a release cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// A package does not open.
    #[error(transparent)]
    Package(#[from] domesday_package::PackageError),
    /// A release asks for a snapshot with other content.
    #[error(
        "release {release} is pinned to the content {pinned} of snapshot {snapshot}, but {path} holds \
         {found}. Move it away and fetch the pinned snapshot with `domesday release pull`"
    )]
    OtherSnapshot {
        /// The release.
        release: String,
        /// The snapshot's id.
        snapshot: String,
        /// The content digest that the release requires.
        pinned: String,
        /// The content digest that is present.
        found: String,
        /// The file or folder.
        path: PathBuf,
    },
    /// Another package is in the place of the retained one, and was not promoted.
    #[error(
        "the package of release {release} has the manifest {found}, and the host retains {retained}. \
         Copy that one back, promote this one, or restart the service"
    )]
    OtherPackage {
        /// The release.
        release: String,
        /// SHA-256 of the manifest on the disk.
        found: Sha256Digest,
        /// SHA-256 of the manifest that the host knows of it.
        retained: Sha256Digest,
    },
    /// The snapshot does not open.
    #[error("the property snapshot {path} cannot be used: {source}")]
    Snapshot {
        /// The package.
        path: PathBuf,
        /// The problem.
        source: domesday_property::SnapshotError,
    },
    /// The component may not run.
    #[error("release {release} is not admitted: {source}")]
    NotAdmitted {
        /// The release.
        release: String,
        /// The reason.
        source: domesday_engine::AdmissionError,
    },
    /// The folder cannot be read.
    #[error("cannot list the releases in {path}: {error}; {}", advise(error))]
    Io {
        /// The folder.
        path: PathBuf,
        /// The file system's error.
        error: io::Error,
    },
    /// A proof behind the requests found other bytes than the manifest's.
    #[error("release {release} is withdrawn: {reason}, and restart the service")]
    Withdrawn {
        /// The release.
        release: String,
        /// The difference that was found.
        reason: String,
    },
    /// There is nothing to serve.
    #[error("{path} holds no valuation release; build one with `domesday release build`")]
    Nothing {
        /// The packages folder that was searched.
        path: PathBuf,
    },
    /// The named release is missing.
    #[error("there is no release {id:?} in {path}; list the releases with `domesday release list`")]
    Unknown {
        /// The id of the request.
        id: String,
        /// The packages folder that was searched.
        path: PathBuf,
    },
}

/// Says what to do about a folder that cannot be listed.
fn advise(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "run domesday as a user who may read it, such as root",
        _ => "check --releases",
    }
}
