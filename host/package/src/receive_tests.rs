//! Packages that arrive whole, altered or a second time.

use super::*;
use crate::test_package::{ID, write_package};
use crate::{Package, SigningKey, TrustList, open, sign};
use std::fs;
use std::io::Write;

/// Writes a signed package in a new packages folder, and returns it with its key.
fn signed_package() -> (tempfile::TempDir, Package, TrustList) {
    let packages_dir = tempfile::tempdir().unwrap();
    write_package(packages_dir.path(), "deep/data", b"rows");
    let key = SigningKey::from_seed([7; 32]);
    let package = sign(&packages_dir.path().join(ID), &key).unwrap();
    let mut list = TrustList::new();
    list.add(key.public(), "");
    (packages_dir, package, list)
}

fn remote_manifest(package: &Package, trust: Trust) -> Result<RemoteManifest, PackageError> {
    let read = |name| fs::read(package.directory().join(name)).unwrap();
    RemoteManifest::judge(
        (Kind::Property, &package.manifest().id),
        read(MANIFEST),
        Some(read(SIGNATURE)),
        &trust,
        Path::new("far"),
    )
}

fn begin_receiving(
    package: &Package,
    list: &TrustList,
    packages_dir: &Path,
) -> Box<PackageReceiver> {
    let state = remote_manifest(package, Trust::Required(list.clone()))
        .unwrap()
        .begin_receiving(packages_dir, &TransferControl::default());
    match state.unwrap() {
        ReceiveState::Receiving(receiver) => receiver,
        ReceiveState::Existing(_) => panic!("it is not there"),
    }
}

fn count_entries(packages_dir: &Path) -> usize {
    fs::read_dir(packages_dir).unwrap().count()
}

