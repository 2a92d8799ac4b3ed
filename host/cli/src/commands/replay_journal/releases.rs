//! The releases that receipts name.

use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::{Release, Runtime};
use domesday_package::{Sha256Digest, Trust};
use domesday_valuation::release_store::{
    OpenComponent, ReleaseError, open_component, open_release,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The releases that receipts name, each opened when it is first met.
pub struct Releases<'a> {
    root: &'a Path,
    trust: Trust,
    runtime: Runtime,
    snapshots: bool,
    cache: BTreeMap<String, Result<OpenedRelease, String>>,
}

pub(super) struct OpenedRelease {
    pub(super) package: Sha256Digest,
    pub(super) release: Release,
    /// The evidence of the snapshot, if the replay checks it too.
    pub(super) evidence: Option<Arc<SnapshotEvidence>>,
}

impl<'a> Releases<'a> {
    /// Creates the set of releases under `root`, run by `runtime`. `snapshots` says whether to open
    /// their snapshots, so that recorded questions can be asked again.
    pub fn new(root: &'a Path, trust: Trust, runtime: Runtime, snapshots: bool) -> Releases<'a> {
        Releases {
            root,
            trust,
            runtime,
            snapshots,
            cache: BTreeMap::new(),
        }
    }

    pub(super) fn get(&mut self, id: &str) -> Result<&OpenedRelease, String> {
        if !self.cache.contains_key(id) {
            let release = self.open(id).map_err(|error| error.to_string());
            self.cache.insert(id.to_owned(), release);
        }
        match self.cache.get(id) {
            Some(Ok(release)) => Ok(release),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(format!("the release {id} is not open")),
        }
    }

    fn open(&self, id: &str) -> Result<OpenedRelease, ReleaseError> {
        if self.snapshots {
            let mut snapshots = BTreeMap::new();
            let open = open_release(self.root, id, &self.trust, &self.runtime, &mut snapshots)?;
            return Ok(OpenedRelease {
                package: open.package,
                release: open.release,
                evidence: Some(open.evidence),
            });
        }
        let OpenComponent {
            package, release, ..
        } = open_component(self.root, id, &self.trust, &self.runtime)?;
        Ok(OpenedRelease {
            package,
            release,
            evidence: None,
        })
    }
}
