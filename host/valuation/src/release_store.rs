//! The store of valuation releases: it opens, verifies and admits them, and knows the current one.

use crate::profile;
use arc_swap::ArcSwap;
use chrono::NaiveDate;
use domesday_contract::v3::release as wire;
use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::{Limits, Release, Runtime};
use domesday_package::{
    Kind, Package, PackageId, PropertyBody, Sha256Digest, Trust, ValuationBody, open,
};
use domesday_property::Snapshot;
use domesday_registers::Day;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

/// One release, ready to value.
pub struct OpenRelease {
    /// Its immutable id.
    pub id: String,
    /// The body of its manifest.
    pub manifest: ValuationBody,
    /// The digest of its package's manifest.
    pub package: Sha256Digest,
    /// Its package, as it was verified.
    pub verified: Package,
    /// The admitted component.
    pub release: Release,
    /// The snapshot that it is pinned to.
    pub snapshot: Arc<Snapshot>,
    /// Evidence from that snapshot.
    pub evidence: Arc<SnapshotEvidence>,
    /// The snapshot's latest sale.
    pub latest_sale: Option<Day>,
    /// Valuation dates that it takes.
    pub window: wire::DateWindow,
}

/// The reason why a release cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// A package does not open.
    #[error(transparent)]
    Package(#[from] domesday_package::PackageError),
    /// A release asks for a snapshot with other content.
    #[error(
        "release {release} is pinned to the content {pinned} of snapshot {snapshot}, but {path} holds \
         {found}. Move it away and fetch the pinned snapshot with `domesday release pull`"
    )]
    OtherSnapshot {
        /// The release.
        release: String,
        /// The snapshot's id.
        snapshot: String,
        /// The content digest that the release requires.
        pinned: String,
        /// The content digest that is present.
        found: String,
        /// The file or folder.
        path: PathBuf,
    },
    /// The snapshot does not open.
    #[error("the property snapshot {path} cannot be used: {source}")]
    Snapshot {
        /// The package.
        path: PathBuf,
        /// The problem.
        source: domesday_property::SnapshotError,
    },
    /// The component may not run.
    #[error("release {release} is not admitted: {source}")]
    NotAdmitted {
        /// The release.
        release: String,
        /// The reason.
        source: domesday_engine::AdmissionError,
    },
    /// The folder cannot be read.
    #[error("cannot list the releases in {path}: {source}; check --releases")]
    Io {
        /// The package.
        path: PathBuf,
        /// The problem.
        source: std::io::Error,
    },
    /// There is nothing to serve.
    #[error("{path} holds no valuation release; build one with `domesday release build`")]
    Nothing {
        /// The packages folder that was searched.
        path: PathBuf,
    },
    /// The named release is missing.
    #[error("there is no release {id:?} in {path}; list the releases with `domesday release list`")]
    Unknown {
        /// The id of the request.
        id: String,
        /// The packages folder that was searched.
        path: PathBuf,
    },
}

/// The releases that a service holds, one of them the current one. Both may change at any time. A
/// request keeps its release until it ends.
pub struct ReleaseStore {
    root: PathBuf,
    trust: Trust,
    runtime: Runtime,
    current: ArcSwap<OpenRelease>,
    releases: RwLock<BTreeMap<String, Arc<OpenRelease>>>,
    /// Held over the opening of a release, so that one that many ask for is opened once.
    snapshots: Mutex<Snapshots>,
}

/// Snapshots by their ids.
type Snapshots = BTreeMap<String, Arc<Snapshot>>;

