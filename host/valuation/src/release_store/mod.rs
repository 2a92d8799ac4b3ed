//! The store of valuation releases. It knows all that the host retains and the current one. It
//! opens, verifies and admits each when somebody first asks for it.

mod error;
mod opening;
mod replacement;

pub use error::ReleaseError;
pub use opening::{
    OpenComponent, OpenRelease, Snapshots, open_component, open_release, package_ids,
};

use crate::check_report::{CheckRefusal, judge_package};
use arc_swap::ArcSwap;
use chrono::NaiveDate;
use domesday_engine::Runtime;
use domesday_package::{
    CheckEvidence, Kind, Package, Sha256Digest, Trust, ValuationBody, Verification, open_unproved,
};
use opening::{check_pin, open_release_with, snapshot_folder};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A release that the host retains, as its signed manifest describes it.
#[derive(Debug, Clone)]
pub struct RetainedRelease {
    /// Its immutable id.
    pub id: String,
    /// The body of its manifest.
    pub manifest: ValuationBody,
    /// Its package, whose files are not proved.
    package: Package,
}

impl RetainedRelease {
    fn read(root: &Path, id: &str, trust: &Trust) -> Result<RetainedRelease, ReleaseError> {
        let package = open_unproved(&root.join(Kind::Valuation.as_str()).join(id), trust)?;
        let manifest: ValuationBody = package.body()?;
        check_pin(root, &manifest, trust)?;
        Ok(RetainedRelease {
            id: id.to_owned(),
            manifest,
            package,
        })
    }

    /// Describes a release that is open.
    fn of_open(release: &OpenRelease) -> RetainedRelease {
        RetainedRelease {
            id: release.id.clone(),
            manifest: release.manifest.clone(),
            package: release.verified.clone(),
        }
    }

    /// Returns the digest of its package's manifest.
    pub fn package_digest(&self) -> Sha256Digest {
        self.package.digest()
    }

    /// Judges the check report that stands beside the manifest now, as a promotion does. Blocks.
    ///
    /// # Errors
    /// [`CheckRefusal`] if the gate refuses the release.
    pub fn judge_check(&self, trust: &Trust) -> Result<CheckEvidence, CheckRefusal> {
        judge_package(&self.package, trust)
    }

    /// Returns the folders of its package and of its snapshot's.
    pub fn folders(&self, root: &Path) -> [PathBuf; 2] {
        [
            self.package.directory().to_owned(),
            snapshot_folder(root, &self.manifest.snapshot),
        ]
    }
}

/// A retained release in the store.
struct Entry {
    retained: Arc<RetainedRelease>,
    /// The release, once it was asked for.
    open: Option<Arc<OpenRelease>>,
    /// The reason why it is not served any more, if it is not.
    withdrawn: Option<String>,
}

/// The releases that a service holds, one of them the current one. Both may change at any time. A
/// request keeps its release until it ends.
pub struct ReleaseStore {
    root: PathBuf,
    trust: Trust,
    verification: Arc<dyn Verification>,
    runtime: Runtime,
    current: ArcSwap<OpenRelease>,
    entries: RwLock<BTreeMap<String, Entry>>,
    /// Held over the opening of a release, so that one that many ask for is opened once.
    snapshots: Mutex<Snapshots>,
}

