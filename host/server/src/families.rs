//! The releases of market statistics and of rates: opened, proved, and which of each is current.

use crate::releases::{ReleaseError, names};
use arc_swap::ArcSwapOption;
use domesday_package::{Full, PackageId, Trust};
use domesday_series::catalogue::Family;
use domesday_series::store::Release;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The retained releases of one family, one of them the current one. There may be none at all: a
/// service may offer valuations alone.
pub struct FamilyShelf {
    family: Family,
    folder: PathBuf,
    trust: Trust,
    current: ArcSwapOption<Release>,
    retained: RwLock<BTreeMap<String, Arc<Release>>>,
}

impl FamilyShelf {
    /// Opens every release of the family under `root`. `current` names the one that answers where
    /// none is asked for; without it, the one that was made last does, and of equals the last by id.
    ///
    /// # Errors
    /// The first package that cannot be served, or that `current` is not there.
    pub fn open(
        root: &Path,
        family: Family,
        trust: Trust,
        current: Option<&str>,
    ) -> Result<FamilyShelf, ReleaseError> {
        let shelf = FamilyShelf {
            family,
            folder: root.join(family.as_str()),
            trust,
            current: ArcSwapOption::empty(),
            retained: RwLock::default(),
        };
        if shelf.folder.exists() {
            for id in names(&shelf.folder)? {
                shelf.retain(&id)?;
            }
        }
        let newest = || {
            let releases = shelf.retained();
            releases
                .into_iter()
                .max_by_key(|release| (release.created(), release.id().clone()))
        };
        let first = match current {
            Some(id) => Some(shelf.get(id).ok_or_else(|| shelf.unknown(id))?),
            None => newest(),
        };
        shelf.current.store(first);
        Ok(shelf)
    }

    /// The current release, if there is one. Never waits.
    pub fn current(&self) -> Option<Arc<Release>> {
        self.current.load_full()
    }

    /// Exactly this retained release.
    pub fn get(&self, id: &str) -> Option<Arc<Release>> {
        let retained = self.retained.read();
        retained
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }

    /// All that are retained, in order of their ids.
    pub fn retained(&self) -> Vec<Arc<Release>> {
        let retained = self.retained.read();
        let retained = retained.unwrap_or_else(PoisonError::into_inner);
        retained.values().cloned().collect()
    }

    /// Opens a release that came after the start, so that it can be promoted. Blocks.
    ///
    /// # Errors
    /// Where it is not in the folder or cannot be served.
    pub fn retain(&self, id: &str) -> Result<Arc<Release>, ReleaseError> {
        if let Some(release) = self.get(id) {
            return Ok(release);
        }
        // An id is a folder's name, so that nothing may be taken for one that is none.
        let place = self.folder.join(id);
        if id.parse::<PackageId>().is_err() || !place.exists() {
            return Err(self.unknown(id));
        }
        let release = Arc::new(Release::open(&place, self.family, &self.trust, &Full)?);
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

    /// Makes a release the current one, opening it first where it is not held. Blocks.
    ///
    /// # Errors
    /// As [`FamilyShelf::retain`]; the current release is then the one it was.
    pub fn promote(&self, id: &str) -> Result<(), ReleaseError> {
        self.current.store(Some(self.retain(id)?));
        Ok(())
    }

    fn unknown(&self, id: &str) -> ReleaseError {
        ReleaseError::Unknown {
            id: id.to_owned(),
            path: self.folder.clone(),
        }
    }
}
