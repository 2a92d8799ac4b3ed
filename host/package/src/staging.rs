//! Staging directories: a package is built in a hidden directory beside its final place.
//!
//! The next package that is made in the packages folder removes staging directories of processes
//! that ended a day ago. [`remove_abandoned_staging`] removes them at once.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::error::PackageErrorKind;
use crate::files::{READABLE_DIRECTORY, open_to_readers};
use crate::{PackageError, PackageId, make_readable_directory};

/// Age at which an unlocked directory is removed: a packages folder may be on a file system without
/// locks.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);
/// Length of the random part of the name.
const SUFFIX_LENGTH: usize = 6;
/// Attempts to make a directory that another process removes before it is locked.
const ATTEMPTS: usize = 8;

/// A hidden directory beside packages. It becomes a package, or is removed on drop. A lock on it
/// shows that its process lives.
#[derive(Debug)]
pub struct StagingDirectory {
    folder: TempDir,
    _lock: File,
}

impl StagingDirectory {
    /// Makes a directory in a packages folder for the files that the package `id` is made of. The
    /// packages folder is created if needed.
    ///
    /// # Errors
    /// One of the two cannot be made.
    pub fn create(packages_dir: &Path, id: &PackageId) -> Result<StagingDirectory, PackageError> {
        StagingDirectory::new(packages_dir, id)
            .map_err(|error| error.of(&packages_dir.join(id.as_str())))
    }

