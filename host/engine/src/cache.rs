//! A cache of compiled code on disk: a restart does not compile again.
//!
//! An entry is native code, and loading it runs it: anyone who can plant an entry owns the process.
//! The directory must therefore be ours and closed to others. Every entry carries an HMAC under a
//! secret of this host, which is checked before the first byte is used. Where an entry fails any
//! check, the component is compiled again.

use crate::admission_error::AdmissionError;
pub use crate::cache_error::CacheError;
use crate::compile::compile;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::Engine;
use wasmtime::component::Component;

const TAG_BYTES: usize = 32;
/// The longest time that a writer of an entry may take.
const LONGEST_WRITE: Duration = Duration::from_secs(86_400);

/// A directory of compiled components.
pub struct Cache {
    directory: PathBuf,
    secret: [u8; 32],
}

impl Cache {
    /// Opens the directory, and creates a missing one.
    ///
    /// `secret` is the host's own. Nobody else who can write to the disk may know it.
    ///
    /// # Errors
    /// The directory belongs to another user or is open to others.
    pub fn open(directory: &Path, secret: [u8; 32]) -> Result<Cache, CacheError> {
        let io = |source| CacheError::Io {
            path: directory.to_owned(),
            source,
        };
        match fs::DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(io(error)),
            _ => {}
        }
        let found = fs::symlink_metadata(directory).map_err(io)?;
        let refuse = |problem| {
            Err(CacheError::NotOurs {
                path: directory.to_owned(),
                problem,
            })
        };
        if !found.is_dir() {
            return refuse("it is not a folder");
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user");
        }
        if found.mode() & 0o077 != 0 {
            return refuse("others may enter it");
        }
        remove_partial(directory);
        Ok(Cache {
            directory: directory.to_owned(),
            secret,
        })
    }

    /// Returns the compiled component, from the cache where an entry passes every check.
    ///
    /// Otherwise it compiles the component and stores the code. A cache that cannot be written to
    /// does not stop the host from serving.
    pub(crate) fn component(
        &self,
        engine: &Engine,
        source: &[u8],
    ) -> Result<Component, AdmissionError> {
        let path = self.directory.join(self.name(engine, source));
        if let Some(code) = self.fetch(&path) {
            if let Some(component) = load(engine, &code) {
                return Ok(component);
            }
            tracing::warn!(entry = %path.display(), "a compiled component comes from another engine; compiling again");
        }
        let component = compile(engine, source)?;
        let written = component
            .serialize()
            .map_err(io::Error::other)
            .and_then(|code| self.store(&path, &code));
        if let Err(error) = written {
            tracing::warn!(entry = %path.display(), %error, "the compiled component could not be stored");
        }
        Ok(component)
    }

    /// Returns the entry's name, made of the component's digest, the engine and its settings.
    fn name(&self, engine: &Engine, source: &[u8]) -> String {
        struct Fold(Sha256);
        impl Hasher for Fold {
            fn write(&mut self, bytes: &[u8]) {
                self.0.update(bytes);
            }
            fn finish(&self) -> u64 {
                0
            }
        }
        let mut fold = Fold(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut fold);
        format!(
            "{}-{}.cwasm",
            hex::encode(Sha256::digest(source)),
            hex::encode(&fold.0.finalize()[..8])
        )
    }

    fn fetch(&self, path: &Path) -> Option<Vec<u8>> {
        let mut entry = fs::read(path).ok()?;
        let body = entry.len().checked_sub(TAG_BYTES)?;
        let tag = entry.split_off(body);
        if self.mac(path, &entry)?.verify_slice(&tag).is_err() {
            tracing::warn!(entry = %path.display(), "a compiled component was not stored by this host; compiling again");
            return None;
        }
        Some(entry)
    }

    fn store(&self, path: &Path, code: &[u8]) -> io::Result<()> {
        let Some(mac) = self.mac(path, code) else {
            return Ok(());
        };
        let (written, mut file) = create_partial(path)?;
        let write = || {
            file.write_all(code)?;
            file.write_all(&mac.finalize().into_bytes())?;
            file.sync_all()?;
            fs::rename(&written, path)
        };
        let outcome = write();
        if outcome.is_err() {
            let _ = fs::remove_file(&written);
        }
        outcome
    }

    /// Returns the HMAC, over the entry's name as well: one entry cannot stand in for another.
    fn mac(&self, path: &Path, code: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        mac.update(path.file_name()?.as_encoded_bytes());
        mac.update(&[0]);
        mac.update(code);
        Some(mac)
    }
}

