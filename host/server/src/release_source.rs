//! The place that a host fetches promoted releases from.

use domesday_package::{Kind, Trust, ValuationBody, read_claimed_body, read_claimed_digest};
use domesday_state::ReleaseKind;
use std::error::Error;
use std::path::Path;

/// The place that a host fetches promoted releases from: another folder, a registry or an object
/// store.
pub trait ReleaseSource: Send + Sync {
    /// Brings a release into the host's folder of releases, with all that it pins. What comes is
    /// proved and trusted as a package that an operator copies there. Where it was promoted before,
    /// `manifest` is the SHA-256 that the promotion ledger has. A package of another manifest makes
    /// way then. Blocks, for a bounded time.
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

    /// Returns the problem that the last look at the source found, if any. Never waits.
    fn problem(&self) -> Option<String>;

    /// Returns the fetches that run now. Never waits.
    fn list_fetches(&self) -> Vec<Fetch>;
}

/// A fetch that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The kind of release.
    pub kind: ReleaseKind,
    /// The release.
    pub id: String,
    /// The bytes read and written so far.
    pub bytes: u64,
}

/// Reports whether a release is in a folder of releases, with the snapshot that it pins. One whose
/// manifest is not that of `manifest` is not, where that is known. One that cannot be read is here,
/// since fetching would replace nothing.
pub fn is_release_here(
    releases: &Path,
    trust: &Trust,
    (kind, id): (ReleaseKind, &str),
    manifest: Option<&str>,
) -> bool {
    let package_dir = releases.join(kind.as_str()).join(id);
    let found = read_claimed_digest(&package_dir);
    if let (Some(found), Some(manifest)) = (found, manifest)
        && found.to_string() != manifest
    {
        return false;
    }
    if kind != ReleaseKind::Valuation || !package_dir.exists() {
        return package_dir.exists();
    }
    read_claimed_body::<ValuationBody>(&package_dir, trust).map_or(true, |body| {
        let snapshots = releases.join(Kind::Property.as_str());
        snapshots.join(body.snapshot.id.as_str()).exists()
    })
}
