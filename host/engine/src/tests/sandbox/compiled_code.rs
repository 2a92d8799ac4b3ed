//! Compiled code is loaded only if this host wrote it; anything else goes unused.

use super::common::{Nothing, subject};
use super::guest::component;
use domesday_engine::cache::{Cache, CacheError};
use domesday_engine::config::{Allocation, MAX_STACK_BYTES};
use domesday_engine::{Limits, Release, Runtime};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn admit(directory: &Path, secret: [u8; 32], guest: &[u8]) -> Release {
    let runtime = Runtime::new(Allocation::OnDemand)
        .unwrap()
        .with_cache(Cache::open(directory, secret).unwrap());
    runtime
        .admit(guest, Limits::new(200_000_000, 16 << 20))
        .unwrap()
}

fn values(release: &Release) {
    assert!(
        release
            .value(&Arc::new(subject(0)), Arc::new(Nothing))
            .outcome
            .is_ok()
    );
}

fn entry(directory: &Path) -> PathBuf {
    let entries: Vec<_> = fs::read_dir(directory).unwrap().collect();
    assert_eq!(entries.len(), 1);
    entries.into_iter().next().unwrap().unwrap().path()
}

#[test]
fn an_entry_is_used_again_and_a_planted_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("compiled");
    let guest = component("guest-misbehaving");
    values(&admit(&directory, [1; 32], &guest));
    let path = entry(&directory);
    let kept = fs::read(&path).unwrap();
    let written = fs::metadata(&path).unwrap().modified().unwrap();

    values(&admit(&directory, [1; 32], &guest));
    let again = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(written, again, "a good entry is not written again");

    for planted in [
        {
            let mut bytes = kept.clone();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            bytes
        },
        kept[..kept.len() - 1].to_vec(),
        b"short".to_vec(),
    ] {
        fs::write(&path, &planted).unwrap();
        values(&admit(&directory, [1; 32], &guest));
        assert_eq!(fs::read(&path).unwrap(), kept, "the entry is made anew");
    }
}

#[test]
fn an_entry_of_another_host_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("compiled");
    let guest = component("guest-misbehaving");
    values(&admit(&directory, [1; 32], &guest));
    let of_one = fs::read(entry(&directory)).unwrap();
    values(&admit(&directory, [2; 32], &guest));
    assert_ne!(fs::read(entry(&directory)).unwrap(), of_one);
}

#[test]
fn a_directory_open_to_others_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("compiled");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(
        Cache::open(&directory, [0; 32]),
        Err(CacheError::NotOurs { .. })
    ));

    let link = folder.path().join("link");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&directory, &link).unwrap();
    assert!(matches!(
        Cache::open(&link, [0; 32]),
        Err(CacheError::NotOurs { .. })
    ));
}

#[test]
fn the_error_says_why_a_directory_cannot_be_made() {
    let kind = |path: &Path| match Cache::open(path, [0; 32]) {
        Err(CacheError::Io { source, .. }) => source.kind(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    };
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/compiled");
    assert_eq!(kind(&missing), ErrorKind::NotFound);
    // The kernel makes the directories there, and denies it to everyone else.
    assert_ne!(kind(Path::new("/sys/compiled")), ErrorKind::NotFound);
}

/// An engine that keeps instances compiles what sets them back too. Others share one entry.
#[test]
fn a_component_is_compiled_once_as_it_is_and_once_to_be_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("compiled");
    let guest = component("guest-misbehaving");
    let on_demand = || Runtime::new(Allocation::OnDemand);
    let half = || Runtime::with_native_stack(Allocation::OnDemand, MAX_STACK_BYTES / 2);
    let pooling = || Runtime::new(Allocation::Pooling { instances: 2 });
    // The second three find every entry.
    for (runtime, entries) in [
        (on_demand(), 1),
        (half(), 1),
        (pooling(), 2),
        (on_demand(), 2),
        (half(), 2),
        (pooling(), 2),
    ] {
        let cache = Cache::open(&directory, [1; 32]).unwrap();
        let runtime = runtime.unwrap().with_cache(cache);
        let limits = Limits::new(200_000_000, 16 << 20);
        values(&runtime.admit(&guest, limits).unwrap());
        assert_eq!(fs::read_dir(&directory).unwrap().count(), entries);
    }
}
