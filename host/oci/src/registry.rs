//! Packages in OCI registries.
//!
//! A release is two artifacts of one repository. The tag of its id holds the component alone, in
//! the layout of the CNCF's runtime group: one layer, `application/wasm`. Tools that know the
//! layout find a component. The annotation [`artifact::PACKAGE`] names the second artifact by
//! digest. It is the whole package, with one layer for each file and the file's name as its title.
//! It has a tag too ([`artifact::package_tag`]), because registries remove untagged artifacts. A
//! property snapshot is a package artifact only.
//!
//! Nothing from a registry is trusted. The package's own signed manifest holds the digests of its
//! files, which are also the names of the blobs.

pub use crate::error::RegistryError;
pub use crate::reference::Address;

use crate::log_line::LogLine;
use crate::transfer::Transfer;
use crate::{artifact, pull, push};
use domesday_package::{
    Kind, Package, PackageId, PublishOutcome, RemoteManifest, TransferControl, Trust,
};
use domesday_registers::Progress;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The time between two looks whether a transfer was stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A repository of a registry, with its credentials and connections.
pub struct Registry {
    transfer: Transfer,
    runtime: tokio::runtime::Runtime,
    control: Arc<TransferControl>,
}

domesday_package::implement_repository!(Registry, RegistryError);

impl Registry {
    /// Creates a client; it sends no request yet.
    ///
    /// `plain_http` allows HTTP without TLS to another machine.
    ///
    /// # Errors
    /// The credentials cannot be read, or the runtime cannot be started.
    pub fn new(
        address: Address,
        plain_http: bool,
        log: LogLine,
    ) -> Result<Registry, RegistryError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RegistryError::Machine)?;
        Ok(Registry {
            transfer: Transfer::new(address, plain_http, log)?,
            runtime,
            control: Arc::default(),
        })
    }

    /// Lets another thread stop what is fetched.
    #[must_use]
    pub fn with_control(self, control: Arc<TransferControl>) -> Registry {
        Registry { control, ..self }
    }

    /// Asks the registry whether this machine may read the repository.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses the credentials.
    pub fn probe(&self) -> Result<(), RegistryError> {
        self.run(pull::probe(&self.transfer))
    }

    /// Runs an operation until it ends or is stopped.
    ///
    /// `domesday_objects::PackageBucket` has the same lines. Neither crate may use the other, and
    /// the crates that both use have no async runtime.
    ///
    /// # Errors
    /// [`RegistryError::Stopped`], or the error of the operation.
    fn run<T>(
        &self,
        operation: impl Future<Output = Result<T, RegistryError>>,
    ) -> Result<T, RegistryError> {
        let stopped = async {
            while !self.control.is_stopped() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = stopped => Err(RegistryError::Stopped),
                outcome = operation => outcome,
            }
        })
    }

    /// Publishes an opened package, unless it is there already. `progress` receives the name of the
    /// file, the bytes sent and the bytes in all.
    ///
    /// # Errors
    /// [`RegistryError::Republished`] where the id is there with other bytes, or the reason of a
    /// failed transfer.
    pub fn publish(
        &self,
        package: &Package,
        progress: &mut Progress<'_>,
    ) -> Result<PublishOutcome, RegistryError> {
        self.runtime
            .block_on(push::publish(&self.transfer, package, progress))
    }

    /// Fetches the manifest and the signature of a package and judges them.
    ///
    /// # Errors
    /// The repository has no such package, or its signature is not trusted.
    pub fn fetch_manifest(
        &self,
        kind: Kind,
        id: &PackageId,
        trust: &Trust,
    ) -> Result<RemoteManifest, RegistryError> {
        self.run(pull::fetch_manifest(&self.transfer, (kind, id), trust))
    }

    /// Fetches the files of a package and puts it on `packages_dir`, unless it is there already.
    /// `progress` receives the name of the file, the bytes fetched and the bytes in all.
    ///
    /// # Errors
    /// A file cannot be fetched or differs from the manifest. Nothing is kept then.
    pub fn pull(
        &self,
        remote: RemoteManifest,
        packages_dir: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<PublishOutcome, RegistryError> {
        let places = (packages_dir, &*self.control);
        self.run(pull::pull(&self.transfer, remote, places, progress))
    }

    /// Returns the address of a package in this repository, for messages.
    pub fn reference(&self, kind: Kind, id: &PackageId) -> String {
        self.transfer.address().with_tag(&artifact::tag(kind, id))
    }
}
