//! The errors of an object store.

use domesday_package::PackageError;
use std::io;
use std::time::Duration;

/// An operation on an object store failed.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The text is not a location in an object store.
    #[error(
        "{text} names no object store: {problem}. Write s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER"
    )]
    Address {
        /// The text.
        text: String,
        /// The problem.
        problem: String,
    },
    /// An address holds a user's name or a password. It is not repeated.
    #[error(
        "the address of an object store holds no user and no password. Set them in the environment, such as AWS_ACCESS_KEY_ID"
    )]
    CredentialsInAddress,
    /// The client of the store cannot be made.
    #[error("cannot open {location}: {source}")]
    Open {
        /// The location.
        location: String,
        /// The problem.
        source: object_store::Error,
    },
    /// The store refused an operation, or cannot be reached.
    #[error("{doing} at {location} failed: {problem}")]
    Failed {
        /// The operation.
        doing: String,
        /// The location.
        location: String,
        /// The problem, in printable text. It may repeat what the store answered.
        problem: String,
    },
    /// The store did not answer in time.
    #[error("{doing} at {location} took longer than {} s", limit.as_secs())]
    TimedOut {
        /// The operation.
        doing: String,
        /// The location.
        location: String,
        /// The time limit.
        limit: Duration,
    },
    /// Another thread stopped the transfer.
    #[error("the transfer was stopped")]
    Stopped,
    /// There is no such package.
    #[error("there is no package at {location}")]
    Absent {
        /// The location of the package.
        location: String,
    },
    /// A file of a package is not there.
    #[error("{file} is missing from {location}. Publish the package again")]
    FileMissing {
        /// The file.
        file: String,
        /// The location of the package.
        location: String,
    },
    /// An object has more bytes than it may have.
    #[error("{file} at {location} has more than {bytes} bytes. Publish the package again")]
    TooLarge {
        /// The name of the object.
        file: String,
        /// The location.
        location: String,
        /// The most bytes that are read.
        bytes: u64,
    },
    /// The id of a package is there with other bytes.
    #[error("{location} exists with other bytes. Publish them under a new id")]
    Republished {
        /// The location of the package.
        location: String,
    },
    /// Another publisher has begun to send other bytes under the id of a package.
    #[error(
        "another publisher began to send other bytes to {location}. Publish again once it has ended. If none is at work, remove {claim} first"
    )]
    Claimed {
        /// The location of the package.
        location: String,
        /// The object that names the other bytes.
        claim: String,
    },
    /// The store says that a manifest is there, and has none.
    #[error("the object store has not taken the manifest of {location}. Publish again")]
    ManifestRefused {
        /// The location of the package.
        location: String,
    },
    /// A file of this machine cannot be read or written.
    #[error("{file} cannot be transferred: {source}")]
    File {
        /// The file.
        file: String,
        /// The problem.
        source: io::Error,
    },
    /// A package is damaged, is not trusted, or cannot be put in place.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The machine cannot run the transfer.
    #[error("cannot start the transfer: {0}")]
    Machine(io::Error),
}

impl BucketError {
    /// Reports whether an object has more bytes than were asked for.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self, BucketError::TooLarge { .. })
    }
}
