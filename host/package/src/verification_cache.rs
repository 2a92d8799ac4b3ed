//! The verification cache: a restart skips re-hashing files that this host has verified.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::digest::decode_hex;
use crate::durable::parent_directory;
use crate::error::PackageErrorKind;
use crate::{FileFacts, PackageError, Sha256Digest, Verification};

/// Keeps the codes of records apart from every other use of the same secret.
const DOMAIN: &[u8] = b"domesday-file-record-v1\0";

/// Minimum age of a file's last change when it is recorded, seconds. A change right after hashing
/// may fall on the same tick of the file system's clock and so go unseen. After two seconds every
/// file system's clock has moved on.
const AT_REST: i64 = 2;

/// One proved file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifiedFile {
    facts: FileFacts,
    sha256: Sha256Digest,
}

/// A file of facts and digests under an HMAC with the host's secret.
///
/// It vouches for a file whose facts are those at which it was hashed. It guards against mishaps
/// and against writers who can neither act as the host nor set the machine's clock. Only reading
/// finds a decaying disk: the host proves the packages again while it serves.
#[derive(Debug)]
pub struct VerificationCache {
    path: PathBuf,
    secret: Secret,
    at_rest_before: AtomicI64,
    entries: Mutex<BTreeMap<(u64, u64), Entry>>,
}

/// A proved file, and whether it was used or proved since the cache was opened.
#[derive(Debug)]
struct Entry {
    file: VerifiedFile,
    used: bool,
}

struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl VerificationCache {
    /// Opens the cache at `path`.
    ///
    /// One that is absent or does not carry the right code vouches for nothing, which costs time
    /// and no safety. `secret` is the host's own, and `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`PackageErrorKind::Io`] if the file is there and cannot be
    /// read.
    pub fn open(path: &Path, secret: [u8; 32], now: i64) -> Result<Self, PackageError> {
        let secret = Secret(secret);
        let saved = match fs::read_to_string(path) {
            Ok(text) => secret.read(&text).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Vec::new(),
            Err(error) => return Err(PackageErrorKind::io(path)(error).of(parent_directory(path))),
        };
        Ok(VerificationCache {
            path: path.to_owned(),
            secret,
            at_rest_before: AtomicI64::new(now.saturating_sub(AT_REST)),
            entries: Mutex::new(saved.into_iter().map(entry_of).collect()),
        })
    }

    /// Sets the time, in seconds since 1970. Files that changed two seconds before it are at rest.
    pub fn set_now(&self, now: i64) {
        let before = now.saturating_sub(AT_REST);
        self.at_rest_before.store(before, Ordering::Relaxed);
    }

    /// Forgets the files that were neither used nor proved since the cache was opened, such as
    /// those of packages that were removed.
    pub fn forget_unused(&self) {
        self.lock().retain(|_, entry| entry.used);
    }

    /// Writes the entries.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self) -> Result<(), PackageError> {
        let attempt = || {
            let entries = self.lock();
            let files: Vec<&VerifiedFile> = entries.values().map(|entry| &entry.file).collect();
            let json = serde_json::to_string(&files)
                .map_err(|error| PackageErrorKind::io(&self.path)(error.into()))?;
            drop(entries);
            let text = format!("{}\n{json}\n", hex::encode(self.secret.code(&json)));
            let directory = parent_directory(&self.path);
            let mut file = tempfile::Builder::new()
                .permissions(Permissions::from_mode(0o600))
                .tempfile_in(directory)
                .map_err(PackageErrorKind::io(directory))?;
            // Not made durable: a cache that a crash takes away is made again.
            file.write_all(text.as_bytes())
                .map_err(PackageErrorKind::io(file.path()))?;
            file.persist(&self.path)
                .map_err(|error| PackageErrorKind::io(&self.path)(error.error))?;
            Ok(())
        };
        attempt().map_err(|error: PackageErrorKind| error.of(parent_directory(&self.path)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(u64, u64), Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a saved file by its place on the disk.
fn entry_of(file: VerifiedFile) -> ((u64, u64), Entry) {
    let place = (file.facts.device, file.facts.inode);
    (place, Entry { file, used: false })
}

impl Secret {
    fn mac(&self, json: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(DOMAIN);
        mac.update(json.as_bytes());
        Some(mac)
    }

    fn code(&self, json: &str) -> Vec<u8> {
        self.mac(json)
            .map(|mac| mac.finalize().into_bytes().to_vec())
            .unwrap_or_default()
    }

    /// Reads the files of a cache that carries the right code.
    fn read(&self, text: &str) -> Option<Vec<VerifiedFile>> {
        let (code, json) = text.strip_suffix('\n')?.split_once('\n')?;
        let code: [u8; 32] = decode_hex(code)?;
        self.mac(json)?.verify_slice(&code).ok()?;
        serde_json::from_str(json).ok()
    }
}

impl Verification for VerificationCache {
    fn is_proved(&self, facts: &FileFacts, digest: &Sha256Digest) -> bool {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&(facts.device, facts.inode)) else {
            return false;
        };
        let known = entry.file.facts == *facts && entry.file.sha256 == *digest;
        entry.used |= known;
        known
    }

    fn record_damage(&self, facts: &FileFacts) {
        self.lock().remove(&(facts.device, facts.inode));
    }

    fn record_proof(&self, facts: &FileFacts, digest: &Sha256Digest) {
        if facts.changed.0 < self.at_rest_before.load(Ordering::Relaxed) {
            let file = VerifiedFile {
                facts: *facts,
                sha256: *digest,
            };
            let (place, entry) = entry_of(file);
            self.lock().insert(
                place,
                Entry {
                    used: true,
                    ..entry
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn facts(inode: u64, changed: i64) -> FileFacts {
        FileFacts {
            device: 1,
            inode,
            bytes: 3,
            modified: (changed, 0),
            changed: (changed, 0),
        }
    }

    #[test]
    fn a_record_vouches_for_the_very_state_it_saw() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("files");
        let digest = Sha256Digest::of(b"abc");
        let (old, fresh) = (facts(1, NOW - 10), facts(2, NOW - 2));
        let first = VerificationCache::open(&path, [1; 32], NOW).unwrap();
        assert!(!first.is_proved(&old, &digest));
        first.record_proof(&old, &digest);
        first.record_proof(&fresh, &digest);
        first.save().unwrap();

        let second = VerificationCache::open(&path, [1; 32], NOW).unwrap();
        assert!(second.is_proved(&old, &digest));
        assert!(!second.is_proved(&fresh, &digest), "it was not at rest");
        assert!(!second.is_proved(&old, &Sha256Digest::of(b"abd")));
        assert!(!second.is_proved(&facts(3, NOW - 10), &digest));
        let mut touched = old;
        touched.changed.1 = 1;
        assert!(!second.is_proved(&touched, &digest));

        // Files that were not used stay in the record until they are forgotten.
        let reopen = || VerificationCache::open(&path, [1; 32], NOW).unwrap();
        reopen().save().unwrap();
        second.forget_unused();
        second.save().unwrap();
        assert!(reopen().is_proved(&old, &digest));
        let third = reopen();
        third.forget_unused();
        third.save().unwrap();
        assert!(!reopen().is_proved(&old, &digest));
    }

    /// Only reading finds a disk that decays: the facts of the file stay as they were.
    #[test]
    fn a_record_vouches_for_no_file_that_was_found_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("files");
        let (old, digest) = (facts(1, NOW - 10), Sha256Digest::of(b"abc"));
        let open = || VerificationCache::open(&path, [1; 32], NOW).unwrap();
        let record = open();
        record.record_proof(&old, &digest);
        record.record_damage(&old);
        assert!(!record.is_proved(&old, &digest));
        record.save().unwrap();
        assert!(!open().is_proved(&old, &digest));
    }

    #[test]
    fn a_file_that_came_later_is_recorded_once_it_is_at_rest() {
        let dir = tempfile::tempdir().unwrap();
        let (later, digest) = (facts(1, NOW + 10), Sha256Digest::of(b"abc"));
        let cache = VerificationCache::open(&dir.path().join("files"), [1; 32], NOW).unwrap();
        cache.record_proof(&later, &digest);
        assert!(!cache.is_proved(&later, &digest));
        cache.set_now(NOW + 13);
        cache.record_proof(&later, &digest);
        assert!(cache.is_proved(&later, &digest));
    }

    #[test]
    fn a_record_of_another_hand_vouches_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("files");
        let (old, digest) = (facts(1, NOW - 10), Sha256Digest::of(b"abc"));
        let record = VerificationCache::open(&path, [1; 32], NOW).unwrap();
        record.record_proof(&old, &digest);
        record.save().unwrap();
        let is_proved = |secret| {
            let record = VerificationCache::open(&path, secret, NOW).unwrap();
            record.is_proved(&old, &digest)
        };
        assert!(is_proved([1; 32]));
        assert!(!is_proved([2; 32]));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"bytes\":3", "\"bytes\":4")).unwrap();
        assert!(!is_proved([1; 32]));
        fs::write(&path, [0xff, b'\n']).unwrap();
        assert!(!is_proved([1; 32]));
    }

    #[test]
    fn a_cache_that_cannot_be_read_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let error = VerificationCache::open(dir.path(), [1; 32], NOW).unwrap_err();
        assert!(matches!(error.kind, PackageErrorKind::Io { .. }));
    }

    #[test]
    fn a_cache_does_not_print_its_secret() {
        let dir = tempfile::tempdir().unwrap();
        let cache = VerificationCache::open(&dir.path().join("files"), [1; 32], NOW).unwrap();
        let printed = format!("{cache:?}");
        assert!(printed.contains("secret: Secret(redacted)"), "{printed}");
    }
}
