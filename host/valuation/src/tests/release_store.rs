//! The store of releases: which it opens, which of them is current, and what it refuses.

use super::demo::{RELEASE, SNAPSHOT};
use super::package_files::{copy_tree, write_changed};
use chrono::NaiveDate;
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_evaluation::compare::header::Source as Rows;
use domesday_evaluation::compare::sides::Sides;
use domesday_evaluation::report::TrainingData;
use domesday_package::{
    Draft, Full, PropertyBody, Sha256Digest, Source, Trust, ValuationBody, Verification, open,
    write,
};
use domesday_registers::Day;
use domesday_valuation::comparison_header::{
    authority_name, header, last_training_day, training_data,
};
use domesday_valuation::release_store::{OpenRelease, ReleaseError, ReleaseStore, package_ids};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};
use tempfile::TempDir;

fn demo_releases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases")
}

/// Returns a folder of releases with the demo's snapshot and no release.
fn without_release() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = format!("property/{SNAPSHOT}");
    copy_tree(
        &demo_releases().join(&snapshot),
        &folder.path().join(&snapshot),
    );
    fs::create_dir(folder.path().join("valuation")).unwrap();
    folder
}

/// Adds the demo's release under another id, with a change of its manifest.
fn add(folder: &Path, id: &str, change: impl FnOnce(&mut ValuationBody)) {
    let demo = demo_releases().join("valuation").join(RELEASE);
    let component = fs::read(demo.join("component.wasm")).unwrap();
    write_changed(folder, &demo, id, component, change);
}

/// Returns a folder with a release of the past, and one that is in force from the summer on.
fn past_and_summer() -> TempDir {
    let folder = without_release();
    for (id, date) in [("past-1", "2026-01-01"), ("summer-1", "2026-06-01")] {
        add(folder.path(), id, |body| body.effective_date = day(date));
    }
    folder
}

/// Puts another package of a release in its place, and the one before into the hidden folder
/// `before`.
fn replace(folder: &Path, id: &str) {
    let packages = folder.join("valuation");
    fs::rename(packages.join(id), packages.join(".before")).unwrap();
    add(folder, id, |body| body.model.name = "another".to_owned());
}

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn store(folder: &Path, current: Option<&str>, today: &str) -> Result<ReleaseStore, ReleaseError> {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let proof: (Trust, Arc<dyn Verification>) = (Trust::Unsigned, Arc::new(Full));
    ReleaseStore::open(folder, proof, runtime, current, day(today))
}

fn ids(store: &ReleaseStore) -> Vec<String> {
    let retained = store.list_retained();
    retained.iter().map(|release| release.id.clone()).collect()
}

#[test]
fn the_release_in_force_is_current() {
    let folder = without_release();
    for (id, date) in [
        ("past-1", "2026-01-01"),
        ("summer-1", "2026-06-01"),
        ("summer-2", "2026-06-01"),
        ("winter-1", "2026-12-01"),
        ("winter-0", "2027-12-01"),
    ] {
        add(folder.path(), id, |body| body.effective_date = day(date));
    }
    for (today, expected) in [
        // None is in force yet: the one that will be first.
        ("2025-12-31", "past-1"),
        ("2026-01-01", "past-1"),
        ("2026-05-31", "past-1"),
        // Of equals the last by id.
        ("2026-06-01", "summer-2"),
        ("2026-11-30", "summer-2"),
        ("2026-12-01", "winter-1"),
        ("2028-01-01", "winter-0"),
    ] {
        let store = store(folder.path(), None, today).unwrap();
        assert_eq!(store.current().id, expected, "{today}");
        assert_eq!(store.count(), 5);
    }
    let named = store(folder.path(), Some("past-1"), "2028-01-01").unwrap();
    assert_eq!(named.current().id, "past-1");
    let missing = store(folder.path(), Some("spring-1"), "2028-01-01").err();
    assert!(matches!(missing, Some(ReleaseError::Unknown { id, .. }) if id == "spring-1"));
}