impl ReleaseStore {
    /// Opens every valuation release under `root`. `current` names the active one. Without it, the
    /// one with the latest effective date up to `today` is active, and of equals the last by id.
    /// If none is in force yet, it is the one that will be first.
    ///
    /// # Errors
    /// The first package that cannot be served: nothing is served from a store that is not whole.
    pub fn open(
        root: &Path,
        trust: Trust,
        runtime: Runtime,
        current: Option<&str>,
        today: NaiveDate,
    ) -> Result<ReleaseStore, ReleaseError> {
        let folder = root.join(Kind::Valuation.as_str());
        let mut snapshots = BTreeMap::new();
        let mut releases = BTreeMap::new();
        for id in package_ids(&folder)? {
            let open = open_release(root, &id, &trust, &runtime, &mut snapshots)?;
            log_opened(&open);
            releases.insert(id, Arc::new(open));
        }
        let current = match current {
            Some(id) => releases.get(id).ok_or_else(|| ReleaseError::Unknown {
                id: id.to_owned(),
                path: folder.clone(),
            })?,
            None => releases
                .values()
                .max_by_key(|release| precedence(&release.manifest, today))
                .ok_or_else(|| ReleaseError::Nothing {
                    path: folder.clone(),
                })?,
        };
        Ok(ReleaseStore {
            current: ArcSwap::new(current.clone()),
            root: root.to_owned(),
            trust,
            runtime,
            releases: RwLock::new(releases),
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

    /// Returns a release by its id, and opens and admits it now if the store does not hold it yet.
    /// A job may name a release that came after the start. Blocks.
    ///
    /// # Errors
    /// [`ReleaseError`] if it is not in the folder or cannot be served.
    pub fn get(&self, id: &str) -> Result<Arc<OpenRelease>, ReleaseError> {
        let opened = |store: &ReleaseStore| store.read().get(id).cloned();
        if let Some(release) = opened(self) {
            return Ok(release);
        }
        // An id is a folder's name, so that nothing may be taken for one that is none.
        if id.parse::<PackageId>().is_err() {
            return Err(ReleaseError::Unknown {
                id: id.to_owned(),
                path: self.root.join(Kind::Valuation.as_str()),
            });
        }
        let mut snapshots = self
            .snapshots
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have opened it meanwhile.
        if let Some(release) = opened(self) {
            return Ok(release);
        }
        let open = open_release(&self.root, id, &self.trust, &self.runtime, &mut snapshots)?;
        log_opened(&open);
        let release = Arc::new(open);
        self.releases
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.to_owned(), release.clone());
        Ok(release)
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

    /// Returns all releases that the store holds, in order of their ids.
    pub fn open_releases(&self) -> Vec<Arc<OpenRelease>> {
        self.read().values().cloned().collect()
    }

    /// Reports whether the store holds a release. Never waits for the opening of one.
    pub fn holds(&self, id: &str) -> bool {
        self.read().contains_key(id)
    }

    /// Returns the number of releases held.
    pub fn count(&self) -> usize {
        self.read().len()
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<OpenRelease>>> {
        // Nothing can be left half done in it.
        self.releases.read().unwrap_or_else(PoisonError::into_inner)
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

/// Returns the ids of the packages in a folder, in order. It skips other files.
pub fn package_ids(folder: &Path) -> Result<Vec<String>, ReleaseError> {
    let io = |source| ReleaseError::Io {
        path: folder.to_owned(),
        source,
    };
    if !folder.exists() {
        return Err(ReleaseError::Nothing {
            path: folder.to_owned(),
        });
    }
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.file_type().map_err(io)?.is_dir() {
            ids.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    ids.sort();
    Ok(ids)
}

/// Opens one release and, unless another release has it open already, its snapshot.
pub fn open_release(
    root: &Path,
    id: &str,
    trust: &Trust,
    runtime: &Runtime,
    snapshots: &mut Snapshots,
) -> Result<OpenRelease, ReleaseError> {
    let OpenComponent {
        manifest,
        package,
        verified,
        release,
    } = open_component(root, id, trust, runtime)?;
    let snapshot = match snapshots.get(manifest.snapshot.id.as_str()) {
        Some(snapshot) => snapshot.clone(),
        None => {
            let snapshot = Arc::new(open_snapshot(root, &manifest, trust)?);
            snapshots.insert(manifest.snapshot.id.as_str().to_owned(), snapshot.clone());
            snapshot
        }
    };
    let (from, to): (NaiveDate, NaiveDate) =
        (manifest.valuation_date.from, manifest.valuation_date.to);
    Ok(OpenRelease {
        id: id.to_owned(),
        package,
        verified,
        release,
        latest_sale: snapshot.identity().latest_sale,
        evidence: Arc::new(SnapshotEvidence::new(snapshot.clone())),
        snapshot,
        window: wire::DateWindow { from, to },
        manifest,
    })
}

/// A release without its snapshot, which is all that a replay needs.
pub struct OpenComponent {
    /// The body of its manifest.
    pub manifest: ValuationBody,
    /// The digest of its package's manifest.
    pub package: Sha256Digest,
    /// Its package, as it was verified.
    pub verified: Package,
    /// The admitted component.
    pub release: Release,
}

/// Opens a release without its snapshot.
pub fn open_component(
    root: &Path,
    id: &str,
    trust: &Trust,
    runtime: &Runtime,
) -> Result<OpenComponent, ReleaseError> {
    let folder = root.join(Kind::Valuation.as_str());
    let path = folder.join(id);
    if !path.exists() {
        return Err(ReleaseError::Unknown {
            id: id.to_owned(),
            path: folder,
        });
    }
    let package = open(&path, trust)?;
    let manifest: ValuationBody = package.body()?;
    let component = package.bytes(manifest.component.as_str())?;
    let limits = Limits::new(manifest.fuel_per_row, manifest.memory_bytes);
    let release = runtime
        .admit_as(
            profile::engine_profile(manifest.profile),
            &component,
            limits,
        )
        .map_err(|source| ReleaseError::NotAdmitted {
            release: id.to_owned(),
            source,
        })?;
    Ok(OpenComponent {
        manifest,
        package: package.digest(),
        verified: package,
        release,
    })
}

fn open_snapshot(
    root: &Path,
    release: &ValuationBody,
    trust: &Trust,
) -> Result<Snapshot, ReleaseError> {
    let pin = &release.snapshot;
    let package = open(
        &root.join(Kind::Property.as_str()).join(pin.id.as_str()),
        trust,
    )?;
    let body: PropertyBody = package.body()?;
    let other = |found: String, path: PathBuf| ReleaseError::OtherSnapshot {
        release: release.release_id.as_str().to_owned(),
        snapshot: pin.id.as_str().to_owned(),
        pinned: pin.content_digest.to_string(),
        found,
        path,
    };
    if body.content_digest != pin.content_digest {
        let found = body.content_digest.to_string();
        return Err(other(found, package.directory().to_owned()));
    }
    let path = package.path(body.database.as_str())?;
    let snapshot = Snapshot::open(&path).map_err(|source| ReleaseError::Snapshot {
        path: path.clone(),
        source,
    })?;
    let found = snapshot.identity().content_digest;
    if found != pin.content_digest.to_string() {
        return Err(other(found, path));
    }
    Ok(snapshot)
}
