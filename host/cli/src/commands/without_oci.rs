//! Stands in for `domesday_oci` in a build without the feature `oci`: an address of a registry is
//! known as one and refused.

use domesday_package::{
    Kind, Package, PackageError, PackageId, PublishOutcome, RemoteManifest, TransferControl, Trust,
};
use domesday_registers::Progress;
use std::path::Path;
use std::sync::Arc;

pub type LogLine = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("this build has no OCI registries: build it with --features oci")]
    Absent,
    #[error(transparent)]
    Package(PackageError),
}

/// The address of a registry, which is never made.
pub struct Address {
    pub id: Option<PackageId>,
}

impl Address {
    /// Returns whether a text is the address of a registry rather than a directory.
    pub fn is(text: &str) -> bool {
        text.starts_with("oci://")
    }

    /// Refuses an address of any scheme, which would be taken for a directory's name.
    ///
    /// # Errors
    /// [`RegistryError::Absent`] for any scheme.
    pub fn or_folder(text: &str) -> Result<(), RegistryError> {
        let is_scheme = |(scheme, _): (&str, &str)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && !scheme.contains('/')
        };
        match text.split_once(":/").is_some_and(is_scheme) {
            true => Err(RegistryError::Absent),
            false => Ok(()),
        }
    }

    pub fn parse(_: &str) -> Result<Address, RegistryError> {
        Err(RegistryError::Absent)
    }
}

/// A registry, which is never made.
pub enum Registry {}

domesday_package::implement_repository!(Registry, RegistryError);

impl Registry {
    pub fn new(_: Address, _plain_http: bool, _: LogLine) -> Result<Registry, RegistryError> {
        Err(RegistryError::Absent)
    }

    pub fn with_control(self, _: Arc<TransferControl>) -> Registry {
        self
    }

    pub fn probe(&self) -> Result<(), RegistryError> {
        match *self {}
    }

    pub fn publish(
        &self,
        _: &Package,
        _: &mut Progress<'_>,
    ) -> Result<PublishOutcome, RegistryError> {
        match *self {}
    }

    pub fn fetch_manifest(
        &self,
        _: Kind,
        _: &PackageId,
        _: &Trust,
    ) -> Result<RemoteManifest, RegistryError> {
        match *self {}
    }

    pub fn pull(
        &self,
        _: RemoteManifest,
        _: &Path,
        _: &mut Progress<'_>,
    ) -> Result<PublishOutcome, RegistryError> {
        match *self {}
    }

    pub fn reference(&self, _: Kind, _: &PackageId) -> String {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::{Arguments, execute};
    use clap::CommandFactory;

    #[test]
    fn a_registry_names_the_missing_feature_and_a_folder_does_not() {
        for (line, expected) in [
            ("release pull oci://registry.example/homes:trees-1", true),
            ("release pull trees-1 oci://registry.example/homes", true),
            (
                "release publish trees-1 https://registry.example/homes",
                true,
            ),
            ("release pull trees-1 no/such/folder", false),
        ] {
            let words = std::iter::once("domesday").chain(line.split(' '));
            let matches = Arguments::command().try_get_matches_from(words).unwrap();
            let error = execute(&matches).unwrap_err().to_string();
            assert_eq!(
                error.contains("--features oci"),
                expected,
                "{line}: {error}"
            );
        }
    }
}
