//! A release goes from host to host whole, proved by the keys of the host that takes it, or not at
//! all.

use crate::common::demo::{RELEASE, SNAPSHOT};
use crate::common::packages::{Releases, damage, host, list_packages};
use crate::common::program::{ProcessOutput, TIMEOUT, domesday, releases, run, run_command};
use domesday_package::{PropertyBody, Sha256Digest, Trust, open};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Hands the demo's release on: `what` is publish or pull.
fn hand(what: &str, source: &Path, other: &Path, more: &[&str]) -> ProcessOutput {
    let (source, other) = (source.display().to_string(), other.display().to_string());
    let mut arguments = vec!["release", what, RELEASE, &other, "--releases", &source];
    arguments.extend(more);
    run(arguments)
}

#[test]
fn a_release_is_published_pulled_and_replayed_with_its_snapshot() {
    let (source, shared, target) = (Releases::copy(), TempDir::new().unwrap(), host());
    let output = hand("publish", source.path(), shared.path(), &[])
        .ok()
        .stdout;
    assert!(
        output.contains(&format!("snapshot {SNAPSHOT} is in ")),
        "{output}"
    );
    assert!(
        output.contains(&format!("release {RELEASE} is in ")),
        "{output}"
    );
    assert!(output.contains("signed by "), "{output}");
    hand("pull", target.path(), shared.path(), &[]).ok();
    assert_eq!(list_packages(target.path()), [SNAPSHOT, RELEASE]);
    let folder = target.path().display().to_string();
    run(["replay", RELEASE, "--snapshot", "--releases", &folder]).ok();
    let again = hand("pull", target.path(), shared.path(), &[]).ok().stdout;
    assert_eq!(
        again.matches("already, the same bytes").count(),
        2,
        "{again}"
    );
}

#[test]
fn a_release_of_series_is_published_and_pulled() {
    let (shared, target) = (TempDir::new().unwrap(), host());
    let rates = fs::read_dir(releases().join("rates")).unwrap().next();
    let id = rates.unwrap().unwrap().file_name().into_string().unwrap();
    let hand = |what: &str, from: &Path, other: &Path| {
        let (from, other) = (from.display().to_string(), other.display().to_string());
        run([
            "release",
            what,
            &id,
            &other,
            "--kind",
            "rates",
            "--releases",
            &from,
        ])
    };
    hand("publish", &releases(), shared.path()).ok();
    hand("pull", target.path(), shared.path()).ok();
    let place = |root: &Path| root.join("rates").join(&id);
    let digest = |root: &Path| open(&place(root), &Trust::Unsigned).unwrap().digest();
    assert_eq!(digest(target.path()), digest(&releases()));
    // The folder of one kind is no place of another.
    let refused = run(["release", "pull", &id, &shared.path().display().to_string()]).refused();
    assert!(refused.contains("there is no release"), "{refused}");
}

#[test]
fn the_snapshot_can_be_left_out() {
    let (source, shared) = (Releases::copy(), TempDir::new().unwrap());
    hand(
        "publish",
        source.path(),
        shared.path(),
        &["--without-snapshot"],
    )
    .ok();
    assert_eq!(list_packages(shared.path()), [RELEASE]);
}

#[test]
fn a_damaged_transfer_is_refused_and_nothing_is_stored() {
    let (shared, target) = (Releases::copy(), host());
    damage(&shared.release(RELEASE).join("component.wasm"));
    let refused = hand("pull", target.path(), shared.path(), &[]).refused();
    assert!(refused.contains("component.wasm"), "{refused}");
    assert!(list_packages(target.path()).is_empty());
}

#[test]
fn the_pulling_host_decides_which_keys_it_trusts() {
    let (shared, stranger) = (Releases::copy(), TempDir::new().unwrap());
    // The folder that it comes from trusts its own key, which proves nothing here.
    let refused = hand("pull", stranger.path(), shared.path(), &[]).refused();
    assert!(refused.contains(RELEASE), "{refused}");
    assert!(list_packages(stranger.path()).is_empty());
}

#[test]
fn an_unsigned_package_needs_its_name() {
    let (shared, target) = (Releases::copy(), host());
    fs::remove_file(shared.release(RELEASE).join("manifest.sig")).unwrap();
    let refused = hand("pull", target.path(), shared.path(), &[]).refused();
    assert!(refused.contains(RELEASE), "{refused}");
    let output = hand(
        "pull",
        target.path(),
        shared.path(),
        &["--allow-unsigned", RELEASE],
    );
    assert!(output.ok().stdout.contains("not signed"));
}

