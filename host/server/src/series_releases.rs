//! The releases of market statistics and of rates: opened, proved, and which of each is current.

use arc_swap::ArcSwapOption;
use domesday_package::{PackageId, Sha256Digest, Trust, Verification};
use domesday_series::catalogue::Family;
use domesday_series::store::{OpenError, Release};
use domesday_valuation::release_store::{ReleaseError, package_ids};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The reason why a release of series cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum SeriesReleaseError {
    /// The folder of the family cannot be read.
    #[error(transparent)]
    Folder(#[from] ReleaseError),
    /// The package does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A proof behind the requests found other bytes than the manifest's.
    #[error(
        "release {release} is withdrawn: its files are not those of its manifest. Copy the package \
         again, and restart the service"
    )]
    Withdrawn {
        /// The release.
        release: String,
    },
    /// The release that was named is not there.
    #[error("there is no release {id:?} in {path}; `domesday release list` shows those that are")]
    Unknown {
        /// The requested id.
        id: String,
        /// The folder of the family.
        path: PathBuf,
    },
}

/// The retained releases of one family, one of them the current one. There may be none at all: a
/// service may offer valuations alone.
pub struct SeriesReleases {
    family: Family,
    folder: PathBuf,
    trust: Trust,
    verification: Arc<dyn Verification>,
    current: ArcSwapOption<Release>,
    held: RwLock<HeldReleases>,
}

#[derive(Default)]
struct HeldReleases {
    /// Releases that are not served any more, as far as this process lives.
    withdrawn: BTreeMap<String, Withdrawal>,
    retained: BTreeMap<String, Arc<Release>>,
}

/// The withdrawal of a release.
struct Withdrawal {
    /// The digest of the manifest of its package. Another package of the id is another release.
    manifest: Sha256Digest,
    reason: String,
}

impl HeldReleases {
    /// Checks that a release is not withdrawn.
    ///
    /// # Errors
    /// [`SeriesReleaseError::Withdrawn`] if it is.
    fn check(&self, id: &str) -> Result<(), SeriesReleaseError> {
        match self.withdrawn.contains_key(id) {
            true => Err(SeriesReleaseError::Withdrawn {
                release: id.to_owned(),
            }),
            false => Ok(()),
        }
    }
}

impl SeriesReleases {
    /// Opens every release of the family under `root`. `current` names the one that answers queries
    /// without a release. Without it, the one that was made last does, and of equals the last by
    /// id. `verification` says how files are proved.
    ///
    /// # Errors
    /// The first package that cannot be served, or that `current` is not there.
    pub fn open(
        root: &Path,
        family: Family,
        (trust, verification): (Trust, Arc<dyn Verification>),
        current: Option<&str>,
    ) -> Result<SeriesReleases, SeriesReleaseError> {
        let releases = SeriesReleases {
            family,
            folder: root.join(family.as_str()),
            trust,
            verification,
            current: ArcSwapOption::empty(),
            held: RwLock::default(),
        };
        if releases.folder.exists() {
            for id in package_ids(&releases.folder)? {
                releases.retain(&id)?;
            }
        }
        let newest = || {
            let releases = releases.list_retained();
            releases
                .into_iter()
                .max_by_key(|release| (release.created_at(), release.id().clone()))
        };
        let first = match current {
            Some(id) => Some(releases.get(id).ok_or_else(|| releases.unknown(id))?),
            None => newest(),
        };
        releases.current.store(first);
        Ok(releases)
    }

    /// Returns the current release, if there is one. Never waits.
    pub fn current(&self) -> Option<Arc<Release>> {
        self.current.load_full()
    }

    /// Returns the retained release of this id.
    pub fn get(&self, id: &str) -> Option<Arc<Release>> {
        self.read().retained.get(id).cloned()
    }

    /// Returns all retained releases, ordered by id.
    pub fn list_retained(&self) -> Vec<Arc<Release>> {
        self.read().retained.values().cloned().collect()
    }

    /// Opens a release that came after the start, so that it can be promoted. Blocks.
    ///
    /// # Errors
    /// [`SeriesReleaseError`] if it is not in the folder or cannot be served.
    pub fn retain(&self, id: &str) -> Result<Arc<Release>, SeriesReleaseError> {
        if let Some(release) = self.get(id) {
            return Ok(release);
        }
        self.read().check(id)?;
        self.keep(self.open_package(id)?)
    }

