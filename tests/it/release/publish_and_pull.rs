//! A release goes from host to host whole, proved by the keys of the host that takes it, or not at
//! all.

use crate::common::demo::{RELEASE, SNAPSHOT};
use crate::common::packages::{Releases, copy_tree, damage};
use crate::common::program::{ProcessOutput, TIMEOUT, domesday, run, to_its_end};
use domesday_package::{PropertyBody, Sha256Digest, Trust, open};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Hands the demo's release on: `what` is publish or pull.
fn hand(what: &str, here: &Path, other: &Path, more: &[&str]) -> ProcessOutput {
    let (here, other) = (here.display().to_string(), other.display().to_string());
    let mut arguments = vec!["release", what, RELEASE, &other, "--releases", &here];
    arguments.extend(more);
    run(arguments)
}

/// A host that trusts the demo's key and has nothing yet.
fn host() -> TempDir {
    let host = TempDir::new().unwrap();
    copy_tree(
        &Releases::copy().path().join("keys"),
        &host.path().join("keys"),
    );
    host
}

fn packages(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for kind in ["property", "valuation"] {
        for entry in fs::read_dir(folder.join(kind)).into_iter().flatten() {
            found.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    found
}

#[test]
fn a_release_is_published_pulled_and_replayed_with_its_snapshot() {
    let (here, shared, there) = (Releases::copy(), TempDir::new().unwrap(), host());
    let said = hand("publish", here.path(), shared.path(), &[]).ok().stdout;
    assert!(
        said.contains(&format!("snapshot {SNAPSHOT} is in ")),
        "{said}"
    );
    assert!(
        said.contains(&format!("release {RELEASE} is in ")),
        "{said}"
    );
    assert!(said.contains("signed by "), "{said}");
    hand("pull", there.path(), shared.path(), &[]).ok();
    assert_eq!(packages(there.path()), [SNAPSHOT, RELEASE]);
    let folder = there.path().display().to_string();
    run(["replay", RELEASE, "--snapshot", "--releases", &folder]).ok();
    let again = hand("pull", there.path(), shared.path(), &[]).ok().stdout;
    assert_eq!(
        again.matches("already, the same bytes").count(),
        2,
        "{again}"
    );
}

#[test]
fn the_snapshot_can_be_left_out() {
    let (here, shared) = (Releases::copy(), TempDir::new().unwrap());
    hand(
        "publish",
        here.path(),
        shared.path(),
        &["--without-snapshot"],
    )
    .ok();
    assert_eq!(packages(shared.path()), [RELEASE]);
}

#[test]
fn what_was_damaged_on_its_way_is_refused_and_nothing_is_kept() {
    let (shared, there) = (Releases::copy(), host());
    damage(&shared.release(RELEASE).join("component.wasm"));
    let refused = hand("pull", there.path(), shared.path(), &[]).refused();
    assert!(refused.contains("component.wasm"), "{refused}");
    assert!(packages(there.path()).is_empty());
}

#[test]
fn the_keys_that_count_are_those_of_the_host_that_takes_it() {
    let (shared, stranger) = (Releases::copy(), TempDir::new().unwrap());
    // The folder that it comes from trusts its own key, which proves nothing here.
    let refused = hand("pull", stranger.path(), shared.path(), &[]).refused();
    assert!(refused.contains(RELEASE), "{refused}");
    assert!(packages(stranger.path()).is_empty());
}

#[test]
fn what_nobody_signed_goes_on_by_name_only() {
    let (shared, there) = (Releases::copy(), host());
    fs::remove_file(shared.release(RELEASE).join("manifest.sig")).unwrap();
    let refused = hand("pull", there.path(), shared.path(), &[]).refused();
    assert!(refused.contains(RELEASE), "{refused}");
    let said = hand(
        "pull",
        there.path(),
        shared.path(),
        &["--allow-unsigned", RELEASE],
    );
    assert!(said.ok().stdout.contains("not signed"));
}

#[test]
fn an_id_that_is_there_with_other_bytes_stays_as_it_is() {
    let (shared, there) = (Releases::copy(), Releases::without_release());
    there.add(RELEASE, b"another component".to_vec());
    let before = fs::read(there.release(RELEASE).join("manifest.json")).unwrap();
    for (what, here, other) in [
        ("pull", there.path(), shared.path()),
        ("publish", shared.path(), there.path()),
    ] {
        let refused = hand(what, here, other, &[]).refused();
        assert!(refused.contains(RELEASE), "{refused}");
        assert!(refused.contains("published"), "{refused}");
    }
    assert_eq!(
        fs::read(there.release(RELEASE).join("manifest.json")).unwrap(),
        before
    );
    let left: Vec<_> = fs::read_dir(there.path().join("valuation"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "nothing half done is left");
}

#[test]
fn a_release_that_is_not_there_is_said() {
    let (here, shared) = (host(), TempDir::new().unwrap());
    let refused = hand("publish", here.path(), shared.path(), &[]).refused();
    assert!(
        refused.contains(&format!("there is no release {RELEASE}")),
        "{refused}"
    );
}

#[test]
fn what_lies_there_unsigned_takes_the_signature_that_comes() {
    let (shared, there) = (Releases::copy(), Releases::copy());
    let signature = there.release(RELEASE).join("manifest.sig");
    let theirs = fs::read(&signature).unwrap();
    for (what, here, other) in [
        ("pull", there.path(), shared.path()),
        ("publish", shared.path(), there.path()),
    ] {
        fs::remove_file(&signature).unwrap();
        let said = hand(what, here, other, &[]).ok().stdout;
        assert!(said.contains("what was missing there has come"), "{said}");
        assert_eq!(fs::read(&signature).unwrap(), theirs);
        let again = hand(what, here, other, &[]).ok().stdout;
        assert_eq!(
            again.matches("already, the same bytes, signed by").count(),
            2,
            "{again}"
        );
    }
}

#[test]
fn who_pulls_over_another_package_is_told_which_is_where() {
    let (shared, there) = (Releases::copy(), Releases::without_release());
    there.add(RELEASE, b"another component".to_vec());
    let refused = hand("pull", there.path(), shared.path(), &[]).refused();
    let mine = there.release(RELEASE).display().to_string();
    assert!(refused.contains(&mine), "{refused}");
    let theirs = shared.path().display().to_string();
    assert!(refused.contains(&theirs), "{refused}");
    assert!(refused.contains("move it away"), "{refused}");
}

#[test]
fn an_address_that_is_mistyped_is_no_folder() {
    let (here, elsewhere) = (Releases::copy(), TempDir::new().unwrap());
    let folder = here.path().display().to_string();
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
            let refused = to_its_end(command, TIMEOUT).refused();
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
fn a_snapshot_that_is_not_the_pinned_one_is_told_before_anything_goes() {
    let (here, there) = (Releases::without_release(), host());
    let other = Sha256Digest::of(b"another snapshot");
    here.add_changed("pinned-1", b"a component".to_vec(), |body| {
        body.snapshot.content_digest = other;
    });
    let shared = TempDir::new().unwrap();
    let snapshot = open(&here.snapshot(), &Trust::Unsigned).unwrap();
    let true_one = snapshot.body::<PropertyBody>().unwrap().content_digest;
    let command = |what: &str, here: &Path, other: &Path| {
        let (here, other) = (here.display().to_string(), other.display().to_string());
        let allow = ["--allow-unsigned", "pinned-1", "--releases", &here];
        run([&["release", what, "pinned-1", &other], &allow[..]].concat()).refused()
    };
    for refused in [
        command("publish", here.path(), shared.path()),
        command("pull", there.path(), here.path()),
    ] {
        assert!(refused.contains(&other.to_string()), "{refused}");
        assert!(refused.contains(&true_one.to_string()), "{refused}");
    }
    assert!(packages(shared.path()).is_empty());
    assert!(packages(there.path()).is_empty());

    let folder = here.path().display().to_string();
    let all = ["release", "list", "--unsigned", "--releases", &folder];
    let listed = run(all).ok().stdout;
    let line = listed.lines().find(|line| line.starts_with("pinned-1"));
    let line = line.unwrap();
    assert!(line.contains("cannot be used"), "{line}");
    assert!(line.contains(&true_one.to_string()), "{line}");
}