impl ReleaseStore {
    /// Reads every valuation release under `root`, and opens the current one. `current` names it.
    /// Without it, the one with the latest effective date up to `today` is current, and of equals
    /// the last by id. If none is in force yet, it is the one that will be first. `verification`
    /// says how files are proved.
    ///
    /// # Errors
    /// The first package that cannot be served: nothing is served from a store that is not whole.
    pub fn open(
        root: &Path,
        (trust, verification): (Trust, Arc<dyn Verification>),
        runtime: Runtime,
        current: Option<&str>,
        today: NaiveDate,
    ) -> Result<ReleaseStore, ReleaseError> {
        let folder = root.join(Kind::Valuation.as_str());
        let mut entries = BTreeMap::new();
        for id in package_ids(&folder)? {
            let retained = Arc::new(RetainedRelease::read(root, &id, &trust)?);
            entries.insert(id, Entry::of(retained));
        }
        let current = match current {
            Some(id) => entries.get(id).ok_or_else(|| ReleaseError::Unknown {
                id: id.to_owned(),
                path: folder.clone(),
            })?,
            None => entries
                .values()
                .max_by_key(|entry| precedence(&entry.retained.manifest, today))
                .ok_or_else(|| ReleaseError::Nothing {
                    path: folder.clone(),
                })?,
        };
        let id = current.retained.id.clone();
        let mut snapshots = Snapshots::new();
        let proof = (&trust, &*verification);
        let open = Arc::new(open_release_with(
            root,
            &id,
            proof,
            &runtime,
            &mut snapshots,
        )?);
        log_opened(&open);
        if let Some(entry) = entries.get_mut(&id) {
            entry.open = Some(open.clone());
        }
        Ok(ReleaseStore {
            current: ArcSwap::new(open),
            root: root.to_owned(),
            trust,
            verification,
            runtime,
            entries: RwLock::new(entries),
            snapshots: Mutex::new(snapshots),
        })
    }

    /// Returns the folder of releases.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the trust that packages need.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Returns the active release. Never waits.
    pub fn current(&self) -> Arc<OpenRelease> {
        self.current.load_full()
    }

    /// Returns a release by its id, and opens and admits it now if nobody asked for it before. A
    /// job may name a release that came after the start. Blocks.
    ///
    /// # Errors
    /// [`ReleaseError`] if it is not in the folder or cannot be served.
    /// [`ReleaseError::OtherPackage`] if the host retains it with another manifest.
    pub fn get(&self, id: &str) -> Result<Arc<OpenRelease>, ReleaseError> {
        if let Some(release) = self.find_open(id)? {
            return Ok(release);
        }
        let mut snapshots = self.lock_snapshots();
        // Somebody else may have opened it meanwhile.
        if let Some(release) = self.find_open(id)? {
            return Ok(release);
        }
        // A package that replaced the retained one is served once it was promoted.
        let release = self.open_package(id, self.package_digest(id), &mut snapshots)?;
        let mut entries = self.write();
        // A proof may have found damage meanwhile, or a promotion may have replaced the package.
        if let Some(entry) = entries.get(id) {
            entry.check_served()?;
            check_package(id, Some(entry.retained.package_digest()), release.package)?;
            if let Some(promoted) = &entry.open {
                return Ok(promoted.clone());
            }
        }
        entries.insert(id.to_owned(), Entry::of_open(release.clone()));
        Ok(release)
    }

    /// Returns a release that is open, or none where it has to be opened first.
    fn find_open(&self, id: &str) -> Result<Option<Arc<OpenRelease>>, ReleaseError> {
        let entries = self.read();
        let Some(entry) = entries.get(id) else {
            return Ok(None);
        };
        entry.check_served()?;
        Ok(entry.open.clone())
    }

    /// Opens every retained release that is not open yet. Blocks.
    ///
    /// # Errors
    /// The first release that cannot be served.
    pub fn open_all(&self) -> Result<(), ReleaseError> {
        for retained in self.list_retained() {
            self.get(&retained.id)?;
        }
        Ok(())
    }

    /// Makes a release the active one for requests that come from now on. Blocks where it must be
    /// opened first.
    ///
    /// # Errors
    /// As [`ReleaseStore::get`]. The active release stays.
    pub fn promote(&self, id: &str) -> Result<(), ReleaseError> {
        self.current.store(self.get(id)?);
        Ok(())
    }

    /// Serves a release no longer, as far as this process lives. A request that has it ends with
    /// it. A package of another manifest may have replaced it, which is served on. Returns whether
    /// the release is withdrawn. Blocks while a release is opened.
    pub fn withdraw(&self, id: &str, manifest: Sha256Digest, reason: &str) -> bool {
        let snapshot = match self.write().get_mut(id) {
            Some(entry) if entry.retained.package_digest() == manifest => {
                entry.open = None;
                entry.withdrawn = Some(reason.to_owned());
                entry.retained.manifest.snapshot.content_digest
            }
            _ => return false,
        };
        // A release that comes later opens its snapshot anew.
        self.lock_snapshots().remove(&snapshot);
        true
    }