    /// Opens the package that a release has on the disk, so that it can be promoted. `manifest` is
    /// the SHA-256 of its manifest. The host serves no other package than before. Blocks.
    ///
    /// # Errors
    /// [`SeriesReleaseError`] if it is not in the folder or cannot be served.
    pub fn open_stored(
        &self,
        id: &str,
        manifest: Option<&str>,
    ) -> Result<Arc<Release>, SeriesReleaseError> {
        let is_stored = |digest: Sha256Digest| Some(digest.to_string().as_str()) == manifest;
        let held = self.read();
        if let Some(release) = held.retained.get(id)
            && is_stored(release.digest())
        {
            return Ok(release.clone());
        }
        if (held.withdrawn.get(id)).is_some_and(|withdrawal| is_stored(withdrawal.manifest)) {
            held.check(id)?;
        }
        drop(held);
        self.open_package(id)
    }

    /// Retains an open release, in place of any other package of its id. One of its manifest that
    /// is withdrawn stays withdrawn.
    ///
    /// # Errors
    /// [`SeriesReleaseError::Withdrawn`] if a proof found damage since it was opened.
    pub fn replace(&self, release: &Arc<Release>) -> Result<(), SeriesReleaseError> {
        let (mut held, id) = (self.write(), release.id().as_str());
        let is_this = |withdrawal: &Withdrawal| withdrawal.manifest == release.digest();
        if held.withdrawn.get(id).is_some_and(is_this) {
            return held.check(id);
        }
        held.withdrawn.remove(id);
        held.retained.insert(id.to_owned(), release.clone());
        drop(held);
        Ok(())
    }

    /// Opens the package that a release has on the disk.
    fn open_package(&self, id: &str) -> Result<Arc<Release>, SeriesReleaseError> {
        // An id is a folder's name, so that nothing may be taken for one that is none.
        let path = self.folder.join(id);
        if id.parse::<PackageId>().is_err() || !path.exists() {
            return Err(self.unknown(id));
        }
        let release = Arc::new(Release::open(
            &path,
            self.family,
            &self.trust,
            &*self.verification,
        )?);
        tracing::info!(
            family = self.family.as_str(),
            release_id = id,
            series = release.series().len(),
            "series release opened"
        );
        Ok(release)
    }

    /// Retains an open release, unless it was withdrawn or retained meanwhile.
    fn keep(&self, release: Arc<Release>) -> Result<Arc<Release>, SeriesReleaseError> {
        let (mut held, id) = (self.write(), release.id().as_str());
        held.check(id)?;
        // A promotion may have opened it, too.
        if let Some(promoted) = held.retained.get(id) {
            return Ok(promoted.clone());
        }
        held.retained.insert(id.to_owned(), release.clone());
        drop(held);
        Ok(release)
    }

    /// Serves a release no longer, as far as this process lives. A package of another manifest may
    /// have replaced it, which is served on. Returns whether the release is withdrawn.
    pub fn withdraw(&self, id: &str, manifest: Sha256Digest, reason: &str) -> bool {
        let mut held = self.write();
        let current = self.current().filter(|current| current.id().as_str() == id);
        let found = held.retained.get(id).or(current.as_ref());
        if found.is_none_or(|release| release.digest() != manifest) {
            return false;
        }
        held.retained.remove(id);
        let reason = reason.to_owned();
        let withdrawal = Withdrawal { manifest, reason };
        held.withdrawn.insert(id.to_owned(), withdrawal);
        let is_other = |current: &Arc<Release>| current.id().as_str() != id;
        self.current.rcu(|current| current.clone().filter(is_other));
        true
    }

    /// Returns the releases that are withdrawn, with the reasons, in order of their ids.
    pub fn list_withdrawn(&self) -> Vec<(String, String)> {
        let held = self.read();
        let withdrawn = held.withdrawn.iter();
        withdrawn
            .map(|(id, withdrawal)| (id.clone(), withdrawal.reason.clone()))
            .collect()
    }

    /// Returns the digest of the manifest with which a release is withdrawn.
    pub fn withdrawn_manifest(&self, id: &str) -> Option<Sha256Digest> {
        let held = self.read();
        held.withdrawn.get(id).map(|withdrawal| withdrawal.manifest)
    }

    /// Makes a release the current one, and opens it first if needed. Blocks.
    ///
    /// # Errors
    /// As [`SeriesReleases::retain`]. The current release stays.
    pub fn promote(&self, id: &str) -> Result<(), SeriesReleaseError> {
        self.make_current(self.retain(id)?)
    }

