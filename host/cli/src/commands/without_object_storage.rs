//! Stands in for `domesday_objects` in a build without the feature `object-storage`: an address of
//! an object store is known as one and refused.

use domesday_package::{
    Kind, Package, PackageError, PackageId, PublishOutcome, RemoteManifest, TransferControl, Trust,
};
use domesday_registers::Progress;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    #[error("this build has no object storage: build it with --features object-storage")]
    Absent,
    #[error(transparent)]
    Package(PackageError),
}

impl BucketError {
    pub fn is_too_large(&self) -> bool {
        false
    }
}

/// The address of an object store, which is never made.
pub enum Location {}

impl Location {
    /// Returns whether a text is the address of an object store.
    pub fn is(text: &str) -> bool {
        ["s3://", "gs://", "az://", "file://"]
            .into_iter()
            .any(|scheme| text.starts_with(scheme))
    }

    pub fn parse(_: &str) -> Result<Location, BucketError> {
        Err(BucketError::Absent)
    }
}

/// A folder of releases in an object store, which is never opened.
pub enum PackageBucket {}

domesday_package::implement_repository!(PackageBucket, BucketError);

impl PackageBucket {
    pub fn open(location: Location) -> Result<PackageBucket, BucketError> {
        match location {}
    }

    pub fn with_control(self, _: Arc<TransferControl>) -> PackageBucket {
        self
    }

    pub fn probe(&self) -> Result<(), BucketError> {
        match *self {}
    }

    pub fn publish(
        &self,
        _: &Package,
        _: &mut Progress<'_>,
    ) -> Result<PublishOutcome, BucketError> {
        match *self {}
    }

    pub fn fetch_manifest(
        &self,
        _: Kind,
        _: &PackageId,
        _: &Trust,
    ) -> Result<RemoteManifest, BucketError> {
        match *self {}
    }

    pub fn pull(
        &self,
        _: RemoteManifest,
        _: &Path,
        _: &mut Progress<'_>,
    ) -> Result<PublishOutcome, BucketError> {
        match *self {}
    }

    pub fn reference(&self, _: Kind, _: &PackageId) -> String {
        match *self {}
    }
}

/// A location where files arrive, which is never opened.
#[cfg(feature = "builders")]
pub enum Arrivals {}

#[cfg(feature = "builders")]
impl Arrivals {
    pub fn open(location: Location) -> Result<Arrivals, BucketError> {
        match location {}
    }

    pub fn fetch(
        &self,
        _: &Path,
        _: &mut Progress<'_>,
    ) -> Result<Vec<std::path::PathBuf>, BucketError> {
        match *self {}
    }
}

/// A location for the objects of a service, which is never opened.
pub enum ObjectBucket {}

impl ObjectBucket {
    pub fn open(location: Location) -> Result<ObjectBucket, BucketError> {
        match location {}
    }

    pub async fn put(&self, _: &str, _: Vec<u8>) -> Result<(), BucketError> {
        match *self {}
    }

    pub async fn get(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, BucketError> {
        match *self {}
    }

    pub async fn delete(&self, _: &str) -> Result<(), BucketError> {
        match *self {}
    }

    pub async fn list(&self, _: &str, _: &str, _: usize) -> Result<Vec<String>, BucketError> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::{Arguments, execute};
    use clap::CommandFactory;

    #[test]
    fn an_object_store_names_the_missing_feature_and_a_folder_does_not() {
        for (line, expected) in [
            ("release pull trees-1 s3://bucket/releases", true),
            ("release publish trees-1 gs://bucket/releases", true),
            ("release pull trees-1 no/such/folder", false),
        ] {
            let words = std::iter::once("domesday").chain(line.split(' '));
            let matches = Arguments::command().try_get_matches_from(words).unwrap();
            let error = execute(&matches).unwrap_err().to_string();
            assert_eq!(
                error.contains("--features object-storage"),
                expected,
                "{line}: {error}"
            );
        }
    }
}
