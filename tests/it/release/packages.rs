//! A package with one changed bit is not served. No native code runs that this host did not
//! compile.

use crate::common::demo::{RELEASE, SNAPSHOT, house};
use crate::common::guest::component;
use crate::common::packages::{Releases, copy_tree, damage};
use crate::common::program::{ProcessOutput, run};
use crate::common::server::{Server, start};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn replay(releases: &Releases, more: &[&str]) -> ProcessOutput {
    let folder = releases.path().display().to_string();
    let mut arguments = vec!["replay", RELEASE, "--releases", &folder];
    arguments.extend(more);
    run(arguments)
}

/// Asserts that a server and a replay refuse these releases, and name the package and the fault.
#[track_caller]
fn assert_refused_by_both(releases: &Releases, package: &str, named: &str) {
    let refusals = [
        start().releases(releases.path()).refused(),
        replay(releases, &["--snapshot"]).refused(),
    ];
    for refusal in refusals {
        assert!(refusal.contains(package), "{refusal}");
        assert!(refusal.contains(named), "{named}: {refusal}");
    }
}

fn files_of(package: &Path) -> Vec<String> {
    let mut files: Vec<String> = fs::read_dir(package)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    files
}

#[test]
fn one_bit_changed_in_any_file_of_a_release_is_refused_by_name() {
    let mut files = files_of(&Releases::copy().release(RELEASE));
    // The gates of publishing and promotion judge the check's report. It is not what is served.
    files.retain(|file| !file.starts_with("check."));
    assert_eq!(files.len(), 6, "{files:?}");
    for file in files {
        let releases = Releases::copy();
        damage(&releases.release(RELEASE).join(&file));
        // Which of a manifest and its signature was changed cannot be told apart.
        let named = file.strip_suffix(".json").unwrap_or(&file);
        assert_refused_by_both(&releases, RELEASE, named);
        // A replay that needs no snapshot needs its release whole all the same.
        assert!(replay(&releases, &[]).refused().contains(named));
    }
}

#[test]
fn one_bit_changed_in_any_file_of_a_snapshot_is_refused_by_name() {
    let files = files_of(&Releases::copy().snapshot());
    assert_eq!(files.len(), 5, "{files:?}");
    for file in files {
        let releases = Releases::copy();
        damage(&releases.snapshot().join(&file));
        assert_refused_by_both(&releases, SNAPSHOT, &file);
    }
}

#[test]
fn bits_anywhere_in_a_manifest_or_its_signature_count() {
    for file in ["manifest.json", "manifest.sig"] {
        let length = fs::read(Releases::copy().release(RELEASE).join(file))
            .unwrap()
            .len();
        for at in (0..length).step_by(length / 12).chain([length - 1]) {
            let releases = Releases::copy();
            let path = releases.release(RELEASE).join(file);
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 4;
            fs::write(&path, bytes).unwrap();
            let refusal = replay(&releases, &[]).refused();
            assert!(refusal.contains(RELEASE), "{file} byte {at}: {refusal}");
        }
    }
}

#[test]
fn a_file_that_is_cut_short_or_gone_is_refused_by_name() {
    let whole = Releases::copy();
    let component = whole.release(RELEASE).join("component.wasm");
    let length = fs::metadata(&component).unwrap().len();
    let file = fs::File::options().write(true).open(&component).unwrap();
    file.set_len(length - 1).unwrap();
    assert_refused_by_both(&whole, RELEASE, "component.wasm");
    fs::remove_file(&component).unwrap();
    assert_refused_by_both(&whole, RELEASE, "component.wasm");
}

#[test]
fn an_unlisted_file_is_refused_by_name() {
    let releases = Releases::copy();
    fs::write(releases.release(RELEASE).join("notes.txt"), "hello").unwrap();
    assert_refused_by_both(&releases, RELEASE, "notes.txt");
}

#[test]
fn a_link_in_place_of_a_file_is_refused_by_name() {
    let releases = Releases::copy();
    let component = releases.release(RELEASE).join("component.wasm");
    let elsewhere = releases.path().join("component.wasm");
    fs::rename(&component, &elsewhere).unwrap();
    symlink(&elsewhere, &component).unwrap();
    assert_refused_by_both(&releases, RELEASE, "component.wasm");
}

#[test]
fn an_unsigned_package_is_refused_unless_it_is_named() {
    let releases = Releases::copy();
    fs::remove_file(releases.release(RELEASE).join("manifest.sig")).unwrap();
    assert_refused_by_both(&releases, RELEASE, "sign");
    let named = ["--allow-unsigned", RELEASE];
    replay(&releases, &named).ok();
    start().releases(releases.path()).with(&named).go();
}

#[test]
fn a_signature_by_an_untrusted_key_is_refused() {
    let releases = Releases::copy();
    fs::remove_file(releases.path().join("keys/demo-hedonic.pub")).unwrap();
    assert_refused_by_both(&releases, RELEASE, "trust");
}

#[test]
fn a_signature_of_another_package_does_not_fit() {
    let releases = Releases::copy();
    let (from, to) = (releases.snapshot(), releases.release(RELEASE));
    fs::copy(from.join("manifest.sig"), to.join("manifest.sig")).unwrap();
    assert_refused_by_both(&releases, RELEASE, "manifest.sig");
}

#[test]
fn a_package_under_another_name_is_refused() {
    let releases = Releases::copy();
    let renamed = releases.release("renamed");
    fs::rename(releases.release(RELEASE), &renamed).unwrap();
    let refusal = start().releases(releases.path()).refused();
    assert!(
        refusal.contains("renamed") && refusal.contains(RELEASE),
        "{refusal}"
    );
}

