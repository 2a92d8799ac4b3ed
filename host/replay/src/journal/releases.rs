//! The releases that receipts name.

use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::{Release, Runtime};
use domesday_package::{Sha256Digest, Trust};
use domesday_valuation::release_store::{
    OpenComponent, ReleaseError, Snapshots, open_component, open_release,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Snapshots that are open at once. Each may cache some hundred megabytes.
const MAX_OPEN_SNAPSHOTS: usize = 3;

/// The releases that receipts name, each opened when it is first met.
pub struct Releases<'a> {
    root: &'a Path,
    trust: Trust,
    runtime: Runtime,
    /// True if every release is opened with its snapshot.
    snapshots: bool,
    open_snapshots: Snapshots,
    /// By the id, and whether the snapshot is open.
    cache: BTreeMap<(String, bool), Result<OpenedRelease, String>>,
}

pub(super) struct OpenedRelease {
    pub(super) package: Sha256Digest,
    pub(super) release: Release,
    /// The content digest of the snapshot that it is pinned to.
    pub(super) snapshot: Sha256Digest,
    /// The evidence of the snapshot, if it is open.
    pub(super) evidence: Option<Arc<SnapshotEvidence>>,
}

impl<'a> Releases<'a> {
    /// Creates the set of releases under `root`, run by `runtime`. `snapshots` says whether to open
    /// the snapshots of all, so that recorded questions can be asked again.
    pub fn new(root: &'a Path, trust: Trust, runtime: Runtime, snapshots: bool) -> Releases<'a> {
        Releases {
            root,
            trust,
            runtime,
            snapshots,
            open_snapshots: BTreeMap::new(),
            cache: BTreeMap::new(),
        }
    }

    /// Returns a release without need of its snapshot.
    pub(super) fn get(&mut self, id: &str) -> Result<&OpenedRelease, String> {
        let opened = self.cache.get(&(id.to_owned(), true));
        // A snapshot that is gone is no reason to leave a receipt that needs none.
        let with_snapshot = self.snapshots || matches!(opened, Some(Ok(_)));
        self.find(id, with_snapshot)
    }

    /// Returns a release with its snapshot.
    pub(super) fn get_with_snapshot(&mut self, id: &str) -> Result<&OpenedRelease, String> {
        self.find(id, true)
    }

    fn find(&mut self, id: &str, with_snapshot: bool) -> Result<&OpenedRelease, String> {
        let key = (id.to_owned(), with_snapshot);
        if !self.cache.contains_key(&key) {
            let release = self.open(id, with_snapshot);
            let release = release.map_err(|error| error.to_string());
            self.cache.insert(key.clone(), release);
        }
        match self.cache.get(&key) {
            Some(Ok(release)) => Ok(release),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(format!("the release {id} is not open")),
        }
    }

    fn open(&mut self, id: &str, with_snapshot: bool) -> Result<OpenedRelease, ReleaseError> {
        if with_snapshot {
            // Receipts come in the order of time, so an earlier snapshot is hardly needed again.
            if self.open_snapshots.len() >= MAX_OPEN_SNAPSHOTS {
                self.open_snapshots.clear();
                self.cache.retain(|(_, with_snapshot), _| !*with_snapshot);
            }
            let snapshots = &mut self.open_snapshots;
            let open = open_release(self.root, id, &self.trust, &self.runtime, snapshots)?;
            return Ok(OpenedRelease {
                package: open.package,
                snapshot: open.manifest.snapshot.content_digest,
                release: open.release,
                evidence: Some(open.evidence),
            });
        }
        let OpenComponent {
            manifest,
            package,
            release,
            ..
        } = open_component(self.root, id, &self.trust, &self.runtime)?;
        Ok(OpenedRelease {
            package,
            release,
            snapshot: manifest.snapshot.content_digest,
            evidence: None,
        })
    }
}
