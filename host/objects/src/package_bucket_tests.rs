//! Two publishers of one id, and one that publishes again.

use super::*;
use domesday_package::{Draft, FilePath, PropertyBody, RegisterFile, Sha256Digest, Source};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const ID: &str = "homes-1";
const FILES: [&str; 2] = ["a.redb", "b.txt"];

/// An object store in a folder.
struct Store(TempDir);

impl Store {
    fn new() -> Store {
        Store(tempfile::tempdir().unwrap())
    }

    fn bucket(&self) -> PackageBucket {
        let location = Location::parse(&format!("file://{}", self.0.path().display())).unwrap();
        PackageBucket::open(location).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("property").join(name)
    }

    fn claim(&self) -> PathBuf {
        self.path(&format!(".{ID}.claim"))
    }
}

/// A package whose files hold this text.
fn package(text: &str) -> (TempDir, Package) {
    let folder = tempfile::tempdir().unwrap();
    let id: PackageId = ID.parse().unwrap();
    let file = |name: &str| name.parse::<FilePath>().unwrap();
    let bytes = || Source::Bytes(text.as_bytes().to_vec());
    let draft = Draft {
        id: id.clone(),
        created: "2027-01-01T00:00:00Z".parse().unwrap(),
        body: PropertyBody {
            snapshot_id: id,
            content_digest: Sha256Digest::of(text.as_bytes()),
            schema: 1,
            database: file(FILES[0]),
            sources: vec![RegisterFile {
                name: "pp.csv".to_owned(),
                sha256: Sha256Digest::of(b""),
                rows: 1,
            }],
            synthetic: true,
            latest_sale: None,
            counts: BTreeMap::new(),
        },
        files: FILES.map(|name| (file(name), bytes())).into(),
    };
    domesday_package::write(folder.path(), draft).unwrap();
    let package = domesday_package::open(&folder.path().join(ID), &Trust::Unsigned).unwrap();
    (folder, package)
}

fn publish(store: &Store, package: &Package) -> Result<PublishOutcome, BucketError> {
    store.bucket().publish(package, &mut |_, _, _| ())
}

/// Pulls the package and returns the text of its files.
fn pull_texts(store: &Store) -> Vec<String> {
    let here = tempfile::tempdir().unwrap();
    let bucket = store.bucket();
    let id = ID.parse().unwrap();
    let trust = Trust::Unsigned;
    let remote = bucket.fetch_manifest(Kind::Property, &id, &trust).unwrap();
    bucket.pull(remote, here.path(), &mut |_, _, _| ()).unwrap();
    let read = |name| fs::read_to_string(here.path().join(ID).join(name)).unwrap();
    FILES.map(read).into()
}

#[test]
fn a_bucket_answers_a_probe_and_once_it_is_stopped_nothing() {
    let store = Store::new();
    store.bucket().probe().unwrap();
    let (_folder, package) = package("first");
    publish(&store, &package).unwrap();
    store.bucket().probe().unwrap();
    let (here, control) = (
        tempfile::tempdir().unwrap(),
        Arc::new(TransferControl::default()),
    );
    let bucket = store.bucket().with_control(control.clone());
    let id = ID.parse().unwrap();
    let fetch = || bucket.fetch_manifest(Kind::Property, &id, &Trust::Unsigned);
    let remote = fetch().unwrap();
    control.stop();
    let stopped = bucket.pull(remote, here.path(), &mut |_, _, _| ());
    assert!(matches!(stopped, Err(BucketError::Stopped)), "{stopped:?}");
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
    assert!(matches!(fetch(), Err(BucketError::Stopped)));
    assert!(matches!(bucket.probe(), Err(BucketError::Stopped)));
}

