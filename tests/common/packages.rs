//! Copies of the demo's packages, to damage, and packages of other components.

pub use super::package_files::copy_tree;

use super::demo::{RELEASE, SNAPSHOT};
use super::package_files::write_changed;
use super::program::releases;
use domesday_package::ValuationBody;
use domesday_test_shared::once;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A releases folder of a test's own, or one that a run's tests share.
pub struct Releases {
    path: PathBuf,
    /// Removes the folder, if one test owns it.
    _temp_dir: Option<TempDir>,
}

impl Releases {
    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of this name that all tests of a run share and none changes. The first
    /// test to ask fills it.
    pub fn shared(name: &str, fill: impl FnOnce(&Releases)) -> Releases {
        let path = once(&format!("releases-{name}"), |folder| {
            fill(&Releases {
                path: folder.to_owned(),
                _temp_dir: None,
            });
        });
        Releases {
            path,
            _temp_dir: None,
        }
    }

    /// Copies all of the demo's releases.
    pub fn copy() -> Releases {
        let copy = Releases::without_release();
        copy.add_demo();
        copy
    }

    /// Copies the keys and the snapshot alone.
    pub fn without_release() -> Releases {
        let temp_dir = TempDir::new().unwrap();
        let copy = Releases {
            path: temp_dir.path().to_owned(),
            _temp_dir: Some(temp_dir),
        };
        copy.add_snapshot();
        copy
    }

    /// Adds the demo's keys and its snapshot.
    pub fn add_snapshot(&self) {
        for part in ["keys".to_owned(), format!("property/{SNAPSHOT}")] {
            copy_tree(&releases().join(&part), &self.path.join(&part));
        }
    }

    /// Adds the demo's release.
    pub fn add_demo(&self) {
        let demo = releases().join("valuation").join(RELEASE);
        copy_tree(&demo, &self.release(RELEASE));
    }

    /// Returns the folder of a release's package.
    pub fn release(&self, id: &str) -> PathBuf {
        self.path().join("valuation").join(id)
    }

    /// Returns the folder of the snapshot's package.
    pub fn snapshot(&self) -> PathBuf {
        self.path().join("property").join(SNAPSHOT)
    }

    /// Adds an unsigned release of this component, pinned to the demo's snapshot and otherwise as
    /// the demo's release is. Its one fixture is no fixture: only a replay reads it.
    pub fn add(&self, id: &str, component: Vec<u8>) {
        self.add_changed(id, component, |_| {});
    }

    /// Adds the demo's release under another id and component, with a change of its manifest.
    pub fn add_changed(
        &self,
        id: &str,
        component: Vec<u8>,
        change: impl FnOnce(&mut ValuationBody),
    ) {
        let demo = releases().join("valuation").join(RELEASE);
        write_changed(self.path(), &demo, id, component, |body| {
            body.model.name = "test".to_owned();
            change(body);
        });
    }
}

/// Changes one bit in the middle of a file.
pub fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Returns the folder of a host that trusts the demo's key and has no release yet.
pub fn host() -> TempDir {
    let host = TempDir::new().unwrap();
    copy_tree(&releases().join("keys"), &host.path().join("keys"));
    host
}

/// Lists the folders of packages, with unfinished siblings.
pub fn list_packages(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for kind in ["property", "valuation"] {
        for entry in fs::read_dir(folder.join(kind)).into_iter().flatten() {
            found.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    found
}