    /// Returns the reason why the current release is not served, if it is not. Never waits.
    pub fn current_problem(&self) -> Option<ReleaseError> {
        self.find_open(&self.current.load().id).err()
    }

    /// Returns all releases that the host retains, in order of their ids.
    pub fn list_retained(&self) -> Vec<Arc<RetainedRelease>> {
        let entries = self.read();
        entries.values().map(|it| it.retained.clone()).collect()
    }

    /// Returns the digest of the manifest of a retained release, which may be withdrawn. Never
    /// waits for the opening of one.
    pub fn package_digest(&self, id: &str) -> Option<Sha256Digest> {
        let entries = self.read();
        entries.get(id).map(|entry| entry.retained.package_digest())
    }

    /// Reports whether the host retains a release and serves it. Never waits for the opening of
    /// one.
    pub fn holds(&self, id: &str) -> bool {
        let entries = self.read();
        entries.get(id).is_some_and(|it| it.withdrawn.is_none())
    }

    /// Returns the ids of the releases that the host retains and serves, in order. Never waits for
    /// the opening of one.
    pub fn list_served(&self) -> Vec<String> {
        let entries = self.read();
        let served = entries
            .iter()
            .filter(|(_, entry)| entry.withdrawn.is_none());
        served.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the releases that are withdrawn, with the reasons, in order of their ids.
    pub fn list_withdrawn(&self) -> Vec<(String, String)> {
        let entries = self.read();
        let withdrawn = entries
            .iter()
            .filter_map(|(id, entry)| Some((id.clone(), entry.withdrawn.clone()?)));
        withdrawn.collect()
    }

    /// Returns the number of releases that the host retains.
    pub fn count(&self) -> usize {
        self.read().len()
    }

    fn unknown(&self, id: &str) -> ReleaseError {
        ReleaseError::Unknown {
            id: id.to_owned(),
            path: self.root.join(Kind::Valuation.as_str()),
        }
    }

    fn lock_snapshots(&self) -> MutexGuard<'_, Snapshots> {
        // Each change of it is whole.
        self.snapshots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Entry>> {
        // Nothing can be left half done in it.
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Entry>> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn of(retained: Arc<RetainedRelease>) -> Entry {
        Entry {
            retained,
            open: None,
            withdrawn: None,
        }
    }

    fn of_open(release: Arc<OpenRelease>) -> Entry {
        Entry {
            retained: Arc::new(RetainedRelease::of_open(&release)),
            open: Some(release),
            withdrawn: None,
        }
    }

    /// Checks that the release was not withdrawn.
    fn check_served(&self) -> Result<(), ReleaseError> {
        match &self.withdrawn {
            Some(reason) => Err(ReleaseError::Withdrawn {
                release: self.retained.id.clone(),
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// Returns a key whose greatest value belongs to the release that is current on a day.
fn precedence(release: &ValuationBody, today: NaiveDate) -> impl Ord + use<> {
    let date = release.effective_date;
    let in_force = date <= today;
    // Of those to come the first, of the others the last.
    let to_come = (!in_force).then_some(std::cmp::Reverse(date));
    (in_force, to_come, date, release.release_id.to_string())
}

fn log_opened(release: &OpenRelease) {
    tracing::info!(
        release_id = release.id,
        snapshot_id = release.manifest.snapshot.id.as_str(),
        "release opened"
    );
}

/// Checks that a package is the one that the host knows of a release, where it knows one.
fn check_package(
    id: &str,
    known: Option<Sha256Digest>,
    found: Sha256Digest,
) -> Result<(), ReleaseError> {
    match known.filter(|known| *known != found) {
        Some(retained) => Err(ReleaseError::OtherPackage {
            release: id.to_owned(),
            found,
            retained,
        }),
        None => Ok(()),
    }
}
