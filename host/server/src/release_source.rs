//! The place that a host fetches promoted releases from.

use domesday_package::{Kind, Trust, ValuationBody, open};
use domesday_state::ReleaseKind;
use std::error::Error;
use std::path::Path;

/// The place that a host fetches promoted releases from: another folder, a registry or an object
/// store.
pub trait ReleaseSource: Send + Sync {
    /// Brings a release into the host's folder of releases, with all that it pins. What comes is
    /// proved and trusted as a package that an operator copies there. Where it was promoted before,
    /// `manifest` is the SHA-256 that the promotion ledger has. Blocks.
    ///
    /// # Errors
    /// The release is not there, has another manifest, is not trusted, or cannot be stored. Nothing
    /// stays of it then.
    fn fetch(
        &self,
        kind: ReleaseKind,
        id: &str,
        manifest: Option<&str>,
    ) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Reports whether a release is in a folder of releases, with the snapshot that it pins. One that
/// cannot be read is here too, since fetching would replace nothing.
pub fn is_release_here(releases: &Path, trust: &Trust, kind: ReleaseKind, id: &str) -> bool {
    let package_dir = releases.join(kind.as_str()).join(id);
    if kind != ReleaseKind::Valuation || !package_dir.exists() {
        return package_dir.exists();
    }
    let body = open(&package_dir, trust).and_then(|package| package.body::<ValuationBody>());
    body.map_or(true, |body| {
        let snapshots = releases.join(Kind::Property.as_str());
        snapshots.join(body.snapshot.id.as_str()).exists()
    })
}