#[test]
fn a_release_that_comes_later_is_opened_and_promoted_by_its_id() {
    let folder = without_release();
    add(folder.path(), "first-1", |_| {});
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    add(folder.path(), "later-1", |_| {});
    assert_eq!(ids(&store), ["first-1"]);
    let later = store.get("later-1").unwrap();
    assert_eq!(ids(&store), ["first-1", "later-1"]);
    // It is opened once, and shares the snapshot.
    assert!(Arc::ptr_eq(&later, &store.get("later-1").unwrap()));
    assert!(Arc::ptr_eq(&later.snapshot, &store.current().snapshot));
    assert_eq!(store.current().id, "first-1");
    store.promote("later-1").unwrap();
    assert_eq!(store.current().id, "later-1");
    for id in ["other-1", "../first-1", ""] {
        let error = store.promote(id).err();
        assert!(matches!(error, Some(ReleaseError::Unknown { .. })), "{id}");
    }
    assert_eq!(store.current().id, "later-1");
}

/// A store that is opened proves what serves at once, and the rest when it is asked for.
#[test]
fn a_retained_release_is_proved_when_it_is_first_asked_for() {
    let folder = past_and_summer();
    let spoil = |id: &str| {
        let path = folder.path().join(format!("valuation/{id}/component.wasm"));
        let mut bytes = fs::read(&path).unwrap();
        bytes[100] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    spoil("past-1");
    let opened = store(folder.path(), None, "2027-06-01").unwrap();
    assert_eq!(ids(&opened), ["past-1", "summer-1"]);
    assert!(matches!(
        opened.get("past-1"),
        Err(ReleaseError::Package(_))
    ));
    assert!(matches!(opened.open_all(), Err(ReleaseError::Package(_))));
    assert_eq!(opened.current().id, "summer-1");
    spoil("summer-1");
    let refused = store(folder.path(), None, "2027-06-01").err();
    assert!(matches!(refused, Some(ReleaseError::Package(_))));
}

#[test]
fn a_release_that_was_withdrawn_is_not_served() {
    let folder = past_and_summer();
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    let withdraw = |id: &str| {
        let manifest = store.package_digest(id).unwrap();
        assert!(store.withdraw(id, manifest, "a byte differs"));
    };
    withdraw("past-1");
    assert!(store.current_problem().is_none());
    let Err(ReleaseError::Withdrawn { release, reason }) = store.get("past-1") else {
        panic!("it is served");
    };
    assert_eq!((&*release, &*reason), ("past-1", "a byte differs"));
    assert!(store.promote("past-1").is_err());
    assert!(!store.holds("past-1") && store.holds("summer-1"));
    assert_eq!(store.list_served(), ["summer-1"]);
    withdraw("summer-1");
    let problem = store.current_problem().map(|problem| problem.to_string());
    assert!(problem.unwrap().contains("summer-1"));
}

#[test]
fn a_withdrawn_release_is_served_again_once_another_package_replaces_it() {
    let folder = without_release();
    add(folder.path(), "past-1", |_| {});
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    let before = store.current();
    // A proof of an earlier package may end now.
    let other = Sha256Digest::of(b"another");
    assert!(!store.withdraw("past-1", other, "a byte differs") && store.holds("past-1"));
    assert!(store.withdraw("past-1", before.package, "a byte differs"));
    let known = before.package.to_string();
    assert!(store.open_stored("past-1", Some(&known)).is_err());
    replace(folder.path(), "past-1");
    let place = folder.path().join("valuation/past-1");
    let manifest = open(&place, &Trust::Unsigned).unwrap().digest();
    let stored = store.open_stored("past-1", Some(&manifest.to_string()));
    assert!(!store.holds("past-1"), "it waits for the promotion");
    store.replace(&stored.unwrap()).unwrap();
    assert_eq!(store.get("past-1").unwrap().package, manifest);
}

/// The gate may refuse the promotion.
#[test]
fn a_package_that_is_opened_for_a_promotion_is_served_once_it_replaces_the_other() {
    let folder = without_release();
    add(folder.path(), "past-1", |_| {});
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    let before = store.current();
    let is_served = |release: &Arc<OpenRelease>| {
        let served = store.get("past-1").unwrap();
        Arc::ptr_eq(&served, release)
    };
    let known = before.package.to_string();
    assert!(is_served(
        &store.open_stored("past-1", Some(&known)).unwrap()
    ));
    replace(folder.path(), "past-1");
    let place = folder.path().join("valuation/past-1");
    let manifest = open(&place, &Trust::Unsigned).unwrap().digest();
    let other = manifest.to_string();
    let stored = store.open_stored("past-1", Some(&other)).unwrap();
    assert_eq!(stored.package, manifest);
    assert!(is_served(&before));
    assert_eq!(store.package_digest("past-1"), Some(before.package));
    store.replace(&stored).unwrap();
    assert!(is_served(&stored));
    assert_eq!(store.package_digest("past-1"), Some(manifest));
    // A proof may find damage before the promotion ends.
    assert!(store.withdraw("past-1", manifest, "a byte differs"));
    let refused = store.open_stored("past-1", Some(&other)).map(drop);
    for refused in [refused, store.replace(&stored)] {
        assert!(matches!(refused, Err(ReleaseError::Withdrawn { .. })));
    }
    // A release that the host did not retain is retained by its promotion.
    add(folder.path(), "later-1", |_| {});
    let later = store.open_stored("later-1", None).unwrap();
    assert_eq!(ids(&store), ["past-1"]);
    store.replace(&later).unwrap();
    assert_eq!(ids(&store), ["later-1", "past-1"]);
}

/// A start opens the current release alone. A job may ask for another one much later.
#[test]
fn a_retained_release_is_opened_from_no_other_package_than_the_one_that_the_host_knows() {
    let folder = past_and_summer();
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    let known = store.package_digest("past-1").unwrap();
    replace(folder.path(), "past-1");
    let Err(ReleaseError::OtherPackage {
        release,
        found,
        retained,
    }) = store.get("past-1")
    else {
        panic!("it is served");
    };
    assert_eq!((&*release, retained), ("past-1", known));
    assert_ne!(found, known);
    assert_eq!(store.package_digest("past-1"), Some(known));
    // Once it was promoted, it is served.
    let stored = store.open_stored("past-1", Some(&found.to_string()));
    store.replace(&stored.unwrap()).unwrap();
    assert_eq!(store.get("past-1").unwrap().package, found);
}

/// Somebody copies the retained package back.
#[test]
fn a_retained_release_is_opened_once_its_package_is_back() {
    let folder = past_and_summer();
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    replace(folder.path(), "past-1");
    assert!(store.get("past-1").is_err() && store.holds("past-1"));
    let packages = folder.path().join("valuation");
    fs::remove_dir_all(packages.join("past-1")).unwrap();
    fs::rename(packages.join(".before"), packages.join("past-1")).unwrap();
    let release = store.get("past-1").unwrap();
    assert_eq!(store.package_digest("past-1"), Some(release.package));
}

#[test]
fn a_release_pinned_to_other_content_is_refused_with_both_digests() {
    let folder = without_release();
    let pin = "0".repeat(64);
    add(folder.path(), "other-1", |body| {
        body.snapshot.content_digest = pin.parse().unwrap();
    });
    let Err(ReleaseError::OtherSnapshot {
        release,
        snapshot,
        pinned,
        found,
        ..
    }) = store(folder.path(), None, "2027-06-01")
    else {
        panic!("the release is opened");
    };
    assert_eq!((&*release, &*snapshot), ("other-1", SNAPSHOT));
    assert_eq!(pinned, pin);
    assert_ne!(found, pin);
}

/// The folder of an open snapshot gets another manifest. The release that is pinned to that one is
/// not served from the open snapshot.
#[test]
fn a_release_is_served_from_the_content_that_it_is_pinned_to_and_not_by_the_id() {
    let folder = without_release();
    add(folder.path(), "first-1", |_| {});
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    let properties = folder.path().join("property");
    let place = properties.join(SNAPSHOT);
    let package = open(&place, &Trust::Unsigned).unwrap();
    let mut body: PropertyBody = package.body().unwrap();
    let found = body.content_digest.to_string();
    let pin: Sha256Digest = "0".repeat(64).parse().unwrap();
    body.content_digest = pin;
    let files = package.manifest().files.keys();
    let files = files.map(|file| {
        (
            file.clone(),
            Source::Path(package.directory().join(file.as_str())),
        )
    });
    let draft = Draft {
        id: SNAPSHOT.parse().unwrap(),
        created: "2026-10-01T00:00:00Z".parse().unwrap(),
        body,
        files: files.collect(),
    };
    let elsewhere = tempfile::tempdir().unwrap();
    write(elsewhere.path(), draft).unwrap();
    fs::rename(&place, properties.join(".before")).unwrap();
    copy_tree(&elsewhere.path().join(SNAPSHOT), &place);
    add(folder.path(), "other-1", |body| {
        body.snapshot.content_digest = pin
    });
    let refused = store.get("other-1").err();
    let is_other =
        matches!(&refused, Some(ReleaseError::OtherSnapshot { found: it, .. }) if *it == found);
    assert!(is_other, "{refused:?}");
    store.get("first-1").unwrap();
}

#[test]
fn a_folder_without_releases_is_refused() {
    let folder = without_release();
    let nothing = store(folder.path(), None, "2027-06-01").err();
    assert!(matches!(nothing, Some(ReleaseError::Nothing { .. })));
    let missing = package_ids(&folder.path().join("nowhere"));
    assert!(matches!(missing, Err(ReleaseError::Nothing { .. })));
}

#[test]
fn files_and_hidden_folders_are_no_packages() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b-1", "a-1", ".staging"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("README"), "").unwrap();
    assert_eq!(package_ids(folder.path()).unwrap(), ["a-1", "b-1"]);
}

