//! A store of packages that is not a folder: a registry, or an object store.

use crate::{
    Kind, Package, PackageError, PackageErrorKind, PackageId, PublishOutcome, RemoteManifest, Trust,
};
use std::error::Error;
use std::path::Path;

/// The callback of a transfer: a file's name, its bytes so far and in all.
pub type FileProgress<'a> = dyn FnMut(&str, u64, u64) + 'a;

/// A store that packages are fetched from by their manifests.
pub trait Repository {
    /// Sends a package there, unless it is there already.
    ///
    /// # Errors
    /// The package cannot be sent, or its id is there with other bytes.
    fn publish(
        &self,
        package: &Package,
        progress: &mut FileProgress<'_>,
    ) -> Result<PublishOutcome, RepositoryError>;

    /// Fetches and judges a package's manifest.
    ///
    /// # Errors
    /// The package is not there, or its manifest is not trusted.
    fn fetch_manifest(
        &self,
        kind: Kind,
        id: &PackageId,
        trust: &Trust,
    ) -> Result<RemoteManifest, RepositoryError>;

    /// Fetches a package's files into a folder of packages.
    ///
    /// # Errors
    /// A file cannot be fetched, or differs from the manifest. The id may be here with other bytes.
    fn pull(
        &self,
        remote: RemoteManifest,
        packages_dir: &Path,
        progress: &mut FileProgress<'_>,
    ) -> Result<PublishOutcome, RepositoryError>;

    /// Returns the address of a package there, for messages.
    fn reference(&self, kind: Kind, id: &PackageId) -> String;

    /// Asks whether this machine may read the store.
    ///
    /// # Errors
    /// The store cannot be reached, or refuses the credentials.
    fn probe(&self) -> Result<(), RepositoryError>;
}

/// Implements [`Repository`] for a store by its methods of the same names, whose error has a
/// variant `Package` for the error of a package.
#[macro_export]
macro_rules! implement_repository {
    ($store:ty, $error:ident) => {
        impl $crate::Repository for $store {
            fn publish(
                &self,
                package: &$crate::Package,
                progress: &mut $crate::FileProgress<'_>,
            ) -> Result<$crate::PublishOutcome, $crate::RepositoryError> {
                Ok(<$store>::publish(self, package, progress)?)
            }

            fn fetch_manifest(
                &self,
                kind: $crate::Kind,
                id: &$crate::PackageId,
                trust: &$crate::Trust,
            ) -> Result<$crate::RemoteManifest, $crate::RepositoryError> {
                Ok(<$store>::fetch_manifest(self, kind, id, trust)?)
            }

            fn pull(
                &self,
                remote: $crate::RemoteManifest,
                packages_dir: &std::path::Path,
                progress: &mut $crate::FileProgress<'_>,
            ) -> Result<$crate::PublishOutcome, $crate::RepositoryError> {
                Ok(<$store>::pull(self, remote, packages_dir, progress)?)
            }

            fn reference(&self, kind: $crate::Kind, id: &$crate::PackageId) -> String {
                <$store>::reference(self, kind, id)
            }

            fn probe(&self) -> Result<(), $crate::RepositoryError> {
                Ok(<$store>::probe(self)?)
            }
        }

        impl From<$error> for $crate::RepositoryError {
            fn from(error: $error) -> $crate::RepositoryError {
                match error {
                    $error::Package(error) => $crate::RepositoryError::Package(error),
                    error => $crate::RepositoryError::Store(Box::new(error)),
                }
            }
        }
    };
}

/// The error of a store.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// The package itself is refused.
    #[error(transparent)]
    Package(PackageError),
    /// The store failed, or refused the request.
    #[error(transparent)]
    Store(Box<dyn Error + Send + Sync>),
}

impl RepositoryError {
    /// Rewords the error for an id that is here with other bytes.
    pub(super) fn reword_conflict(self, from: &str) -> RepositoryError {
        match self {
            RepositoryError::Package(error) => {
                RepositoryError::Package(reword_conflict(error, from))
            }
            store => store,
        }
    }
}

/// Rewords the error for an id that is here with other bytes. A new id, as a publisher would
/// choose, helps nobody who pulls.
pub(super) fn reword_conflict(error: PackageError, from: &str) -> PackageError {
    match error {
        PackageError {
            package,
            kind: PackageErrorKind::Republished,
        } => PackageError {
            package,
            kind: PackageErrorKind::ConflictingCopy {
                from: from.to_owned(),
            },
        },
        other => other,
    }
}
