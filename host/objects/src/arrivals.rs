//! Files that arrived in an object store, and their copies in a folder.

use crate::transfer::{Transfer, new_runtime};
use crate::{BucketError, Location};
use domesday_package::{parent_directory, sync_directory};
use domesday_registers::Progress;
use futures_util::TryStreamExt;
use object_store::ObjectMeta;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

/// The time limit of an operation without content.
const LIMIT: Duration = Duration::from_secs(60);

/// A location in an object store where files arrive.
pub struct Arrivals {
    transfer: Transfer,
    runtime: Runtime,
}

impl Arrivals {
    /// Opens the store at a location; it sends no request yet.
    ///
    /// # Errors
    /// The client cannot be made, or the runtime cannot be started.
    pub fn open(location: Location) -> Result<Arrivals, BucketError> {
        Ok(Arrivals {
            transfer: Transfer::open(location, LIMIT)?,
            runtime: new_runtime()?,
        })
    }

    /// Copies files into a folder that it does not have with the same size and time of change.
    /// Returns their paths. Files of the folder that are not in the store stay. Markers of folders
    /// and files that were removed meanwhile are left out. `progress` receives the name of the
    /// file, the bytes fetched and the bytes in all.
    ///
    /// # Errors
    /// The store cannot be read, or a file cannot be written. Files before it stay.
    pub fn fetch(
        &self,
        folder: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<PathBuf>, BucketError> {
        let listing = self.transfer.store.list(None).try_collect::<Vec<_>>();
        let listing = self.transfer.within(("listing files", 0), listing);
        let mut objects = self.runtime.block_on(listing)?;
        objects.sort_by(|one, other| one.location.cmp(&other.location));
        let mut fetched = Vec::new();
        for object in &objects {
            let Some(path) = local_path(folder, object) else {
                continue;
            };
            if !is_copy(&path, object) && self.copy(object, &path, progress)? {
                fetched.push(path);
            }
        }
        Ok(fetched)
    }

    /// Copies an object to a file, which appears whole or not at all. Returns false where the
    /// object is gone, or is the marker of a folder, whose name without its slash is no object.
    fn copy(
        &self,
        object: &ObjectMeta,
        path: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<bool, BucketError> {
        let partial = path.with_added_extension("part");
        let failed = |source| BucketError::File {
            file: path.display().to_string(),
            source,
        };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut file = File::create(&partial).map_err(failed)?;
        let name = object.location.to_string();
        let report = &mut |bytes| progress(&name, bytes, object.size);
        let copy = self
            .transfer
            .copy(&object.location, object.size, &mut file, report);
        let copied = self.runtime.block_on(copy)?;
        let Some(bytes) = copied else {
            fs::remove_file(&partial).map_err(failed)?;
            return Ok(false);
        };
        if bytes != object.size {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let finish = || {
            file.set_modified(SystemTime::from(object.last_modified))?;
            file.sync_all()?;
            fs::rename(&partial, path)?;
            sync_directory(parent_directory(path))
        };
        finish().map(|()| true).map_err(failed)
    }
}

/// Returns the path of an object's copy, or none where a part of its name is hidden.
fn local_path(folder: &Path, object: &ObjectMeta) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in object.location.parts() {
        let part = part.as_ref();
        // A part is never empty, and holds no separator of this machine.
        if part.starts_with('.') || part.contains(std::path::is_separator) {
            return None;
        }
        path.push(part);
    }
    (path != folder).then_some(path)
}

/// Reports whether a file is a copy of an object, by its size and the second of its change.
fn is_copy(path: &Path, object: &ObjectMeta) -> bool {
    let seconds = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        since.map(|since| since.as_secs()).ok()
    };
    let Ok(found) = fs::metadata(path) else {
        return false;
    };
    let changed = found.modified().ok().and_then(seconds);
    found.len() == object.size && changed == seconds(object.last_modified.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[PathBuf]) -> Vec<&str> {
        let names = paths.iter().filter_map(|path| path.file_name()?.to_str());
        names.collect()
    }

    #[test]
    fn files_come_once_and_again_where_they_changed() {
        let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(there.path().join("rates")).unwrap();
        fs::write(there.path().join("a.csv"), "one").unwrap();
        fs::write(there.path().join("rates/b.csv"), "two").unwrap();
        fs::write(there.path().join(".hidden"), "").unwrap();
        let location = Location::parse(&format!("file://{}", there.path().display())).unwrap();
        let arrivals = Arrivals::open(location).unwrap();
        let fetch = || arrivals.fetch(here.path(), &mut |_, _, _| ()).unwrap();
        assert_eq!(names(&fetch()), ["a.csv", "b.csv"]);
        assert_eq!(fs::read(here.path().join("rates/b.csv")).unwrap(), b"two");
        assert!(fetch().is_empty());
        fs::write(there.path().join("a.csv"), "three").unwrap();
        assert_eq!(names(&fetch()), ["a.csv"]);
        assert_eq!(fs::read(here.path().join("a.csv")).unwrap(), b"three");
        assert!(!here.path().join("a.csv.part").exists());
    }

    #[test]
    fn a_marker_of_a_folder_leaves_no_file() {
        let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let location = Location::parse(&format!("file://{}", there.path().display())).unwrap();
        let arrivals = Arrivals::open(location).unwrap();
        // A listing has `rates/`, and the client drops the slash.
        let marker = ObjectMeta {
            location: "rates/".into(),
            last_modified: SystemTime::UNIX_EPOCH.into(),
            size: 0,
            e_tag: None,
            version: None,
        };
        let path = here.path().join("rates");
        let copied = arrivals.copy(&marker, &path, &mut |_, _, _| ());
        assert!(!copied.unwrap());
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
    }
}