    /// Makes an open release the current one, unless it was withdrawn meanwhile.
    fn make_current(&self, release: Arc<Release>) -> Result<(), SeriesReleaseError> {
        let held = self.read();
        held.check(release.id().as_str())?;
        // With the lock, so that no withdrawal comes between.
        self.current.store(Some(release));
        drop(held);
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, HeldReleases> {
        // A panic leaves the maps whole.
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HeldReleases> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn unknown(&self, id: &str) -> SeriesReleaseError {
        SeriesReleaseError::Unknown {
            id: id.to_owned(),
            path: self.folder.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::Full;

    fn open_markets() -> SeriesReleases {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases");
        let proof = (Trust::Unsigned, Arc::new(Full) as Arc<dyn Verification>);
        SeriesReleases::open(&root, Family::Markets, proof, None).unwrap()
    }

    #[test]
    fn a_withdrawn_release_is_promoted_once_a_package_of_another_manifest_is_in_its_place() {
        let releases = open_markets();
        let release = releases.current().unwrap();
        let (id, manifest) = (release.id().as_str(), release.digest().to_string());
        assert!(releases.withdraw(id, release.digest(), "on purpose"));
        // The promoted package is the withdrawn one.
        let refused = releases.open_stored(id, Some(&manifest)).map(drop);
        for refused in [refused, releases.promote(id)] {
            assert!(matches!(refused, Err(SeriesReleaseError::Withdrawn { .. })));
        }
        let other = Sha256Digest::of(b"another");
        releases.write().withdrawn.get_mut(id).unwrap().manifest = other;
        let stored = releases.open_stored(id, Some(&manifest)).unwrap();
        assert!(releases.get(id).is_none(), "it waits for the promotion");
        releases.replace(&stored).unwrap();
        releases.promote(id).unwrap();
        assert!(releases.current().is_some() && releases.list_withdrawn().is_empty());
    }

    /// The gate may refuse the promotion.
    #[test]
    fn a_package_that_is_opened_for_a_promotion_is_served_once_it_replaces_the_other() {
        let releases = open_markets();
        let release = releases.current().unwrap();
        let (id, manifest) = (release.id().as_str(), release.digest().to_string());
        let is_served = |other: &Arc<Release>| Arc::ptr_eq(&releases.get(id).unwrap(), other);
        assert!(is_served(
            &releases.open_stored(id, Some(&manifest)).unwrap()
        ));
        let stored = releases.open_stored(id, Some("another")).unwrap();
        assert!(is_served(&release) && !is_served(&stored));
        releases.replace(&stored).unwrap();
        assert!(is_served(&stored));
        // Somebody else opened it meanwhile.
        let other = releases.open_package(id).unwrap();
        assert!(is_served(&releases.keep(other).unwrap()) && is_served(&stored));
        assert!(releases.withdraw(id, stored.digest(), "on purpose"));
        let refused = releases.open_stored(id, Some(&manifest)).map(drop);
        for refused in [refused, releases.replace(&stored)] {
            assert!(matches!(refused, Err(SeriesReleaseError::Withdrawn { .. })));
        }
    }

    #[test]
    fn a_release_is_not_withdrawn_for_another_package_of_its_id() {
        let releases = open_markets();
        let release = releases.current().unwrap();
        let id = release.id().as_str();
        assert!(!releases.withdraw(id, Sha256Digest::of(b"another"), "on purpose"));
        assert!(releases.list_withdrawn().is_empty() && releases.get(id).is_some());
        assert!(Arc::ptr_eq(&releases.current().unwrap(), &release));
    }

    /// The proof ends while a promotion has the release open already.
    #[test]
    fn a_release_that_is_withdrawn_while_it_is_promoted_is_not_served() {
        let releases = open_markets();
        let release = releases.current().unwrap();
        let id = release.id().to_string();
        assert!(releases.withdraw(&id, release.digest(), "on purpose"));
        for outcome in [
            releases.make_current(release.clone()),
            releases.keep(release).map(drop),
            releases.promote(&id),
        ] {
            assert!(
                matches!(&outcome, Err(SeriesReleaseError::Withdrawn { release }) if *release == id),
                "{outcome:?}"
            );
        }
        assert!(releases.current().is_none() && releases.get(&id).is_none());
        let withdrawn = releases.list_withdrawn();
        assert_eq!(withdrawn, [(id, "on purpose".to_owned())]);
    }
}
