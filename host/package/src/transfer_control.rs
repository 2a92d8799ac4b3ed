//! The switch of a transfer that runs on another thread, and the count of its bytes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use crate::{FileFacts, Sha256Digest, Verification};

/// The switch of a transfer, and the bytes that it has read or written so far.
///
/// The thread that waits for the transfer reads the count and stops it. A transfer that is stopped
/// ends at its next piece, and removes what it has staged. Where it is stuck before that, the
/// waiting thread removes it.
#[derive(Debug, Default)]
pub struct TransferControl {
    stopped: AtomicBool,
    bytes: AtomicU64,
    /// The staging directories of a package, in a folder that may be stuck. The last one is in the
    /// one before, where the package replaces another.
    staged: Mutex<Vec<PathBuf>>,
}

impl TransferControl {
    /// Stops the transfer for good.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the transfer was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns the bytes that were counted so far. A file counts each time that it is read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Notes a staging directory of the transfer.
    pub(crate) fn note_staging(&self, staging: &Path) {
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        staged.push(staging.to_owned());
    }

    /// Forgets the staging directory that was noted last, which is whole and is renamed next.
    ///
    /// # Errors
    /// The transfer was stopped, and the directory may be removed already.
    pub(crate) fn release_staging(&self) -> io::Result<()> {
        // With the lock, so that nothing of a package in place is removed. Not over the rename,
        // which may be stuck.
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        staged.pop();
        Ok(())
    }

    /// Stops the transfer and removes its staging directories, if it still has any. The transfer
    /// fails then, where it goes on at all.
    pub fn abandon(&self) {
        self.stop();
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        for staged in &*staged {
            // The next start removes what stays.
            let _removed = fs::remove_dir_all(staged);
        }
    }

    /// Counts the bytes of a piece.
    ///
    /// # Errors
    /// The transfer was stopped.
    pub fn count(&self, bytes: usize) -> io::Result<()> {
        self.check()?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        match self.is_stopped() {
            true => Err(io::Error::other("the transfer was stopped")),
            false => Ok(()),
        }
    }
}

/// Hashes every byte, counts it, and ends once the transfer is stopped.
impl Verification for TransferControl {
    fn is_proved(&self, _facts: &FileFacts, _digest: &Sha256Digest) -> bool {
        false
    }

    fn record_proof(&self, _facts: &FileFacts, _digest: &Sha256Digest) {}

    fn pace(&self, bytes: usize) -> io::Result<()> {
        self.count(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_until_the_transfer_is_stopped() {
        let control = TransferControl::default();
        control.count(3).unwrap();
        control.pace(4).unwrap();
        assert!(!control.is_stopped());
        control.stop();
        assert!(control.is_stopped());
        let stopped = control.pace(5).unwrap_err().to_string();
        assert_eq!(stopped, "the transfer was stopped");
        assert_eq!(control.bytes(), 7);
    }

    #[test]
    fn an_abandoned_transfer_leaves_no_staging() {
        let folder = tempfile::tempdir().unwrap();
        let control = TransferControl::default();
        control.abandon();
        let staging = folder.path().join(".s-1-Ab12Cd");
        fs::create_dir(&staging).unwrap();
        fs::write(staging.join("part"), "half").unwrap();
        control.note_staging(&staging);
        control.abandon();
        assert!(control.is_stopped() && !staging.exists());
        control.release_staging().unwrap_err();
    }

    #[test]
    fn a_package_that_is_whole_in_another_staging_directory_is_abandoned_with_that() {
        let folder = tempfile::tempdir().unwrap();
        let control = TransferControl::default();
        let outer = folder.path().join(".s-1-Ab12Cd");
        let inner = outer.join(".s-1-Ef34Gh");
        fs::create_dir_all(&inner).unwrap();
        control.note_staging(&outer);
        control.note_staging(&inner);
        control.release_staging().unwrap();
        fs::rename(&inner, outer.join("s-1")).unwrap();
        control.abandon();
        assert!(!outer.exists());
        control.release_staging().unwrap_err();
    }

    #[test]
    fn an_abandoned_transfer_removes_nothing_that_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let control = TransferControl::default();
        control.note_staging(folder.path());
        control.release_staging().unwrap();
        control.abandon();
        assert!(folder.path().exists());
    }
}
