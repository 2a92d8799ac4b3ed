//! The releases and snapshots that receipts need for their replay, and that are not in the folder
//! of releases.

use domesday_journal::{JournalError, NeededRelease, NeededSnapshot, needed_packages};
use domesday_package::{
    Kind, PropertyBody, Sha256Digest, Trust, ValuationBody, read_claimed_body, read_claimed_digest,
};
use domesday_valuation::release_store::package_ids;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(60);

/// A package that receipts of a journal need, and that is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingPackage {
    /// A property snapshot.
    Snapshot(NeededSnapshot),
    /// A valuation release.
    Release(NeededRelease),
}

impl fmt::Display for MissingPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first_file = match self {
            MissingPackage::Snapshot(needed) => {
                let (snapshot, release) = (&needed.snapshot, &needed.release_id);
                write!(f, "the snapshot {snapshot} of release {release}")?;
                needed.first_file
            }
            MissingPackage::Release(needed) => {
                write!(f, "the release {}", needed.release_id)?;
                if let Some(package) = &needed.package {
                    write!(f, " of the manifest {package}")?;
                }
                needed.first_file
            }
        };
        write!(f, ", which receipts of the file from {first_file} on need")
    }
}

/// The packages that the journals of a host need, and that were not here at the last look.
pub struct MissingPackages {
    journals: Vec<PathBuf>,
    releases: PathBuf,
    trust: Trust,
    /// The packages by the journal that needs them.
    found: Mutex<BTreeMap<PathBuf, Vec<MissingPackage>>>,
}

impl MissingPackages {
    /// Looks which packages the journals need that are not under `releases`, and logs each. Blocks.
    pub fn find(journals: Vec<PathBuf>, releases: &Path, trust: &Trust) -> MissingPackages {
        let missing = MissingPackages {
            journals,
            releases: releases.to_owned(),
            trust: trust.clone(),
            found: Mutex::default(),
        };
        missing.look_again();
        missing
    }

    /// Returns the packages that were missing at the last look. Reads memory alone.
    pub fn list(&self) -> Vec<MissingPackage> {
        self.lock().values().flatten().cloned().collect()
    }

    /// Looks again every minute: retention removes receipts, and people move packages.
    pub async fn watch(self: Arc<Self>) {
        loop {
            sleep(INTERVAL).await;
            let missing = self.clone();
            // A blocking thread that cannot run ends with the process.
            let _ = spawn_blocking(move || missing.look_again()).await;
        }
    }

