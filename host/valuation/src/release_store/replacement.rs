//! Another package of a release. The store opens it beside the one that it serves, and serves it
//! once it was promoted.

use super::error::ReleaseError;
use super::opening::{OpenRelease, Snapshots, open_release_with};
use super::{Entry, ReleaseStore, RetainedRelease, check_package, log_opened};
use domesday_package::{Kind, PackageId, Sha256Digest};
use std::sync::Arc;

impl ReleaseStore {
    /// Opens the package that a release has on the disk, so that it can be promoted. `manifest` is
    /// the SHA-256 of its manifest. The store serves no other package than before. Blocks.
    ///
    /// # Errors
    /// [`ReleaseError`] if it is not in the folder or cannot be served.
    pub fn open_stored(
        &self,
        id: &str,
        manifest: Option<&str>,
    ) -> Result<Arc<OpenRelease>, ReleaseError> {
        let known = self.package_digest(id).map(|known| known.to_string());
        if known.is_some() && known.as_deref() == manifest {
            return self.get(id);
        }
        self.open_package(id, None, &mut self.lock_snapshots())
    }

    /// Serves an open release from now on, in place of any other package of its id. One of its
    /// manifest that is withdrawn stays withdrawn.
    ///
    /// # Errors
    /// [`ReleaseError::Withdrawn`] if a proof found damage since it was opened.
    pub fn replace(&self, release: &Arc<OpenRelease>) -> Result<(), ReleaseError> {
        let mut entries = self.write();
        if let Some(entry) = entries.get(&release.id)
            && entry.retained.package_digest() == release.package
        {
            return entry.check_served();
        }
        entries.insert(release.id.clone(), Entry::of_open(release.clone()));
        Ok(())
    }

    /// Opens the package that a release has on the disk. Where `known` is a manifest, a package of
    /// another one is refused before its files are read.
    pub(super) fn open_package(
        &self,
        id: &str,
        known: Option<Sha256Digest>,
        snapshots: &mut Snapshots,
    ) -> Result<Arc<OpenRelease>, ReleaseError> {
        let folder = self.root.join(Kind::Valuation.as_str());
        // An id is a folder's name, so that nothing may be taken for one that is none.
        if id.parse::<PackageId>().is_err() || !folder.join(id).exists() {
            return Err(self.unknown(id));
        }
        let retained = RetainedRelease::read(&self.root, id, &self.trust)?;
        check_package(id, known, retained.package_digest())?;
        let proof = (&self.trust, &*self.verification);
        let release = open_release_with(&self.root, id, proof, &self.runtime, snapshots)?;
        // Another one may have replaced it between.
        check_package(id, known, release.package)?;
        log_opened(&release);
        Ok(Arc::new(release))
    }
}
