//! Where a package is made before it appears: a hidden folder beside its place. What an ended process left of that
//! kind goes when the next package is made on the shelf.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::PackageId;
use crate::error::Fault;

/// How long a folder that nobody holds is left alone: a shelf may lie where locks do not hold.
const LEFT_ALONE: Duration = Duration::from_hours(24);
/// How many letters the system's part of the name has.
const CHANCE: usize = 6;

/// A folder that becomes a package, or goes when it is dropped. A lock on it says that its process lives.
#[derive(Debug)]
pub(crate) struct Sibling {
    folder: TempDir,
    _held: File,
}

impl Sibling {
    /// Makes the shelf where it is missing and a folder on it, and clears away what is left of others.
    pub(crate) fn new(shelf: &Path, id: &PackageId) -> Result<Sibling, Fault> {
        fs::create_dir_all(shelf).map_err(Fault::io(shelf))?;
        // Package ids cannot begin with a dot, so no reader takes the sibling for a package.
        let folder = tempfile::Builder::new()
            .prefix(&format!(".{id}-"))
            .rand_bytes(CHANCE)
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(shelf)
            .map_err(Fault::io(shelf))?;
        let held = File::open(folder.path()).map_err(Fault::io(folder.path()))?;
        // Where the shelf's file system has no locks, its age alone keeps it.
        let _unlocked = held.try_lock();
        // What cannot be cleared away hinders nothing.
        let _left = sweep(shelf, &held);
        Ok(Sibling {
            folder,
            _held: held,
        })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// It has its name now: there is nothing left to clear away under this one.
    pub(crate) fn moved(self) {
        let _moved = self.folder.keep();
    }
}

/// Removes the siblings on `shelf` that are a day older than `made`, by the shelf's own clock, and that nobody holds.
fn sweep(shelf: &Path, made: &File) -> io::Result<()> {
    let now = made.metadata()?.modified()?;
    for entry in fs::read_dir(shelf)? {
        let path = entry?.path();
        // In this order: a young one is never touched, so that its own process gets its lock.
        let gone = is_sibling(&path) && is_old(&path, now).unwrap_or(false) && !is_held(&path);
        if gone {
            // Another may be clearing it away in this moment.
            let _gone = fs::remove_dir_all(&path);
        }
    }
    Ok(())
}

/// Whether it is a folder that is called as siblings are.
fn is_sibling(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let parts = name
        .and_then(|name| name.strip_prefix('.'))
        .and_then(|name| name.rsplit_once('-'));
    parts.is_some_and(|(id, chance)| {
        id.parse::<PackageId>().is_ok()
            && chance.len() == CHANCE
            && chance.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }) && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether a living process holds it. What cannot be asked counts as held where it cannot even be opened.
fn is_held(path: &Path) -> bool {
    match File::open(path).map(|folder| folder.try_lock()) {
        Ok(Err(TryLockError::WouldBlock)) | Err(_) => true,
        Ok(Ok(()) | Err(TryLockError::Error(_))) => false,
    }
}

/// Whether nothing was made in it, and none of its files written, for a day before `now`.
fn is_old(path: &Path, now: SystemTime) -> io::Result<bool> {
    let mut newest = fs::symlink_metadata(path)?.modified()?;
    for entry in fs::read_dir(path)? {
        newest = newest.max(entry?.metadata()?.modified()?);
    }
    Ok(now.duration_since(newest).unwrap_or_default() > LEFT_ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(path: &Path) {
        let folder = File::open(path).unwrap();
        let now = folder.metadata().unwrap().modified().unwrap();
        folder.set_modified(now - LEFT_ALONE * 2).unwrap();
    }

    fn names(shelf: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(shelf)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_an_ended_process_left_goes_after_a_day_and_nothing_else() {
        let shelf = tempfile::tempdir().unwrap();
        let path = |name: &str| shelf.path().join(name);
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
            part.set_modified(now - LEFT_ALONE * 2).unwrap();
        }
        for name in names(shelf.path()) {
            if name != ".s-2-Ab12Cd" {
                aged(&path(&name));
            }
        }
        let id = "s-3".parse().unwrap();
        drop(Sibling::new(shelf.path(), &id).unwrap());
        assert_eq!(
            names(shelf.path()),
            [".Other-Ab12Cd", ".git-Ab12Cd3", ".s-2-Ab12Cd", "s-1-ab12cd"]
        );
    }

    #[test]
    fn what_a_living_process_makes_stays_however_long_it_takes() {
        let shelf = tempfile::tempdir().unwrap();
        let id = "s-1".parse().unwrap();
        let slow = Sibling::new(shelf.path(), &id).unwrap();
        aged(slow.path());
        drop(Sibling::new(shelf.path(), &id).unwrap());
        assert!(slow.path().is_dir());
        drop(slow);
        assert!(names(shelf.path()).is_empty());
    }
}
