//! Where the state's file and its log of units are, and how their bytes are reached.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{Database, DatabaseError, StorageBackend, StorageError};

use super::file::opening;
use super::read_only_fallback::ReadOnlyFallback;
use crate::{OpenPath, PathMoved, StateError};

/// Memory for redb's pages, bytes. Reads while serving come from the directory.
const CACHE: usize = 16 << 20;

/// How long units stand in the log alone. It bounds what a copy of the file without its log lacks.
const TAKE_OVER_AFTER: Duration = Duration::from_secs(1);

/// The bytes of the log.
pub(super) type Storage = Box<dyn StorageBackend>;

/// Where the files are, and how they are opened; asked again after each failure.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// How long units stand in the log alone.
    pub(super) take_over_after: Duration,
    /// What the first opening found or made: the folder, the state's file and the log.
    folder: OnceLock<OpenPath>,
    database: OnceLock<OpenPath>,
    log: OnceLock<OpenPath>,
    /// A disk that can fail, in place of both files.
    #[cfg(test)]
    pub(super) disk: Option<super::disk::Disk>,
}

impl Source {
    pub(super) fn new(path: &Path) -> Self {
        Source {
            path: path.to_owned(),
            take_over_after: TAKE_OVER_AFTER,
            folder: OnceLock::new(),
            database: OnceLock::new(),
            log: OnceLock::new(),
            #[cfg(test)]
            disk: None,
        }
    }

    /// Where the state's file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the log of units is.
    pub(super) fn log_path(&self) -> PathBuf {
        self.path.with_extension("usage")
    }

    /// Checks that the paths still lead to the folder and the files that are open.
    pub(super) fn check(&self) -> Result<(), PathMoved> {
        [&self.folder, &self.database, &self.log]
            .into_iter()
            .filter_map(OnceLock::get)
            .try_for_each(OpenPath::check)
    }

    /// Opens a file to be written. The first opening makes it where it is missing. A later one
    /// finds the same file or fails: an empty state must not take the place of one that was moved.
    fn open(&self, path: &Path, place: &OnceLock<OpenPath>) -> io::Result<File> {
        if let Some(place) = place.get() {
            place.check().map_err(io::Error::other)?;
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            place.is(&file).map_err(io::Error::other)?;
            return Ok(file);
        }
        let file = make(path)?;
        let opened = OpenPath::open(path)?;
        opened.is(&file).map_err(io::Error::other)?;
        let folder = OpenPath::open(folder_of(path))?;
        self.folder.get_or_init(|| folder);
        place.get_or_init(|| opened);
        Ok(file)
    }

    /// Opens a file to be read: the one that was opened to be written, where one was.
    fn open_aside(&self, path: &Path, place: &OnceLock<OpenPath>) -> io::Result<File> {
        if let Some(place) = place.get() {
            place.check().map_err(io::Error::other)?;
        }
        File::open(path)
    }

    /// Drops the page cache of the file after a failed sync. The kernel counts its pages as clean
    /// then, and a later sync does not write them.
    pub(super) fn distrust(&self) -> Result<(), StateError> {
        #[cfg(test)]
        if self.disk.is_some() {
            return Ok(());
        }
        let forget = |file: File| {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
                .map_err(|error| opening(io::Error::from(error)))
        };
        // A log that cannot be opened is an error where it is needed; the file can be read without
        // it.
        if let Ok(Some(log)) = existing(&self.log_path()) {
            forget(log)?;
        }
        match existing(&self.path).map_err(opening)? {
            Some(file) => forget(file),
            None => Ok(()),
        }
    }

    /// The state's file, which is made where it is missing.
    pub(super) fn database(&self) -> Result<Database, DatabaseError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return builder.create_with_backend(disk.clone());
        }
        let file = self.open(&self.path, &self.database);
        let file = file.map_err(StorageError::Io)?;
        builder.create_file(file)
    }

    /// The state's file, to be read although it cannot be written: nothing that the database writes
    /// reaches it.
    pub(super) fn database_aside(&self) -> Result<Database, StateError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            let aside = ReadOnlyFallback::new(disk.clone()).map_err(opening)?;
            return builder.create_with_backend(aside).map_err(opening);
        }
        let file = self.open_aside(&self.path, &self.database);
        let file = file.map_err(opening)?;
        let aside = ReadOnlyFallback::new(file).map_err(opening)?;
        builder.create_with_backend(aside).map_err(opening)
    }

    /// The log of units, which is made where it is missing.
    pub(super) fn log(&self) -> io::Result<Storage> {
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return Ok(Box::new(disk.log()));
        }
        let file = self.open(&self.log_path(), &self.log)?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }

    /// The log of units, to be read alone; nothing where it is missing.
    pub(super) fn log_aside(&self) -> io::Result<Option<Storage>> {
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return Ok(Some(Box::new(ReadOnlyFallback::new(disk.log())?)));
        }
        match self.open_aside(&self.log_path(), &self.log) {
            Ok(file) => Ok(Some(Box::new(ReadOnlyFallback::new(file)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn existing(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whoever can read the files could learn who the tenants are, and whoever can write them could
/// make keys: they belong to their owner alone.
fn make(path: &Path) -> io::Result<File> {
    let directory = folder_of(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    // A file is as durable as its name, which an earlier opening may have failed to make so.
    File::open(directory)?.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn new_files_are_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let source = Source::new(&dir.path().join("data/state.redb"));
        drop(source.database().unwrap());
        drop(source.log().unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(source.path()), 0o600);
        assert_eq!(mode(&source.log_path()), 0o600);
        assert_eq!(mode(source.path().parent().unwrap()), 0o700);
    }

    /// A file that failed is closed before it is opened anew. If it is moved in between, nothing is
    /// made or read in its place, and it is found when it is back.
    #[test]
    fn only_the_first_opening_makes_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let source = Source::new(&dir.path().join("state.redb"));
        drop(source.database().unwrap());
        drop(source.log().unwrap());
        let away = dir.path().join("away");
        for path in [source.path().to_owned(), source.log_path()] {
            let opens = || {
                let (written, read) = match path == source.path() {
                    true => (source.database().is_ok(), source.database_aside().is_ok()),
                    false => (source.log().is_ok(), source.log_aside().is_ok()),
                };
                assert_eq!(written, read);
                assert_eq!(written, source.check().is_ok());
                written
            };
            assert!(opens());
            fs::rename(&path, &away).unwrap();
            assert!(!opens());
            assert!(!path.exists(), "{} was made anew", path.display());
            fs::copy(&away, &path).unwrap();
            assert!(!opens(), "a copy is another file");
            fs::rename(&away, &path).unwrap();
            assert!(opens());
        }
    }
}