#[test]
fn a_release_whose_snapshot_is_not_there_is_not_served() {
    let releases = Releases::copy();
    fs::remove_dir_all(releases.snapshot()).unwrap();
    let refusal = start().releases(releases.path()).refused();
    assert!(refusal.contains(SNAPSHOT), "{refusal}");
}

#[test]
fn an_empty_folder_is_an_error() {
    let releases = Releases::without_release();
    fs::create_dir(releases.path().join("valuation")).unwrap();
    let refusal = start().releases(releases.path()).refused();
    assert!(refusal.contains("no valuation release"), "{refusal}");
    fs::remove_dir(releases.path().join("valuation")).unwrap();
    let refusal = start().releases(releases.path()).refused();
    assert!(refusal.contains("valuation"), "{refusal}");
}

#[test]
fn a_missing_release_is_named() {
    let refusal = start().with(&["--release", "absent"]).refused();
    assert!(refusal.contains("absent"), "{refusal}");
}

/// Returns the only entry of a data folder's cache.
fn entry(data: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> = entries(data);
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0)
}

fn entries(data: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(data.join("compiled"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    entries
}

/// Returns a data folder that a server has used.
fn used_data_folder() -> (tempfile::TempDir, PathBuf) {
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    start().data(&data).go().stop();
    (temp_dir, data)
}

#[track_caller]
fn values(server: &Server) {
    assert_eq!(
        server.demo().post("/v3/value", &house()).ok()["status"],
        "valued"
    );
}

/// Asserts that the server starts on this folder, values, and logs an unused entry.
#[track_caller]
fn assert_entry_unused(data: &Path) {
    let server = start().data(data).go();
    values(&server);
    let log = server.stop();
    assert!(log.contains("compiling again"), "{log}");
}

#[test]
fn a_restart_uses_the_compiled_code() {
    let (_kept, data) = used_data_folder();
    let before = fs::metadata(entry(&data)).unwrap();
    let server = start().data(&data).go();
    values(&server);
    let log = server.stop();
    let after = fs::metadata(entry(&data)).unwrap();
    // Code compiled anew would be kept anew, under another inode.
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert!(!log.contains("compiling again"), "{log}");
    assert_eq!(fs::metadata(entry(&data)).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn an_altered_entry_goes_unused_and_is_replaced() {
    let (_kept, data) = used_data_folder();
    let path = entry(&data);
    let good = fs::read(&path).unwrap();
    damage(&path);
    assert_entry_unused(&data);
    assert_eq!(fs::read(&path).unwrap(), good);
}

#[test]
fn an_entry_that_another_host_compiled_goes_unused() {
    let ((_kept, data), (_other, elsewhere)) = (used_data_folder(), used_data_folder());
    fs::copy(entry(&elsewhere), entry(&data)).unwrap();
    assert_entry_unused(&data);
}

#[test]
fn an_entry_that_is_empty_or_cut_short_goes_unused() {
    for length in [0, 31, 32, 1_000] {
        let (_kept, data) = used_data_folder();
        let path = entry(&data);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..length]).unwrap();
        let server = start().data(&data).go();
        values(&server);
        drop(server);
        assert_eq!(fs::read(&path).unwrap(), bytes, "{length}");
    }
}

#[test]
fn one_releases_entry_cannot_stand_in_for_anothers() {
    let releases = Releases::copy();
    releases.add("misbehaving", component("guest-misbehaving"));
    let temp_dir = tempfile::tempdir().unwrap();
    let data = temp_dir.path().join("data");
    let started = || {
        start()
            .releases(releases.path())
            .data(&data)
            .with(&["--allow-unsigned", "misbehaving", "--release", RELEASE])
            // Opens both.
            .with(&["--verify"])
            .go()
    };
    started().stop();
    let found = entries(&data);
    let spare = temp_dir.path().join("spare");
    fs::rename(&found[0], &spare).unwrap();
    fs::rename(&found[1], &found[0]).unwrap();
    fs::rename(&spare, &found[1]).unwrap();
    let server = started();
    values(&server);
    assert_eq!(server.stop().matches("compiling again").count(), 2);
}

#[test]
fn a_cache_that_others_may_enter_is_refused() {
    let (_kept, data) = used_data_folder();
    let cache = data.join("compiled");
    for mode in [0o755, 0o770, 0o701] {
        fs::set_permissions(&cache, Permissions::from_mode(mode)).unwrap();
        let refusal = start().data(&data).refused();
        assert!(
            refusal.contains("compiled") && refusal.contains("0700"),
            "{refusal}"
        );
    }
    fs::set_permissions(&cache, Permissions::from_mode(0o700)).unwrap();
    values(&start().data(&data).go());
}

#[test]
fn a_cache_that_is_a_link_is_refused() {
    let (temp_dir, data) = used_data_folder();
    let elsewhere = temp_dir.path().join("elsewhere");
    fs::rename(data.join("compiled"), &elsewhere).unwrap();
    symlink(&elsewhere, data.join("compiled")).unwrap();
    let refusal = start().data(&data).refused();
    assert!(refusal.contains("not a folder"), "{refusal}");
}

#[test]
fn a_damaged_host_secret_is_a_clear_error() {
    let (_kept, data) = used_data_folder();
    fs::write(data.join("host.secret"), "short").unwrap();
    let refusal = start().data(&data).refused();
    assert!(refusal.contains("host.secret"), "{refusal}");
}

#[test]
fn serving_changes_no_byte_of_a_package() {
    let releases = Releases::copy();
    let server = start().releases(releases.path()).go();
    values(&server);
    server.stop();
    let temp_dir = tempfile::tempdir().unwrap();
    copy_tree(releases.path(), temp_dir.path());
    // Whatever had changed would now be refused.
    start().releases(releases.path()).go();
    replay(&releases, &["--snapshot"]).ok();
}