#[test]
fn a_folder_that_cannot_be_listed_is_named_with_one_reason_and_advice_that_fits() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused = package_ids(file.path()).unwrap_err();
    let text = refused.to_string();
    let begin = format!("cannot list the releases in {}: ", file.path().display());
    assert!(text.starts_with(&begin), "{text}");
    assert!(text.ends_with("; check --releases"), "{text}");
    // A source would be printed again after the text.
    assert!(refused.source().is_none());

    let denied = ReleaseError::Io {
        path: PathBuf::from("valuation"),
        error: io::Error::from(io::ErrorKind::PermissionDenied),
    };
    let advice = "; run domesday as a user who may read it, such as root";
    assert!(denied.to_string().ends_with(advice), "{denied}");
}

#[test]
fn a_release_has_the_dates_of_its_snapshot_and_its_manifest() {
    let folder = without_release();
    add(folder.path(), "first-1", |_| {});
    let release = store(folder.path(), None, "2027-06-01").unwrap().current();
    assert_eq!(release.latest_sale, release.snapshot.identity().latest_sale);
    assert_eq!(release.window.from, release.manifest.valuation_date.from);
    assert_eq!(release.window.to, release.manifest.valuation_date.to);
}

#[test]
fn training_data_overlaps_from_its_last_day() {
    let demo = open(
        &demo_releases().join("valuation").join(RELEASE),
        &Trust::Unsigned,
    );
    let manifest: ValuationBody = demo.unwrap().body().unwrap();
    let window = manifest.model.training_window.unwrap();
    let last = last_training_day(&window);
    assert_eq!(last, window.fitted_through.max(window.calibrated_through));
    let overlaps = |from: NaiveDate| match training_data(&manifest, Day::from(from)) {
        TrainingData::Sales { overlap, .. } => overlap,
        _ => panic!("the release was trained on sales"),
    };
    assert!(overlaps(last));
    assert!(overlaps(last.pred_opt().unwrap()));
    assert!(!overlaps(last.succ_opt().unwrap()));

    let mut unstated = manifest.clone();
    unstated.model.training_window = None;
    let of = |manifest: &ValuationBody| training_data(manifest, Day(0));
    assert!(matches!(of(&unstated), TrainingData::Unstated));
    unstated.model.parameters_sha256 = None;
    assert!(matches!(of(&unstated), TrainingData::Nothing));
}

#[test]
fn a_comparison_names_both_releases_and_their_authorities() {
    let folder = without_release();
    add(folder.path(), "first-1", |_| {});
    add(folder.path(), "other-1", |_| {});
    let store = store(folder.path(), None, "2027-06-01").unwrap();
    let (a, b) = (store.get("first-1").unwrap(), store.get("other-1").unwrap());
    let sides = || Sides { a: &*a, b: &*b };
    let rows = Rows::Fixtures {
        file: "fixtures.jsonl".to_owned(),
    };
    let header = header(sides(), rows, None);
    assert_eq!(header.releases.a.release_id, "first-1");
    assert_eq!(header.releases.b.release_id, "other-1");
    assert_eq!(header.releases.a.snapshot_id, SNAPSHOT);
    assert_eq!(
        header.releases.a.latest_sale,
        a.latest_sale.map(|day| day.to_string())
    );
    let authority = a.snapshot.authorities().remove(0);
    let code = authority.code.to_string();
    assert_eq!(authority_name(sides(), &code), Some(authority.name.clone()));
    assert_eq!(authority_name(sides(), "E06009999"), None);
    assert_eq!(authority_name(sides(), "nothing"), None);
}