    /// Creates the packages folder if needed and a directory on it, and removes abandoned ones.
    pub(crate) fn new(
        packages_dir: &Path,
        id: &PackageId,
    ) -> Result<StagingDirectory, PackageErrorKind> {
        make_readable_directory(packages_dir).map_err(PackageErrorKind::io(packages_dir))?;
        let mut attempts = 1;
        let (folder, lock) = loop {
            match make_locked(packages_dir, id).map_err(PackageErrorKind::io(packages_dir))? {
                Some(made) => break made,
                None if attempts == ATTEMPTS => {
                    let gone = io::ErrorKind::NotFound.into();
                    return Err(PackageErrorKind::io(packages_dir)(gone));
                }
                None => attempts += 1,
            }
        };
        // A directory that cannot be removed hinders nothing.
        let _swept = sweep(packages_dir, &lock);
        Ok(StagingDirectory {
            folder,
            _lock: lock,
        })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Records that the directory was renamed, so that drop removes nothing.
    pub(crate) fn keep(self) {
        let _path = self.folder.keep();
    }
}

/// Makes a staging directory and locks it. Returns `None` where another process took it for an
/// abandoned one before it was locked.
fn make_locked(packages_dir: &Path, id: &PackageId) -> io::Result<Option<(TempDir, File)>> {
    // Package ids cannot begin with a dot, so no reader takes it for a package.
    let folder = tempfile::Builder::new()
        .prefix(&format!(".{id}-"))
        .rand_bytes(SUFFIX_LENGTH)
        .permissions(Permissions::from_mode(READABLE_DIRECTORY))
        .tempdir_in(packages_dir)?;
    let lock = match File::open(folder.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    // On a file system without locks, a sweep spares this folder by its age alone.
    if let Err(TryLockError::WouldBlock) = lock.try_lock() {
        return Ok(None);
    }
    let locked = lock.metadata()?.ino();
    if fs::metadata(folder.path()).map_or(true, |there| there.ino() != locked) {
        return Ok(None);
    }
    open_to_readers(&lock, READABLE_DIRECTORY)?;
    Ok(Some((folder, lock)))
}

/// Removes the staging directories in `packages_dir` that no process has locked, whatever their
/// age, and returns how many. On a file system without locks it removes none.
///
/// # Errors
/// The folder cannot be read. One that is absent holds none.
pub fn remove_abandoned_staging(packages_dir: &Path) -> io::Result<usize> {
    let entries = match fs::read_dir(packages_dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut removed = 0;
    for entry in entries {
        let path = entry?.path();
        if !is_staging(&path) {
            continue;
        }
        // The lock is held until the directory is gone, so that its maker notices.
        let Ok(folder) = File::open(&path) else {
            continue;
        };
        if folder.try_lock().is_ok() && fs::remove_dir_all(&path).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes the staging directories on `packages_dir` that no process holds and that are a day older
/// than `own`.
///
/// The age is by the packages folder's own clock.
fn sweep(packages_dir: &Path, own: &File) -> io::Result<()> {
    let now = own.metadata()?.modified()?;
    for entry in fs::read_dir(packages_dir)? {
        let path = entry?.path();
        // In this order: a young one is never locked here, so that its own process gets its lock.
        let abandoned = is_staging(&path) && is_old(&path, now).unwrap_or(false) && !is_held(&path);
        if abandoned {
            // Another process may be removing it at this moment.
            let _removed = fs::remove_dir_all(&path);
        }
    }
    Ok(())
}

/// Returns whether the path is a directory with the name of a staging directory.
fn is_staging(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let parts = name
        .and_then(|name| name.strip_prefix('.'))
        .and_then(|name| name.rsplit_once('-'));
    parts.is_some_and(|(id, chance)| {
        id.parse::<PackageId>().is_ok()
            && chance.len() == SUFFIX_LENGTH
            && chance.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }) && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Returns whether a living process holds the directory. One that cannot be opened counts as held.
fn is_held(path: &Path) -> bool {
    match File::open(path).map(|folder| folder.try_lock()) {
        Ok(Err(TryLockError::WouldBlock)) | Err(_) => true,
        Ok(Ok(()) | Err(TryLockError::Error(_))) => false,
    }
}

/// Returns whether the directory and its files are unchanged for a day before `now`.
fn is_old(path: &Path, now: SystemTime) -> io::Result<bool> {
    let mut newest = fs::symlink_metadata(path)?.modified()?;
    for entry in fs::read_dir(path)? {
        newest = newest.max(entry?.metadata()?.modified()?);
    }
    Ok(now.duration_since(newest).unwrap_or_default() > ABANDONED_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn age(path: &Path) {
        let folder = File::open(path).unwrap();
        let now = folder.metadata().unwrap().modified().unwrap();
        folder.set_modified(now - ABANDONED_AFTER * 2).unwrap();
    }

    fn names(packages_dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(packages_dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn only_staging_of_ended_processes_is_removed_after_a_day() {
        let packages_dir = tempfile::tempdir().unwrap();
        let path = |name: &str| packages_dir.path().join(name);
        for name in [
            ".s-1-Ab12Cd",
            ".s-2-Ab12Cd",
            ".git-Ab12Cd3",
            ".Other-Ab12Cd",
            "s-1-ab12cd",
        ] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("part"), b"half").unwrap();
            let part = File::options()
                .write(true)
                .open(path(name).join("part"))
                .unwrap();
            let now = part.metadata().unwrap().modified().unwrap();
            part.set_modified(now - ABANDONED_AFTER * 2).unwrap();
        }
        for name in names(packages_dir.path()) {
            if name != ".s-2-Ab12Cd" {
                age(&path(&name));
            }
        }
        let id = "s-3".parse().unwrap();
        drop(StagingDirectory::new(packages_dir.path(), &id).unwrap());
        assert_eq!(
            names(packages_dir.path()),
            [".Other-Ab12Cd", ".git-Ab12Cd3", ".s-2-Ab12Cd", "s-1-ab12cd"]
        );
    }

    #[test]
    fn staging_that_no_process_holds_is_removed_at_once_when_asked() {
        let packages_dir = tempfile::tempdir().unwrap();
        let path = |name: &str| packages_dir.path().join(name);
        for name in [".s-1-Ab12Cd", ".s-1.other-0123456789abcdef", "s-1"] {
            fs::create_dir(path(name)).unwrap();
        }
        let id = "s-2".parse().unwrap();
        let held = StagingDirectory::new(packages_dir.path(), &id).unwrap();
        assert_eq!(remove_abandoned_staging(packages_dir.path()).unwrap(), 1);
        assert!(held.path().is_dir());
        drop(held);
        let left = names(packages_dir.path());
        assert_eq!(left, [".s-1.other-0123456789abcdef", "s-1"]);
        assert_eq!(remove_abandoned_staging(&path("none")).unwrap(), 0);
    }

    #[test]
    fn staging_of_a_living_process_stays_at_any_age() {
        let packages_dir = tempfile::tempdir().unwrap();
        let id = "s-1".parse().unwrap();
        let slow = StagingDirectory::new(packages_dir.path(), &id).unwrap();
        age(slow.path());
        drop(StagingDirectory::new(packages_dir.path(), &id).unwrap());
        assert!(slow.path().is_dir());
        drop(slow);
        assert!(names(packages_dir.path()).is_empty());
    }

    #[test]
    fn a_directory_is_old_once_more_than_a_day_has_passed() {
        let folder = tempfile::tempdir().unwrap();
        let changed = fs::metadata(folder.path()).unwrap().modified().unwrap();
        let a_day_later = changed + ABANDONED_AFTER;
        assert!(!is_old(folder.path(), a_day_later).unwrap());
        assert!(is_old(folder.path(), a_day_later + Duration::from_nanos(1)).unwrap());
    }
}
