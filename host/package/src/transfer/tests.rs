use super::*;
use crate::snapshot_pin::PinError;
use crate::{PackageError, PackageErrorKind};
use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use tempfile::TempDir;

/// A store that holds the demo's releases, and notes the files that it is asked for.
#[derive(Default)]
struct DemoStore {
    pulled: Rc<RefCell<Vec<Kind>>>,
    /// True if another package has each id at the destination.
    conflicts: bool,
    /// The outcome of a package that is sent. Without one the store is full.
    published: Option<PublishOutcome>,
    /// The folder of releases whose package of the release is read while a package comes, and what
    /// its manifest was each time.
    watched: Option<PathBuf>,
    seen: Rc<RefCell<Vec<String>>>,
}

/// The manifest of another package of the demo's release.
const OTHER_MANIFEST: &str = "another package";

impl Repository for DemoStore {
    fn publish(
        &self,
        _: &Package,
        _: &mut FileProgress<'_>,
    ) -> Result<PublishOutcome, RepositoryError> {
        let full = || RepositoryError::Store("the store is full".into());
        self.published.ok_or_else(full)
    }

    fn fetch_manifest(
        &self,
        kind: Kind,
        id: &PackageId,
        trust: &Trust,
    ) -> Result<RemoteManifest, RepositoryError> {
        let folder = demo().join(kind.as_str()).join(id.as_str());
        let stored = std::fs::read(folder.join("manifest.json")).unwrap();
        RemoteManifest::judge((kind, id), stored, None, trust, &folder)
            .map_err(RepositoryError::Package)
    }

    fn pull(
        &self,
        remote: RemoteManifest,
        packages_dir: &Path,
        _: &mut FileProgress<'_>,
    ) -> Result<PublishOutcome, RepositoryError> {
        self.pulled.borrow_mut().push(remote.manifest().kind);
        if let Some(watched) = &self.watched {
            let manifest = std::fs::read_to_string(manifest_in(watched));
            self.seen.borrow_mut().push(manifest.unwrap_or_default());
            let manifest = remote.manifest();
            let folder = demo().join(manifest.kind.as_str());
            let package = open_with(&folder.join(manifest.id.as_str()), &Trust::Unsigned, &Full);
            return publish(&package.unwrap(), packages_dir, &TransferControl::default())
                .map_err(RepositoryError::Package);
        }
        match self.conflicts {
            false => Ok(PublishOutcome::Copied),
            true => Err(RepositoryError::Package(PackageError {
                package: packages_dir.to_owned(),
                kind: PackageErrorKind::Republished,
            })),
        }
    }

    fn reference(&self, kind: Kind, id: &PackageId) -> String {
        format!("demo://{}/{id}", kind.as_str())
    }

    fn probe(&self) -> Result<(), RepositoryError> {
        Ok(())
    }
}

/// A listener that keeps the sentences.
#[derive(Default)]
struct Sentences(RefCell<Vec<String>>);

impl TransferObserver for Sentences {
    fn show_progress(&self, _: &str, _: u64, _: u64) {}

    fn say(&self, sentence: &str) {
        self.0.borrow_mut().push(sentence.to_owned());
    }
}

/// Returns the folder of releases that a fresh checkout serves.
fn demo() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../releases")
}

/// Returns the id of the demo's only release of valuations.
fn release_id() -> PackageId {
    only_id(Kind::Valuation)
}

/// Returns the id of the demo's only package of a kind.
fn only_id(kind: Kind) -> PackageId {
    let mut entries = std::fs::read_dir(demo().join(kind.as_str())).unwrap();
    let name = entries.next().unwrap().unwrap().file_name();
    name.to_str().unwrap().parse().unwrap()
}

/// Returns the manifest of the demo's release in a folder of releases.
fn manifest_in(releases: &Path) -> PathBuf {
    let package_dir = releases.join("valuation").join(release_id().as_str());
    package_dir.join("manifest.json")
}

/// Pulls the demo's release from a store. Returns the kinds of the packages that were fetched.
fn pull(store: DemoStore, manifest: Option<&str>) -> (Vec<Kind>, Result<(), TransferError>) {
    let pulled = store.pulled.clone();
    let here = TempDir::new().unwrap();
    let wanted = PulledRelease {
        kind: Kind::Valuation,
        id: &release_id(),
        manifest,
        with_snapshot: true,
    };
    let remote = Remote::Repository(Box::new(store), Arc::default());
    let result = remote.pull(
        wanted,
        (here.path(), &Trust::Unsigned),
        &Sentences::default(),
    );
    let pulled = pulled.borrow().clone();
    (pulled, result)
}

#[test]
fn the_pinned_snapshot_is_pulled_before_its_release() {
    let (pulled, result) = pull(DemoStore::default(), None);
    result.unwrap();
    assert_eq!(pulled, [Kind::Property, Kind::Valuation]);
}

#[test]
fn another_manifest_than_the_promoted_one_is_refused_before_any_file() {
    let promoted = "0".repeat(64);
    let (pulled, result) = pull(DemoStore::default(), Some(&promoted));
    let error = result.unwrap_err().to_string();
    assert!(error.contains(&promoted), "{error}");
    assert!(pulled.is_empty(), "{pulled:?}");
}

