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
    opened: BTreeMap<String, Result<OpenedRelease, String>>,
}

pub(super) struct OpenedRelease {
    pub(super) package: Sha256Digest,
    pub(super) release: Release,
    /// Where the snapshot is asked as well.
    pub(super) evidence: Option<Arc<SnapshotEvidence>>,
}

impl<'a> Releases<'a> {
    /// Those under `root`, run by `runtime`; with their snapshots where the recorded answers are to
    /// be asked again.
    pub fn new(root: &'a Path, trust: Trust, runtime: Runtime, snapshots: bool) -> Releases<'a> {
        Releases {
            root,
            trust,
            runtime,
            snapshots,
            opened: BTreeMap::new(),
        }
    }

    pub(super) fn get(&mut self, id: &str) -> Result<&OpenedRelease, String> {
        if !self.opened.contains_key(id) {
            let opened = self.open(id).map_err(|error| error.to_string());
            self.opened.insert(id.to_owned(), opened);
        }
        match self.opened.get(id) {
            Some(Ok(opened)) => Ok(opened),
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
