//! The paths of the state's file and of its usage log, and the access to their bytes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{Database, DatabaseError, StorageBackend, StorageError};

#[cfg(test)]
use super::disk::Disk;
use super::error::opening;
use super::read_only_fallback::ReadOnlyFallback;
use crate::{OpenPath, PathMoved, StateError};

/// Memory for redb's pages, bytes. Reads while serving come from the directory.
pub(super) const CACHE: usize = 16 << 20;

/// Longest time for which units stand in the log alone. It bounds the units that a copy of the file
/// without its log lacks.
const TAKE_OVER_AFTER: Duration = Duration::from_secs(1);

/// The bytes of the log.
pub(super) type Storage = Box<dyn StorageBackend>;

/// The paths of the files and the way to open them; used again after each failure.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// Longest time for which units stand in the log alone.
    pub(super) take_over_after: Duration,
    /// The folder, the state's file and the log, as the first opening found or made them.
    folder: OnceLock<OpenPath>,
    database: OnceLock<OpenPath>,
    log: OnceLock<OpenPath>,
    /// A disk that can fail, in place of both files.
    #[cfg(test)]
    pub(super) disk: Option<Disk>,
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

    /// Returns the source of a simulated disk. Its log is not taken over by time, which a test
    /// could not foresee.
    #[cfg(test)]
    pub(super) fn from_simulated_disk(disk: &Disk) -> Self {
        Source {
            take_over_after: Duration::from_secs(3_600),
            disk: Some(disk.clone()),
            ..Source::new(Path::new("simulated"))
        }
    }

    /// Returns the path of the state's file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the log of units.
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

    /// Opens a file for writing. The first opening creates it where it is missing. A later one
    /// finds the same file or fails: an empty state must not take the place of one that was moved.
    fn open(&self, path: &Path, open_path: &OnceLock<OpenPath>) -> io::Result<File> {
        if let Some(open_path) = open_path.get() {
            open_path.check().map_err(io::Error::other)?;
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            open_path.is(&file).map_err(io::Error::other)?;
            return Ok(file);
        }
        let file = open_private(path)?;
        let opened = OpenPath::open(path)?;
        opened.is(&file).map_err(io::Error::other)?;
        let folder = OpenPath::open(folder_of(path))?;
        self.folder.get_or_init(|| folder);
        open_path.get_or_init(|| opened);
        Ok(file)
    }

    /// Opens a file for reading. If it was opened for writing before, the path must still lead to
    /// it.
    fn open_read_only(&self, path: &Path, open_path: &OnceLock<OpenPath>) -> io::Result<File> {
        if let Some(open_path) = open_path.get() {
            open_path.check().map_err(io::Error::other)?;
        }
        File::open(path)
    }

    /// Drops the page cache of the file after a failed sync. The kernel counts its pages as clean
    /// then, and a later sync does not write them.
    pub(super) fn drop_page_cache(&self) -> Result<(), StateError> {
        #[cfg(test)]
        if self.disk.is_some() {
            return Ok(());
        }
        let forget = |file: File| {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
                .map_err(|error| opening(io::Error::from(error)))
        };
        // A log that cannot be opened is an error of its later use. The file can be read without
        // it.
        if let Ok(Some(log)) = open_existing(&self.log_path()) {
            forget(log)?;
        }
        match open_existing(&self.path).map_err(opening)? {
            Some(file) => forget(file),
            None => Ok(()),
        }
    }

    /// Opens the state's file, and creates it where it is missing.
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

    /// Opens the state's file for reading while it cannot be written. The database's own writes
    /// stay in memory.
    pub(super) fn read_only_database(&self) -> Result<Database, StateError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            let fallback = ReadOnlyFallback::new(disk.clone()).map_err(opening)?;
            return builder.create_with_backend(fallback).map_err(opening);
        }
        let file = self.open_read_only(&self.path, &self.database);
        let file = file.map_err(opening)?;
        let fallback = ReadOnlyFallback::new(file).map_err(opening)?;
        builder.create_with_backend(fallback).map_err(opening)
    }

    /// Opens the log of units, and creates it where it is missing.
    pub(super) fn log(&self) -> io::Result<Storage> {
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return Ok(Box::new(disk.log()));
        }
        let file = self.open(&self.log_path(), &self.log)?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }

    /// Opens the log of units for reading alone, or returns none where it is missing.
    pub(super) fn read_only_log(&self) -> io::Result<Option<Storage>> {
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return Ok(Some(Box::new(ReadOnlyFallback::new(disk.log())?)));
        }
        match self.open_read_only(&self.log_path(), &self.log) {
            Ok(file) => Ok(Some(Box::new(ReadOnlyFallback::new(file)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn open_existing(path: &Path) -> io::Result<Option<File>> {
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

/// Opens a file, and creates it for its owner alone where it is missing. A reader of the files
/// could learn who the tenants are, and a writer could make keys.
fn open_private(path: &Path) -> io::Result<File> {
    let directory = folder_of(path);
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
        let source = Source::new(&dir.path().join("state.redb"));
        drop(source.database().unwrap());
        drop(source.log().unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(source.path()), 0o600);
        assert_eq!(mode(&source.log_path()), 0o600);
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
                    true => (
                        source.database().is_ok(),
                        source.read_only_database().is_ok(),
                    ),
                    false => (source.log().is_ok(), source.read_only_log().is_ok()),
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

    #[test]
    fn the_folder_of_a_bare_name_is_the_working_directory() {
        for (path, folder) in [
            ("state.redb", "."),
            ("data/state.redb", "data"),
            ("/state.redb", "/"),
        ] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder));
        }
    }

    #[test]
    fn a_missing_file_has_no_page_cache_and_one_that_cannot_be_opened_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let drop_page_cache = |path: &str| Source::new(&dir.path().join(path)).drop_page_cache();
        drop_page_cache("state.redb").unwrap();
        let error = drop_page_cache("file/state.redb").unwrap_err();
        assert!(
            matches!(
                error,
                StateError::Storage {
                    doing: "opened",
                    ..
                }
            ),
            "{error}"
        );
    }
}