#[test]
fn another_package_is_in_its_place_until_the_promoted_one_is_whole() {
    let here = TempDir::new().unwrap();
    let manifest = manifest_in(here.path());
    std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    std::fs::write(&manifest, OTHER_MANIFEST).unwrap();
    let promoted = std::fs::read_to_string(manifest_in(&demo())).unwrap();
    let store = DemoStore {
        watched: Some(here.path().to_owned()),
        ..DemoStore::default()
    };
    let seen = store.seen.clone();
    let sentences = Sentences::default();
    let wanted = PulledRelease {
        kind: Kind::Valuation,
        id: &release_id(),
        manifest: Some(&Sha256Digest::of(promoted.as_bytes()).to_string()),
        with_snapshot: false,
    };
    let remote = Remote::Repository(Box::new(store), Arc::default());
    let destination = (here.path(), &Trust::Unsigned);
    remote.pull(wanted, destination, &sentences).unwrap();
    assert_eq!(*seen.borrow(), [OTHER_MANIFEST]);
    assert_eq!(std::fs::read_to_string(&manifest).unwrap(), promoted);
    let sentences = sentences.0.into_inner();
    let aside = sentences[0].split(" is in ").nth(1);
    let aside = aside.unwrap_or_else(|| panic!("{sentences:?}"));
    let aside = Path::new(aside.strip_suffix(" now").unwrap_or(aside));
    let other = std::fs::read_to_string(aside.join("manifest.json")).unwrap();
    assert_eq!(other, OTHER_MANIFEST);
    let place = manifest.parent().unwrap().display().to_string();
    assert!(sentences[1].contains(&place), "{sentences:?}");
}

#[test]
fn a_conflict_of_a_pull_names_its_source_and_no_new_id() {
    let store = DemoStore {
        conflicts: true,
        ..DemoStore::default()
    };
    let (pulled, result) = pull(store, None);
    let error = result.unwrap_err();
    assert_eq!(pulled, [Kind::Property]);
    assert!(error.to_string().starts_with("snapshot "), "{error}");
    let cause = error.source().unwrap().to_string();
    assert!(
        cause.contains("than the one in demo://property/"),
        "{cause}"
    );
}

#[test]
fn a_release_is_copied_with_its_snapshot_and_a_second_copy_changes_nothing() {
    let there = TempDir::new().unwrap();
    let remote = Remote::Folder(demo(), Arc::default());
    let sentences = Sentences::default();
    for _ in 0..2 {
        let wanted = PulledRelease {
            kind: Kind::Valuation,
            id: &release_id(),
            manifest: None,
            with_snapshot: true,
        };
        let here = (there.path(), &Trust::Unsigned);
        remote.pull(wanted, here, &sentences).unwrap();
    }
    let sentences = sentences.0.into_inner();
    let begins: Vec<_> = sentences
        .iter()
        .map(|sentence| sentence.split(' ').next().unwrap())
        .collect();
    assert_eq!(begins, ["snapshot", "release", "snapshot", "release"]);
    assert!(
        sentences[3].contains("already, the same bytes"),
        "{sentences:?}"
    );
}

#[test]
fn a_package_whose_files_were_not_all_read_is_not_called_the_same_bytes() {
    let id = only_id(Kind::Rates);
    let publish = |outcome| {
        let store = DemoStore {
            published: Some(outcome),
            ..DemoStore::default()
        };
        let remote = Remote::Repository(Box::new(store), Arc::default());
        let wanted = PublishedRelease {
            kind: Kind::Rates,
            id: &id,
            with_snapshot: false,
        };
        let sentences = Sentences::default();
        let here = (demo(), Trust::Unsigned);
        remote
            .publish(wanted, (&here.0, &here.1), &sentences)
            .unwrap();
        sentences.0.into_inner().concat()
    };
    let compared = |sent| publish(PublishOutcome::SizesCompared { signer: None, sent });
    let unread = "files of more than 64 MiB were not read and have the same sizes, not signed";
    for (said, expected) in [
        (compared(false), format!("already; {unread}")),
        (
            compared(true),
            format!("already; missing or damaged files were sent; {unread}"),
        ),
        (
            publish(PublishOutcome::Repaired),
            "the same bytes again; damaged files were replaced".to_owned(),
        ),
    ] {
        assert!(said.contains(&expected), "{said}");
    }
    assert!(!compared(true).contains("same bytes"));
}

#[test]
fn a_snapshot_of_other_content_is_refused_and_the_pinned_one_is_not() {
    let package = demo().join("valuation").join(release_id().as_str());
    let mut release: ValuationBody = crate::read_claimed_body(&package, &Trust::Unsigned).unwrap();
    crate::find_pinned_snapshot(&demo(), &release, &Trust::Unsigned).unwrap();
    release.snapshot.content_digest = Sha256Digest::of(b"another snapshot");
    let error = crate::find_pinned_snapshot(&demo(), &release, &Trust::Unsigned).unwrap_err();
    assert!(matches!(error, PinError::Other { .. }), "{error}");
    release.snapshot.id = "not-here-1".parse().unwrap();
    let error = crate::find_pinned_snapshot(&demo(), &release, &Trust::Unsigned).unwrap_err();
    assert!(matches!(error, PinError::Absent { .. }), "{error}");
}