#[test]
fn a_transfer_that_is_stopped_leaves_nothing() {
    let (_dir, package, list) = signed_package();
    let control = TransferControl::default();
    let (received, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let receiver = begin_receiving(&package, &list, received.path());
    let file = "deep/data".parse().unwrap();
    receiver.create(&file).unwrap().write_all(b"rows").unwrap();
    assert_eq!(count_entries(received.path()), 1);
    control.stop();
    let stopped = receiver.finish(&control).unwrap_err().to_string();
    assert!(stopped.contains("the transfer was stopped"), "{stopped}");
    assert_eq!(count_entries(received.path()), 0);
    let stopped = crate::publish(&package, copied.path(), &control);
    assert!(stopped.is_err());
    assert_eq!(count_entries(copied.path()), 0);
    let going = TransferControl::default();
    crate::publish(&package, copied.path(), &going).unwrap();
    assert_eq!(going.bytes(), 4);
}

#[test]
fn the_proof_of_a_package_that_is_here_counts_and_can_be_stopped() {
    let (_dir, package, list) = signed_package();
    let packages_dir = tempfile::tempdir().unwrap();
    crate::publish(&package, packages_dir.path(), &TransferControl::default()).unwrap();
    let begin = |control: &TransferControl| {
        let remote = remote_manifest(&package, Trust::Required(list.clone())).unwrap();
        remote.begin_receiving(packages_dir.path(), control)
    };
    let control = TransferControl::default();
    begin(&control).unwrap();
    assert_eq!(control.bytes(), 4);
    crate::publish(&package, packages_dir.path(), &control).unwrap();
    assert_eq!(control.bytes(), 8);
    control.stop();
    let stopped = begin(&control).unwrap_err().to_string();
    assert!(stopped.contains("the transfer was stopped"), "{stopped}");
    assert_eq!(control.bytes(), 8);
}

#[test]
fn a_whole_transfer_is_published() {
    let (_dir, package, list) = signed_package();
    let packages_dir = tempfile::tempdir().unwrap();
    let receiver = begin_receiving(&package, &list, packages_dir.path());
    assert_eq!(receiver.remote_manifest().signer(), package.signer());
    let file = "deep/data".parse().unwrap();
    receiver.create(&file).unwrap().write_all(b"ro").unwrap();
    receiver.create(&file).unwrap().write_all(b"rows").unwrap();
    assert_eq!(
        receiver.finish(&TransferControl::default()).unwrap(),
        PublishOutcome::Copied
    );
    let trust = Trust::Required(list.clone());
    let there = open(&packages_dir.path().join(ID), &trust).unwrap();
    assert_eq!(there.digest(), package.digest());
    assert_eq!(there.signer(), package.signer());
    let again = remote_manifest(&package, trust)
        .unwrap()
        .begin_receiving(packages_dir.path(), &TransferControl::default());
    let signer = package.signer().copied();
    assert!(matches!(
        again.unwrap(),
        ReceiveState::Existing(PublishOutcome::AlreadyThere(by)) if by == signer
    ));
}

#[test]
fn a_transfer_unlike_its_manifest_leaves_no_files() {
    let (_dir, package, list) = signed_package();
    let packages_dir = tempfile::tempdir().unwrap();
    let file: FilePath = "deep/data".parse().unwrap();
    let other = begin_receiving(&package, &list, packages_dir.path());
    other.create(&file).unwrap().write_all(b"wors").unwrap();
    assert!(matches!(
        other.finish(&TransferControl::default()).unwrap_err().kind,
        PackageErrorKind::Digest { .. }
    ));
    let short = begin_receiving(&package, &list, packages_dir.path());
    short.create(&file).unwrap();
    assert!(matches!(
        short.finish(&TransferControl::default()).unwrap_err().kind,
        PackageErrorKind::Size { .. }
    ));
    let none = begin_receiving(&package, &list, packages_dir.path());
    assert!(matches!(
        none.finish(&TransferControl::default()).unwrap_err().kind,
        PackageErrorKind::Missing { .. }
    ));
    drop(begin_receiving(&package, &list, packages_dir.path()));
    assert_eq!(count_entries(packages_dir.path()), 0);
}

#[test]
fn it_is_judged_before_any_file_comes() {
    let (_dir, package, _) = signed_package();
    let error = remote_manifest(&package, Trust::Required(TrustList::new())).unwrap_err();
    assert!(matches!(error.kind, PackageErrorKind::Untrusted { .. }));
    let stored = fs::read(package.directory().join(MANIFEST)).unwrap();
    let judge_error = |kind, id: &str, signature| {
        let id = id.parse().unwrap();
        let trust = Trust::Required(TrustList::new());
        RemoteManifest::judge(
            (kind, &id),
            stored.clone(),
            signature,
            &trust,
            Path::new(""),
        )
        .unwrap_err()
        .kind
    };
    assert!(matches!(
        judge_error(Kind::Property, ID, None),
        PackageErrorKind::Unsigned
    ));
    assert!(matches!(
        judge_error(Kind::Property, ID, Some(b"x".to_vec())),
        PackageErrorKind::SignatureForm
    ));
    assert!(matches!(
        judge_error(Kind::Valuation, ID, None),
        PackageErrorKind::WrongKind { .. }
    ));
    assert!(matches!(
        judge_error(Kind::Property, "s-2", None),
        PackageErrorKind::WrongId { .. }
    ));
}

#[test]
fn an_unsigned_copy_takes_the_new_signature_and_a_signed_copy_keeps_its_own() {
    let (_dir, package, list) = signed_package();
    let trust = Trust::Required(list.clone());
    let (other, _, _) = signed_package();
    let destination = other.path().join(ID);
    for published in [
        |package: &Package, packages_dir: &Path, trust: Trust| match remote_manifest(package, trust)
            .unwrap()
            .begin_receiving(packages_dir, &TransferControl::default())
            .unwrap()
        {
            ReceiveState::Existing(published) => published,
            ReceiveState::Receiving(_) => panic!("it is there"),
        },
        |package: &Package, packages_dir: &Path, _: Trust| {
            crate::publish(package, packages_dir, &TransferControl::default()).unwrap()
        },
    ] {
        fs::remove_file(destination.join(SIGNATURE)).unwrap();
        let first = published(&package, other.path(), trust.clone());
        assert_eq!(first, PublishOutcome::Completed);
        let signed = open(&destination, &trust).unwrap();
        assert_eq!(signed.signer(), package.signer());
        let again = published(&package, other.path(), trust.clone());
        assert_eq!(
            again,
            PublishOutcome::AlreadyThere(package.signer().copied())
        );

        // Another's signature stays, and it is said whose it is.
        let another = SigningKey::from_seed([8; 32]);
        sign(&destination, &another).unwrap();
        let outcome = published(&package, other.path(), trust.clone());
        assert_eq!(
            outcome,
            PublishOutcome::AlreadyThere(Some(another.public()))
        );
    }
    assert_eq!(count_entries(other.path()), 1);
}

#[test]
fn an_id_that_is_there_with_other_bytes_stays() {
    let (_dir, package, list) = signed_package();
    let (other, _, _) = signed_package();
    let destination = other.path().join("s-1/manifest.json");
    let text = fs::read_to_string(&destination).unwrap();
    fs::write(&destination, text.replace("2026-01-31", "2026-02-01")).unwrap();
    let state = remote_manifest(&package, Trust::Required(list))
        .unwrap()
        .begin_receiving(other.path(), &TransferControl::default());
    assert!(matches!(
        state.unwrap_err().kind,
        PackageErrorKind::Republished
    ));
}

#[test]
fn a_failed_rename_is_an_error_though_the_same_package_is_there() {
    let (dir, package, _) = signed_package();
    let manifest = package.manifest();
    let staging = StagingDirectory::new(dir.path(), &manifest.id).unwrap();
    fs::remove_dir(staging.path()).unwrap();
    let destination = package.directory();
    let renamed = crate::write::rename_into_place(staging, dir.path(), destination, manifest);
    assert!(matches!(renamed, Err(PackageErrorKind::Io { .. })));
}