    /// Looks again, and logs each package that was not missing before. A journal that cannot be
    /// read leaves its packages as they were. Blocks.
    fn look_again(&self) {
        for journal in &self.journals {
            let missing = match find_missing(journal, &self.releases, &self.trust) {
                Ok(missing) => missing,
                Err(error) => {
                    tracing::error!(%error, "cannot tell which packages receipts need");
                    continue;
                }
            };
            let before = self.lock().insert(journal.clone(), missing.clone());
            let before = before.unwrap_or_default();
            for package in missing.iter().filter(|package| !before.contains(package)) {
                tracing::warn!(%package, "receipts cannot be replayed until this package is in the folder of releases again");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<MissingPackage>>> {
        // Nothing can be left half done in it.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the packages that receipts of a journal need and that no package under `releases` claims
/// to be with its database or component beside it. Reads manifests, and no other file. Blocks.
fn find_missing(
    journal: &Path,
    releases: &Path,
    trust: &Trust,
) -> Result<Vec<MissingPackage>, JournalError> {
    if !journal.exists() {
        return Ok(Vec::new());
    }
    let needed = needed_packages(journal)?;
    let snapshots = missing_snapshots(needed.snapshots, releases, trust).into_iter();
    let folder = releases.join(Kind::Valuation.as_str());
    let releases = needed.releases.into_iter();
    let releases = releases.filter(|needed| {
        let package = folder.join(&needed.release_id);
        !is_held(&package, needed.package, trust)
    });
    Ok(snapshots
        .map(MissingPackage::Snapshot)
        .chain(releases.map(MissingPackage::Release))
        .collect())
}

/// Returns the snapshots that are not under `releases`, whatever their folders are called.
fn missing_snapshots(
    needed: Vec<NeededSnapshot>,
    releases: &Path,
    trust: &Trust,
) -> Vec<NeededSnapshot> {
    if needed.is_empty() {
        return needed;
    }
    let folder = releases.join(Kind::Property.as_str());
    // Without the folder all are missing.
    let ids = package_ids(&folder).unwrap_or_default().into_iter();
    let digest = |id| {
        let package = folder.join(id);
        let body: PropertyBody = read_claimed_body(&package, trust).ok()?;
        // Its database is nearly all of its bytes, so that somebody may have removed it alone.
        let is_there = package.join(body.database.as_str()).is_file();
        is_there.then(|| body.content_digest.to_string())
    };
    let held: BTreeSet<String> = ids.filter_map(digest).collect();
    let missing = needed.into_iter();
    let missing = missing.filter(|needed| !held.contains(&needed.snapshot.to_string()));
    missing.collect()
}

/// Reports whether a folder has a release with its component. Its manifest must be the one that
/// receipts name, where that is known.
fn is_held(package: &Path, manifest: Option<Sha256Digest>, trust: &Trust) -> bool {
    let body = read_claimed_body::<ValuationBody>(package, trust);
    let is_whole = body.is_ok_and(|body| package.join(body.component.as_str()).is_file());
    // A replay takes no other package of the id.
    is_whole && manifest.is_none_or(|manifest| read_claimed_digest(package) == Some(manifest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    const RELEASE: &str = "synthetic-hedonic-2027-05";
    const SNAPSHOT: &str = "synthetic-2026-09";

    /// Returns a folder for both, that of a journal, and the path of one for releases.
    fn empty_folders() -> (TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (journal, releases) = (folder.path().join("receipts"), folder.path().join("held"));
        fs::create_dir_all(&journal).unwrap();
        (folder, journal, releases)
    }

    /// Copies what a claim of a package is read from, and puts an empty file in the place of its
    /// largest.
    fn put_package(releases: &Path, path: &str, largest: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases");
        let (from, to) = (from.join(path), releases.join(path));
        fs::create_dir_all(&to).unwrap();
        for file in ["manifest.json", "manifest.sig"] {
            fs::copy(from.join(file), to.join(file)).unwrap();
        }
        fs::write(to.join(largest), "").unwrap();
    }

    #[test]
    fn a_release_that_receipts_of_either_form_need_is_missed_until_it_is_back_or_they_go() {
        let (_folder, journal, releases) = empty_folders();
        let release = format!("valuation/{RELEASE}");
        let snapshot = format!("property/{SNAPSHOT}");
        put_package(&releases, &release, "component.wasm");
        put_package(&releases, &snapshot, "snapshot.redb");
        let pinned: ValuationBody =
            read_claimed_body(&releases.join(&release), &Trust::Unsigned).unwrap();
        let digest = pinned.snapshot.content_digest;
        let digests = format!(r#"{{"file":1,"snapshot":"{digest}","release":"{RELEASE}"}}"#);
        let whole = format!(r#"{{"file":1,"release":"{RELEASE}"}}"#);
        for (line, needs_snapshot) in [(digests, true), (whole, false)] {
            fs::write(journal.join("snapshots.jsonl"), line + "\n").unwrap();
            fs::write(journal.join("receipts-000000000001.jsonl"), "").unwrap();
            let missing = MissingPackages::find(vec![journal.clone()], &releases, &Trust::Unsigned);
            assert_eq!(missing.list(), []);

            fs::remove_file(releases.join(&release).join("component.wasm")).unwrap();
            missing.look_again();
            let listed = missing.list();
            let [MissingPackage::Release(needed)] = &listed[..] else {
                panic!("{listed:?}");
            };
            assert_eq!((&*needed.release_id, needed.first_file), (RELEASE, 1));
            assert!(listed[0].to_string().contains(RELEASE), "{}", listed[0]);

            fs::remove_dir_all(releases.join(&snapshot)).unwrap();
            missing.look_again();
            assert_eq!(missing.list().len(), 1 + usize::from(needs_snapshot));

            put_package(&releases, &release, "component.wasm");
            put_package(&releases, &snapshot, "snapshot.redb");
            missing.look_again();
            assert_eq!(missing.list(), [], "it is back");

            fs::remove_dir_all(&releases).unwrap();
            missing.look_again();
            assert_ne!(missing.list(), []);
            // Retention removes the last file that needs them.
            fs::remove_file(journal.join("receipts-000000000001.jsonl")).unwrap();
            missing.look_again();
            assert_eq!(missing.list(), []);
            put_package(&releases, &release, "component.wasm");
            put_package(&releases, &snapshot, "snapshot.redb");
        }
    }

    /// A host with a source of releases keeps the earlier package in a hidden folder.
    #[test]
    fn a_release_whose_id_stands_for_another_package_is_missed() {
        let (_folder, journal, releases) = empty_folders();
        let release = format!("valuation/{RELEASE}");
        put_package(&releases, &release, "component.wasm");
        let place = releases.join(&release);
        let promoted = read_claimed_digest(&place).unwrap();
        let note = |package: Sha256Digest| {
            let line = format!(r#"{{"file":1,"release":"{RELEASE}","package":"{package}"}}"#);
            fs::write(journal.join("snapshots.jsonl"), line + "\n").unwrap();
        };
        fs::write(journal.join("receipts-000000000001.jsonl"), "").unwrap();
        note(promoted);
        let missing = MissingPackages::find(vec![journal.clone()], &releases, &Trust::Unsigned);
        assert_eq!(missing.list(), []);

        let earlier = Sha256Digest::of(b"an earlier manifest");
        note(earlier);
        let kept = releases.join(format!("valuation/.{RELEASE}.other-1"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("manifest.json"), "an earlier manifest").unwrap();
        missing.look_again();
        let listed = missing.list();
        let [MissingPackage::Release(needed)] = &listed[..] else {
            panic!("{listed:?}");
        };
        assert_eq!(needed.package, Some(earlier));
        let named = format!("the release {RELEASE} of the manifest {earlier}, which");
        assert!(listed[0].to_string().contains(&named), "{}", listed[0]);
    }
}