#[test]
fn an_existing_id_with_other_bytes_is_not_overwritten() {
    let (shared, target) = (Releases::copy(), Releases::without_release());
    target.add(RELEASE, b"another component".to_vec());
    let before = fs::read(target.release(RELEASE).join("manifest.json")).unwrap();
    for (what, source, other) in [
        ("pull", target.path(), shared.path()),
        ("publish", shared.path(), target.path()),
    ] {
        let refused = hand(what, source, other, &[]).refused();
        assert!(refused.contains(RELEASE), "{refused}");
        assert!(refused.contains("published"), "{refused}");
    }
    assert_eq!(
        fs::read(target.release(RELEASE).join("manifest.json")).unwrap(),
        before
    );
    let entries: Vec<_> = fs::read_dir(target.path().join("valuation"))
        .unwrap()
        .collect();
    assert_eq!(entries.len(), 1, "nothing half done is left");
}

#[test]
fn publishing_a_missing_release_is_refused() {
    let (source, shared) = (host(), TempDir::new().unwrap());
    let refused = hand("publish", source.path(), shared.path(), &[]).refused();
    assert!(
        refused.contains(&format!("there is no release {RELEASE}")),
        "{refused}"
    );
}

#[test]
fn an_unsigned_copy_takes_the_new_signature() {
    let (shared, target) = (Releases::copy(), Releases::copy());
    let signature = target.release(RELEASE).join("manifest.sig");
    let theirs = fs::read(&signature).unwrap();
    for (what, source, other) in [
        ("pull", target.path(), shared.path()),
        ("publish", shared.path(), target.path()),
    ] {
        fs::remove_file(&signature).unwrap();
        let output = hand(what, source, other, &[]).ok().stdout;
        assert!(output.contains("missing files were added"), "{output}");
        assert_eq!(fs::read(&signature).unwrap(), theirs);
        let again = hand(what, source, other, &[]).ok().stdout;
        assert_eq!(
            again.matches("already, the same bytes, signed by").count(),
            2,
            "{again}"
        );
    }
}

#[test]
fn pulling_over_another_package_names_both_paths() {
    let (shared, target) = (Releases::copy(), Releases::without_release());
    target.add(RELEASE, b"another component".to_vec());
    let refused = hand("pull", target.path(), shared.path(), &[]).refused();
    let mine = target.release(RELEASE).display().to_string();
    assert!(refused.contains(&mine), "{refused}");
    let theirs = shared.path().display().to_string();
    assert!(refused.contains(&theirs), "{refused}");
    assert!(refused.contains("move it away"), "{refused}");
}

#[test]
fn a_mistyped_address_is_refused() {
    let (source, elsewhere) = (Releases::copy(), TempDir::new().unwrap());
    let folder = source.path().display().to_string();
    for address in [
        "OCI://127.0.0.1:9/models/homes",
        "https://127.0.0.1:9/models/homes",
        "docker://127.0.0.1:9/models/homes",
        "oci:/127.0.0.1:9/models/homes",
    ] {
        for what in ["publish", "pull"] {
            let mut command = domesday();
            command.current_dir(elsewhere.path());
            command.args(["release", what, RELEASE, address, "--releases", &folder]);
            let refused = run_command(command, TIMEOUT).refused();
            assert!(
                refused.contains("oci://127.0.0.1:9/models/homes"),
                "{refused}"
            );
        }
        let alone = run(["release", "pull", address, "--releases", &folder]).refused();
        assert!(alone.contains("oci://127.0.0.1:9/models/homes"), "{alone}");
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_snapshot_unlike_the_pinned_one_is_refused_before_transfer() {
    let (source, target) = (Releases::without_release(), host());
    let other = Sha256Digest::of(b"another snapshot");
    source.add_changed("pinned-1", b"a component".to_vec(), |body| {
        body.snapshot.content_digest = other;
    });
    let shared = TempDir::new().unwrap();
    let snapshot = open(&source.snapshot(), &Trust::Unsigned).unwrap();
    let true_one = snapshot.body::<PropertyBody>().unwrap().content_digest;
    let command = |what: &str, source: &Path, other: &Path| {
        let (source, other) = (source.display().to_string(), other.display().to_string());
        let allow = ["--allow-unsigned", "pinned-1", "--releases", &source];
        run([&["release", what, "pinned-1", &other], &allow[..]].concat()).refused()
    };
    for refused in [
        command("publish", source.path(), shared.path()),
        command("pull", target.path(), source.path()),
    ] {
        assert!(refused.contains(&other.to_string()), "{refused}");
        assert!(refused.contains(&true_one.to_string()), "{refused}");
    }
    assert!(list_packages(shared.path()).is_empty());
    assert!(list_packages(target.path()).is_empty());

    let folder = source.path().display().to_string();
    let all = ["release", "list", "--unsigned", "--releases", &folder];
    let listed = run(all).ok().stdout;
    let line = listed.lines().find(|line| line.starts_with("pinned-1"));
    let line = line.unwrap();
    assert!(line.contains("cannot be used"), "{line}");
    assert!(line.contains(&true_one.to_string()), "{line}");
}
