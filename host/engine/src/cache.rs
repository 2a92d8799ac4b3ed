//! Compiled code on disk, so that a restart does not compile again.
//!
//! What is kept is native code, and loading it runs it: whoever can plant an entry owns the
//! process. So the directory must be ours and closed to others, and every entry carries an HMAC
//! under a secret of this host, which is checked before the first byte is looked at. An entry that
//! fails any check is not used; the component is compiled anew.

use crate::admission::{AdmissionError, compile};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use wasmtime::Engine;
use wasmtime::component::Component;

const TAG_BYTES: usize = 32;

/// A directory of compiled components.
pub struct Cache {
    directory: PathBuf,
    secret: [u8; 32],
}

/// The cache's directory cannot be trusted or used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Somebody else could write into it.
    #[error(
        "{path} must be a directory of this user's own with mode 0700, because it holds native code: {problem}"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It could not be made or read.
    #[error("{path}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

impl Cache {
    /// Opens the directory, making it where it is not there yet. `secret` is the host's own and
    /// must be kept from whoever else can write to the disk.
    ///
    /// # Errors
    /// Where the directory is not this user's, or open to others.
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
            return refuse("it is not a directory");
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user");
        }
        if found.mode() & 0o077 != 0 {
            return refuse("others may enter it");
        }
        Ok(Cache {
            directory: directory.to_owned(),
            secret,
        })
    }

    /// The compiled component: from the cache where an entry passes every check, else compiled
    /// and kept. A cache that cannot be written to is no reason not to serve.
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
            tracing::warn!(entry = %path.display(), "a compiled component was kept by another engine; compiling anew");
        }
        let component = compile(engine, source)?;
        let kept = component
            .serialize()
            .map_err(io::Error::other)
            .and_then(|code| self.keep(&path, &code));
        if let Err(error) = kept {
            tracing::warn!(entry = %path.display(), %error, "the compiled component could not be kept");
        }
        Ok(component)
    }

    /// By what was compiled and by which engine under which settings.
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
            tracing::warn!(entry = %path.display(), "a compiled component was not kept by this host; compiling anew");
            return None;
        }
        Some(entry)
    }

    fn keep(&self, path: &Path, code: &[u8]) -> io::Result<()> {
        let Some(mac) = self.mac(path, code) else {
            return Ok(());
        };
        let written = path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&written)?;
        file.write_all(code)?;
        file.write_all(&mac.finalize().into_bytes())?;
        file.sync_all()?;
        fs::rename(&written, path)
    }

    /// Over the entry's name as well, so that one entry cannot stand in for another.
    fn mac(&self, path: &Path, code: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        mac.update(path.file_name()?.as_encoded_bytes());
        mac.update(&[0]);
        mac.update(code);
        Some(mac)
    }
}

#[allow(unsafe_code)]
fn load(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: `deserialize` trusts its bytes to be what `Component::serialize` wrote. These bytes
    // carry an HMAC, under a secret of this host, that only `Cache::keep` makes over exactly that.
    unsafe { Component::deserialize(engine, code).ok() }
}