/// Removes what writers left that ended amid a write. One that may still be at work keeps its file.
fn remove_partial(directory: &Path) {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    for file in files {
        let is_partial = file.path().extension().is_some_and(|kind| kind == "tmp");
        let written = file.metadata().and_then(|found| found.modified());
        let age = written.ok().and_then(|written| written.elapsed().ok());
        if is_partial && age.is_some_and(|age| age > LONGEST_WRITE) {
            // Another process may remove it at the same time.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Creates a file beside an entry that no other thread or process writes. A process id alone would
/// not do: two containers that share the folder may both have the id 1.
fn create_partial(entry: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = entry.with_extension(format!("{}-{number}.tmp", std::process::id()));
        let mut options = fs::OpenOptions::new();
        match options.write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            // Another container's, or of one that ended amid a write.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[allow(unsafe_code)]
fn load(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: `deserialize` trusts that `Component::serialize` wrote its bytes. These bytes
    // carry an HMAC, under a secret of this host, that only `Cache::store` makes over exactly that.
    unsafe { Component::deserialize(engine, code).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Allocation, configuration};
    use std::collections::BTreeSet;

    #[test]
    fn an_entry_is_named_after_its_component_and_the_settings_of_its_engine() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("compiled"), [1; 32]).unwrap();
        let engine = |is_metered| {
            let mut configuration = configuration(Allocation::OnDemand);
            Engine::new(configuration.consume_fuel(is_metered)).unwrap()
        };
        let (plain, metered) = (engine(false), engine(true));
        let names = [
            cache.name(&plain, b"one"),
            cache.name(&plain, b"two"),
            cache.name(&metered, b"one"),
        ];
        assert_eq!(BTreeSet::from(names.clone()).len(), 3, "{names:?}");
        assert_eq!(cache.name(&engine(true), b"one"), names[2]);
    }

    #[test]
    fn what_a_writer_left_a_day_ago_goes_when_the_cache_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compiled");
        let cache = Cache::open(&path, [1; 32]).unwrap();
        let (old, file) = create_partial(&path.join("a.cwasm")).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - 2 * LONGEST_WRITE).unwrap();
        let (new, _) = create_partial(&path.join("b.cwasm")).unwrap();
        cache.store(&path.join("c.cwasm"), b"code").unwrap();
        Cache::open(&path, [1; 32]).unwrap();
        let left = [&old, &new, &path.join("c.cwasm")].map(|path| path.exists());
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn writers_of_one_entry_do_not_mix_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("compiled"), [1; 32]).unwrap();
        let path = cache.directory.join("entry.cwasm");
        let (first, _) = create_partial(&path).unwrap();
        let (second, _) = create_partial(&path).unwrap();
        assert_ne!(first, second);
        std::thread::scope(|scope| {
            for byte in 0..4 {
                let (cache, path) = (&cache, &path);
                scope.spawn(move || cache.store(path, &vec![byte; 1 << 20]).unwrap());
            }
        });
        let stored = cache.fetch(&path).unwrap();
        assert!(stored.iter().all(|byte| *byte == stored[0]));
        // The two above alone are left.
        assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), 3);
    }

    #[test]
    fn an_entry_that_cannot_take_its_place_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("compiled"), [1; 32]).unwrap();
        let path = cache.directory.join("entry.cwasm");
        fs::create_dir(&path).unwrap();
        assert!(cache.store(&path, b"code").is_err());
        assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), 1);
    }
}
