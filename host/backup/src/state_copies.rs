//! Copies of the state on their way through the data folder.
//!
//! A copy is made there and moved into the backup. A backup that is killed leaves its copy, and a
//! server finishes one whose client is gone. The next backup removes both, and so does a start.

use crate::error::BackupError;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The begin and the end of a copy's name.
const PREFIX: &str = "state-copy-";
const SUFFIX: &str = ".redb";

/// The lock of a data folder's copies. One backup has it at a time.
pub(super) struct CopyLock {
    data: PathBuf,
    /// The open folder holds the lock, which ends with the process at the latest.
    _folder: File,
    /// False on a file system without locks, where nobody tells a killed backup from one that runs.
    is_held: bool,
}

impl CopyLock {
    /// Takes the lock of the folder itself, so that no file is made where nothing can be backed up.
    ///
    /// # Errors
    /// [`BackupError::Busy`] if another backup or a restore has it, [`BackupError::Io`] if the
    /// folder cannot be opened.
    pub(super) fn take(data: &Path) -> Result<CopyLock, BackupError> {
        let folder = File::open(data).map_err(BackupError::io(data))?;
        let is_held = match folder.try_lock() {
            Ok(()) => true,
            Err(TryLockError::Error(_)) => false,
            Err(TryLockError::WouldBlock) => {
                return Err(BackupError::Busy {
                    data: data.to_owned(),
                });
            }
        };
        Ok(CopyLock {
            data: data.to_owned(),
            _folder: folder,
            is_held,
        })
    }

    /// Removes the copies of backups that were killed, and returns their number. A server that
    /// still writes to one frees its room when it is done.
    ///
    /// # Errors
    /// [`BackupError::Io`] if the folder cannot be read or a file cannot be removed.
    pub(super) fn remove_abandoned(&self) -> Result<usize, BackupError> {
        let mut removed = 0;
        if !self.is_held {
            return Ok(removed);
        }
        for path in list_copies(&self.data)? {
            match fs::remove_file(&path) {
                Ok(()) => removed += 1,
                // The server removed a copy that failed.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(BackupError::io(&path)(error)),
            }
        }
        Ok(removed)
    }

    /// Returns the place of a new copy. The name is random, since the processes of two containers
    /// may share an id.
    pub(super) fn new_copy(&self, number: [u8; 8]) -> StateFile {
        StateFile(self.data.join(copy_name(number)))
    }
}

/// The copy of the state in the data folder. Dropping it removes what was not moved.
pub(super) struct StateFile(pub(super) PathBuf);

impl Drop for StateFile {
    fn drop(&mut self) {
        let path: &Path = &self.0;
        let _ = fs::remove_file(path);
    }
}

/// Returns the copies in a data folder.
fn list_copies(data: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let mut copies = Vec::new();
    for entry in fs::read_dir(data).map_err(BackupError::io(data))? {
        let entry = entry.map_err(BackupError::io(data))?;
        let is_named = is_copy(&entry.file_name().to_string_lossy());
        // A copy may be gone meanwhile.
        if is_named && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            copies.push(entry.path());
        }
    }
    Ok(copies)
}

fn copy_name(number: [u8; 8]) -> String {
    format!("{PREFIX}{}{SUFFIX}", hex::encode(number))
}

/// Reports whether a backup gives a copy this name. An operator's copy has another.
fn is_copy(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX);
    let digits = digits.and_then(|rest| rest.strip_suffix(SUFFIX));
    let mut number = [0; 8];
    let is_number = digits.is_some_and(|digits| hex::decode_to_slice(digits, &mut number).is_ok());
    is_number && copy_name(number) == name
}

/// Removes the copies of the state that killed backups left in a data folder, and returns their
/// number. While a backup runs it removes none.
///
/// # Errors
/// [`BackupError::Io`] if the folder cannot be read or a file cannot be removed.
pub fn remove_abandoned_copies(data: &Path) -> Result<usize, BackupError> {
    if list_copies(data)?.is_empty() {
        return Ok(0);
    }
    match CopyLock::take(data) {
        Ok(lock) => lock.remove_abandoned(),
        Err(BackupError::Busy { .. }) => Ok(0),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_killed_backups_are_removed_unless_a_backup_runs() {
        let data = tempfile::tempdir().unwrap();
        let path = |name: &str| data.path().join(name);
        let abandoned = path("state-copy-0011223344556677.redb");
        let others = [
            "state.redb",
            "state-copy-1.txt",
            "state-copy-before-upgrade.redb",
            "state-copy-00112233.redb",
            "state-copy-0011223344556677-1.redb",
            "state-copy-0011223344ABCDEF.redb",
        ]
        .map(path);
        for file in [&abandoned].into_iter().chain(&others) {
            fs::write(file, "bytes").unwrap();
        }
        let folder = path("state-copy-8899aabbccddeeff.redb");
        fs::create_dir(&folder).unwrap();
        let lock = CopyLock::take(data.path()).unwrap();
        assert_eq!(remove_abandoned_copies(data.path()).unwrap(), 0);
        let refused = CopyLock::take(data.path()).err().unwrap();
        assert!(refused.to_string().contains("another backup"), "{refused}");
        assert!(abandoned.exists());
        drop(lock);
        assert_eq!(remove_abandoned_copies(data.path()).unwrap(), 1);
        assert!(!abandoned.exists() && folder.exists());
        assert!(others.iter().all(|file| file.exists()));
        // A backup finds its own copy.
        let lock = CopyLock::take(data.path()).unwrap();
        let copy = lock.new_copy([0xab; 8]);
        fs::write(&copy.0, "bytes").unwrap();
        let found = list_copies(data.path()).unwrap();
        assert_eq!(found, std::slice::from_ref(&copy.0));
    }
}
