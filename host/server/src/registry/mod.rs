//! Packages in OCI registries, beside those in folders.
//!
//! A release is two artifacts of one repository. Under its id stands the component alone, as the layout of the CNCF's
//! runtime group has it (one layer, `application/wasm`), so that tools which know that layout find a component. Its
//! annotation [`artifact::PACKAGE`] names the other by digest: the whole package, a layer for each file with its name
//! as title. That one has a tag too ([`artifact::package_tag`]), since registries sweep away what has none. A property
//! snapshot is a package artifact only.
//!
//! Nothing that a registry says is believed: what the package must be stands in its own signed manifest, whose
//! digests are also the names of the blobs.

mod address;
mod artifact;
mod credentials;
mod fault;
mod pull;
mod push;
mod standing;
mod transfer;
mod wire;

pub use address::Address;
pub use fault::RegistryError;

use domesday_package::{Announced, Kind, Package, PackageId, Published, Trust};
use std::path::Path;
use std::sync::Arc;
use transfer::Transfer;

/// Called as bytes go: what goes, how many have gone, and how many there are.
pub type Told = Arc<dyn Fn(&str, u64, u64) + Send + Sync>;

/// Called with what a person who waits should know.
pub type Said = Arc<dyn Fn(&str) + Send + Sync>;

/// A repository of a registry, with what is needed to talk to it.
pub struct Registry {
    transfer: Transfer,
    runtime: tokio::runtime::Runtime,
    told: Told,
}

impl Registry {
    /// Nothing is asked of the registry yet; `plain_http` allows it without TLS where it is not on this machine.
    ///
    /// # Errors
    /// Where the credentials cannot be read, or the machine has no connections to give.
    pub fn new(
        address: Address,
        plain_http: bool,
        told: Told,
        said: Said,
    ) -> Result<Registry, RegistryError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RegistryError::Machine)?;
        Ok(Registry {
            transfer: Transfer::new(address, plain_http, said)?,
            runtime,
            told,
        })
    }

    /// Publishes a package that was opened, unless it is there already.
    ///
    /// # Errors
    /// [`RegistryError::Republished`] where its id is there with other bytes, or why it could not be sent.
    pub fn publish(&self, package: &Package) -> Result<Published, RegistryError> {
        self.runtime
            .block_on(push::publish(&self.transfer, package, &self.told))
    }

    /// Fetches the manifest and the signature of a package and judges them.
    ///
    /// # Errors
    /// Where there is none, or it is not to be trusted.
    pub fn announced(
        &self,
        kind: Kind,
        id: &PackageId,
        trust: &Trust,
    ) -> Result<Announced, RegistryError> {
        self.runtime
            .block_on(pull::announced(&self.transfer, (kind, id), trust))
    }

    /// Fetches the files of an announced package and puts it on `shelf`, unless it is there already.
    ///
    /// # Errors
    /// Where a file cannot be had or is not what the manifest says; nothing is kept then.
    pub fn pull(&self, announced: Announced, shelf: &Path) -> Result<Published, RegistryError> {
        self.runtime
            .block_on(pull::pull(&self.transfer, announced, shelf, &self.told))
    }

    /// Where a package is or would be, as a person writes it.
    pub fn place(&self, kind: Kind, id: &PackageId) -> String {
        self.transfer.address().with_tag(&artifact::tag(kind, id))
    }
}
