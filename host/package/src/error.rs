//! The errors of a package.

use std::io;
use std::path::{Path, PathBuf};

use crate::{BodyError, FilePath, Kind, PackageId, PublicKey, Sha256Digest};

/// A package could not be opened, written or signed.
#[derive(Debug, thiserror::Error)]
#[error("package {}: {kind}", package.display())]
pub struct PackageError {
    /// The package's directory.
    pub package: PathBuf,
    /// The problem.
    #[source]
    pub kind: PackageErrorKind,
}

/// A problem of a package.
#[derive(Debug, thiserror::Error)]
pub enum PackageErrorKind {
    /// The file system refused.
    #[error("cannot read or write {}: {error}", path.display())]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// The file system's error.
        error: io::Error,
    },
    /// The path is not a directory (a link to one is not).
    #[error("is not a folder; name the folder of the package itself")]
    NotADirectory,
    /// There is no `manifest.json`.
    #[error("has no manifest.json; copy the whole package again")]
    NoManifest,
    /// The manifest, a signature or a report is larger than any that is read.
    #[error("{file} has {bytes} bytes, more than the limit; copy the whole package again")]
    TooLarge {
        /// The file's name.
        file: &'static str,
        /// Its size in bytes.
        bytes: u64,
    },
    /// `manifest.json` is not JSON of the right shape.
    #[error("manifest.json is not valid: {0}")]
    ManifestJson(#[source] serde_json::Error),
    /// A format that this version does not know.
    #[error("manifest.json: format {found} is unknown; use a later version of domesday")]
    UnknownFormat {
        /// The format found, as JSON text, or `none`.
        found: String,
    },
    /// The manifest's values are spelled in another way than the one stored form.
    #[error("manifest.json is not in canonical form; copy the whole package again")]
    NotCanonical,
    /// The name of the directory or tag is not the id.
    #[error("manifest.json names {manifest}, but the package is stored as {directory}; rename it")]
    WrongId {
        /// The id in the manifest.
        manifest: PackageId,
        /// The name of the directory or tag.
        directory: String,
    },
    /// The package is of another kind than was asked for.
    #[error("is of kind {found}, not {expected}; name a package of kind {expected}")]
    WrongKind {
        /// The kind in the manifest.
        found: Kind,
        /// The kind asked for.
        expected: Kind,
    },
    /// Something in the directory is not in the manifest.
    #[error("{path} is not listed in the manifest; move it away")]
    Unlisted {
        /// Path relative to the package.
        path: String,
    },
    /// A listed file is not there.
    #[error("{file} is missing; copy the whole package again")]
    Missing {
        /// The file.
        file: FilePath,
    },
    /// A symbolic link.
    #[error("{path} is a symbolic link; copy the file itself")]
    SymbolicLink {
        /// Path relative to the package.
        path: String,
    },
    /// A file with a second name, through which it could be changed from outside the package.
    #[error("{path} is hard-linked ({names} names); copy it instead")]
    HardLink {
        /// Path relative to the package.
        path: String,
        /// Number of names that the file has.
        names: u64,
    },
    /// Neither a regular file nor a directory.
    #[error("{path} is not a regular file; copy the file itself")]
    NotAFile {
        /// Path relative to the package.
        path: String,
    },
    /// A file of another size than the manifest says.
    #[error("{file} has {found} bytes, the manifest says {expected}; copy the whole package again")]
    Size {
        /// The file.
        file: FilePath,
        /// Bytes by the manifest.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// A file whose bytes are not those of the manifest.
    #[error("{file} has SHA-256 {found}, the manifest says {expected}; copy the package again")]
    Digest {
        /// The file.
        file: FilePath,
        /// By the manifest.
        expected: Sha256Digest,
        /// Of the bytes found.
        found: Sha256Digest,
    },
    /// A file was asked for that the package does not hold.
    #[error("does not contain the file {file}")]
    NotListed {
        /// The path asked for.
        file: String,
    },
    /// There is no `manifest.sig`, and the package may not do without.
    #[error(
        "is not signed. Sign it with `domesday release sign`, or allow it with --allow-unsigned"
    )]
    Unsigned,
    /// The signature is good, but nobody trusts its key.
    #[error(
        "is signed by {key}, which is not trusted. To trust it, put it as a .pub file into keys/ of the releases folder, and restart a running service"
    )]
    Untrusted {
        /// The key that signed.
        key: PublicKey,
    },
    /// `manifest.sig` is not in its form.
    #[error("manifest.sig is not a signature file; copy the whole package again")]
    SignatureForm,
    /// The signature does not belong to this manifest, kind and id.
    #[error(
        "manifest.sig: the signature by {key} is not for this manifest; copy the whole package again"
    )]
    SignatureMismatch {
        /// The key that the file names.
        key: PublicKey,
    },
    /// The kind's own part of the manifest is wrong.
    #[error("manifest.json is not valid: body: {0}")]
    Body(#[from] BodyError),
    /// The id is published already, with other bytes.
    #[error("is published already with other bytes; an id never changes, so take a new one")]
    Republished,
    /// The received package has the id of another package that is here.
    #[error(
        "is another package than the one in {from}: the id was published already with other bytes. Ask the publisher which is right, or move it away and pull again"
    )]
    ConflictingCopy {
        /// Source of the other package.
        from: String,
    },
}

impl PackageErrorKind {
    /// Attaches the directory of the package that the error is about.
    pub(crate) fn of(self, package: &Path) -> PackageError {
        PackageError {
            package: package.to_owned(),
            kind: self,
        }
    }

    /// Returns a function that attaches `path` to an [`io::Error`].
    pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> PackageErrorKind {
        move |error| PackageErrorKind::Io {
            path: path.as_ref().to_owned(),
            error,
        }
    }
}