#[test]
fn of_two_publishers_of_one_id_the_first_stands_whole_and_the_other_fails() {
    let store = Store::new();
    let ((_one, first), (_other, second)) = (package("first"), package("other"));
    let mut refused = Vec::new();
    // The other one begins after each file of the first.
    let published = store.bucket().publish(&first, &mut |_, _, _| {
        let outcome = std::thread::scope(|scope| scope.spawn(|| publish(&store, &second)).join());
        refused.push(outcome.unwrap().unwrap_err());
    });
    assert!(matches!(published, Ok(PublishOutcome::Copied)));
    assert!(refused.len() >= FILES.len());
    let is_claimed = |error: &BucketError| matches!(error, BucketError::Claimed { .. });
    assert!(refused.iter().all(is_claimed), "{refused:?}");
    assert_eq!(pull_texts(&store), ["first", "first"]);
    assert!(!store.claim().exists());
    let error = publish(&store, &second).unwrap_err();
    assert!(matches!(error, BucketError::Republished { .. }), "{error}");
    let again = publish(&store, &first).unwrap();
    assert!(matches!(again, PublishOutcome::AlreadyThere(None)));
}

#[test]
fn the_claim_of_a_publisher_that_broke_off_lets_the_same_bytes_through_alone() {
    let store = Store::new();
    let ((_one, first), (_other, second)) = (package("first"), package("other"));
    fs::create_dir_all(store.path(ID)).unwrap();
    fs::write(store.claim(), first.digest().to_string()).unwrap();
    fs::write(store.path(ID).join(FILES[0]), "half").unwrap();
    let error = publish(&store, &second).unwrap_err().to_string();
    assert!(error.contains(&format!("property/.{ID}.claim")), "{error}");
    assert!(!store.path(ID).join("manifest.json").exists());
    publish(&store, &first).unwrap();
    assert_eq!(pull_texts(&store), ["first", "first"]);
    assert!(!store.claim().exists());
}

#[test]
fn a_manifest_that_appears_meanwhile_is_not_overwritten() {
    for (text, is_same) in [("first", true), ("other", false)] {
        let store = Store::new();
        let ((_one, first), (_other, second)) = (package("first"), package(text));
        let manifest = second.directory().join("manifest.json");
        let there = store.path(ID).join("manifest.json");
        let published = store.bucket().publish(&first, &mut |_, _, _| {
            fs::create_dir_all(store.path(ID)).unwrap();
            fs::copy(&manifest, &there).unwrap();
        });
        match is_same {
            true => assert!(published.is_ok(), "{published:?}"),
            false => assert!(
                matches!(published, Err(BucketError::Republished { .. })),
                "{published:?}"
            ),
        }
        assert_eq!(fs::read(&there).unwrap(), fs::read(&manifest).unwrap());
    }
}

#[test]
fn a_damaged_file_is_sent_again_and_one_that_is_not_read_is_not_vouched_for() {
    let store = Store::new();
    let (_folder, package) = package("first");
    publish(&store, &package).unwrap();
    let file = store.path(ID).join(FILES[0]);
    for damage in ["fjrst", "fi", "first and more"] {
        fs::write(&file, damage).unwrap();
        let again = publish(&store, &package).unwrap();
        assert_eq!(again, PublishOutcome::Repaired, "{damage}");
        assert_eq!(pull_texts(&store), ["first", "first"]);
    }
    fs::remove_file(&file).unwrap();
    let again = publish(&store, &package).unwrap();
    assert_eq!(again, PublishOutcome::Completed);
    let again = publish(&store, &package).unwrap();
    assert_eq!(again, PublishOutcome::AlreadyThere(None));
    // Both files are too large to be read.
    let bucket = PackageBucket {
        largest_verified: 4,
        ..store.bucket()
    };
    for (damage, sent) in [("fjrst", false), ("fi", true)] {
        fs::write(&file, damage).unwrap();
        let again = bucket.publish(&package, &mut |_, _, _| ()).unwrap();
        let signer = None;
        assert_eq!(again, PublishOutcome::SizesCompared { signer, sent });
    }
    assert_eq!(pull_texts(&store), ["first", "first"]);
}

/// Its publisher had ended when this one looked for it, and others may not remove a claim.
#[test]
fn a_claim_that_stayed_of_a_finished_publisher_of_the_same_bytes_stops_none() {
    let store = Store::new();
    let (_folder, package) = package("a");
    store.bucket().publish(&package, &mut |_, _, _| {}).unwrap();
    std::fs::write(store.claim(), "of other bytes").unwrap();
    let again = store.bucket().publish(&package, &mut |_, _, _| {}).unwrap();
    assert!(
        matches!(again, PublishOutcome::AlreadyThere(_)),
        "{again:?}"
    );
}
