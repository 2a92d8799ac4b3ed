//! Whose packages a command opens.

use anyhow::Context;
use domesday_package::{KEYS, PackageId, Trust, TrustList};
use std::path::Path;

/// The packages that a command takes without a trusted signature.
#[derive(Debug, clap::Args)]
pub struct UnsignedPackages {
    /// Accept this package without a trusted signature. Repeatable.
    #[arg(long = "allow-unsigned", value_name = "ID")]
    unsigned: Vec<String>,
}

impl UnsignedPackages {
    /// Returns the keys in the folder of releases, and the exceptions of the command line.
    ///
    /// # Errors
    /// The keys cannot be read, or an id is not one of a package.
    pub fn trust(&self, releases: &Path) -> anyhow::Result<Trust> {
        trust(releases, &self.unsigned)
    }
}

/// Loads the keys in `<releases>/keys` and adds the ids that the operator accepts unsigned.
///
/// # Errors
/// A file does not hold a public key, or an id is malformed.
pub fn trust(releases: &Path, unsigned: &[String]) -> anyhow::Result<Trust> {
    let mut list = TrustList::of_releases(releases).with_context(|| {
        let keys = releases.join(KEYS);
        format!("cannot read the trusted keys in {}", keys.display())
    })?;
    for id in unsigned {
        list.exempt(
            id.parse::<PackageId>()
                .with_context(|| format!("--allow-unsigned {id}"))?,
        );
    }
    Ok(Trust::Required(list))
}
