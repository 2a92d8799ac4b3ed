//! The package that a release has on the disk, opened for a promotion. The host serves it once it
//! was promoted.

use super::PromotionError;
use crate::service::Service;
use domesday_package::Sha256Digest;
use domesday_series::store::Release;
use domesday_state::ReleaseKind;
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;

/// A release that is open from the disk. The host may serve another package under its id.
pub(super) enum StoredRelease {
    /// A valuation release.
    Valuation(Arc<OpenRelease>),
    /// A release of market statistics.
    Markets(Arc<Release>),
    /// A release of rates.
    Rates(Arc<Release>),
}

impl StoredRelease {
    /// Returns the digest of the manifest of its package.
    pub(super) fn digest(&self) -> Sha256Digest {
        match self {
            StoredRelease::Valuation(release) => release.package,
            StoredRelease::Markets(release) | StoredRelease::Rates(release) => release.digest(),
        }
    }
}

impl Service {
    /// Opens the package that a release has on the disk. `manifest` is the SHA-256 of its manifest.
    /// The host serves no other package than before. Blocks.
    ///
    /// # Errors
    /// [`PromotionError`] if the release cannot be served.
    pub(super) fn open_stored(
        &self,
        kind: ReleaseKind,
        id: &str,
        manifest: Option<&str>,
    ) -> Result<StoredRelease, PromotionError> {
        Ok(match kind {
            ReleaseKind::Valuation => {
                StoredRelease::Valuation(self.releases.open_stored(id, manifest)?)
            }
            ReleaseKind::Markets => StoredRelease::Markets(self.markets.open_stored(id, manifest)?),
            ReleaseKind::Rates => StoredRelease::Rates(self.rates.open_stored(id, manifest)?),
        })
    }

    /// Serves a release from now on, in place of any other package of its id.
    ///
    /// # Errors
    /// [`PromotionError`] if it was withdrawn since it was opened.
    pub(super) fn serve_stored(&self, release: &StoredRelease) -> Result<(), PromotionError> {
        match release {
            StoredRelease::Valuation(release) => self.releases.replace(release)?,
            StoredRelease::Markets(release) => self.markets.replace(release)?,
            StoredRelease::Rates(release) => self.rates.replace(release)?,
        }
        Ok(())
    }
}
