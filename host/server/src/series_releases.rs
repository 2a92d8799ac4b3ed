//! The releases of market statistics and of rates: opened, proved, and which of each is current.

use arc_swap::ArcSwapOption;
use domesday_package::{PackageId, Trust, Verification};
use domesday_series::catalogue::Family;
use domesday_series::store::{OpenError, Release};
use domesday_valuation::release_store::{ReleaseError, package_ids};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

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
    /// Releases that are not served any more, as far as this process lives, with the reasons.
    withdrawn: RwLock<BTreeMap<String, String>>,
    retained: RwLock<BTreeMap<String, Arc<Release>>>,
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
            withdrawn: RwLock::default(),
            retained: RwLock::default(),
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
        let retained = self.retained.read();
        retained
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }

    /// Returns all retained releases, ordered by id.
    pub fn list_retained(&self) -> Vec<Arc<Release>> {
        let retained = self.retained.read();
        let retained = retained.unwrap_or_else(PoisonError::into_inner);
        retained.values().cloned().collect()
    }

    /// Opens a release that came after the start, so that it can be promoted. Blocks.
    ///
    /// # Errors
    /// [`SeriesReleaseError`] if it is not in the folder or cannot be served.
    pub fn retain(&self, id: &str) -> Result<Arc<Release>, SeriesReleaseError> {
        if let Some(release) = self.get(id) {
            return Ok(release);
        }
        // An id is a folder's name, so that nothing may be taken for one that is none.
        if self.is_withdrawn(id) {
            return Err(SeriesReleaseError::Withdrawn {
                release: id.to_owned(),
            });
        }
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
        self.retained
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.to_owned(), release.clone());
        Ok(release)
    }

    /// Serves a release no longer, as far as this process lives.
    pub fn withdraw(&self, id: &str, reason: &str) {
        let withdrawn = self.withdrawn.write();
        withdrawn
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.to_owned(), reason.to_owned());
        let retained = self.retained.write();
        retained.unwrap_or_else(PoisonError::into_inner).remove(id);
        let is_other = |current: &Arc<Release>| current.id().as_str() != id;
        self.current.rcu(|current| current.clone().filter(is_other));
    }

    fn is_withdrawn(&self, id: &str) -> bool {
        let withdrawn = self.withdrawn.read();
        withdrawn
            .unwrap_or_else(PoisonError::into_inner)
            .contains_key(id)
    }

    /// Returns the releases that are withdrawn, with the reasons, in order of their ids.
    pub fn list_withdrawn(&self) -> Vec<(String, String)> {
        let withdrawn = self.withdrawn.read();
        let withdrawn = withdrawn.unwrap_or_else(PoisonError::into_inner);
        withdrawn
            .iter()
            .map(|(id, reason)| (id.clone(), reason.clone()))
            .collect()
    }

    /// Makes a release the current one, and opens it first if needed. Blocks.
    ///
    /// # Errors
    /// As [`SeriesReleases::retain`]. The current release stays.
    pub fn promote(&self, id: &str) -> Result<(), SeriesReleaseError> {
        self.current.store(Some(self.retain(id)?));
        Ok(())
    }

    fn unknown(&self, id: &str) -> SeriesReleaseError {
        SeriesReleaseError::Unknown {
            id: id.to_owned(),
            path: self.folder.clone(),
        }
    }
}
