//! The state's file and its usage log at their paths.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use redb::backends::FileBackend;
use redb::{Builder, Database, DatabaseError, StorageError};

use super::error::opening;
use super::read_only_fallback::ReadOnlyFallback;
use super::state_files::{StateFiles, Storage};
use crate::{OpenPath, PathMoved, StateError};

/// The paths of the files, and what they led to at the first opening.
#[derive(Debug)]
pub(super) struct PathFiles {
    path: PathBuf,
    /// The folder, the state's file and the log, as the first opening found or made them.
    folder: OnceLock<OpenPath>,
    database: OnceLock<OpenPath>,
    log: OnceLock<OpenPath>,
}

impl PathFiles {
    /// Returns the file at a path, and the log beside it.
    pub(super) fn new(path: &Path) -> Self {
        PathFiles {
            path: path.to_owned(),
            folder: OnceLock::new(),
            database: OnceLock::new(),
            log: OnceLock::new(),
        }
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
}

impl StateFiles for PathFiles {
    fn check(&self) -> Result<(), PathMoved> {
        [&self.folder, &self.database, &self.log]
            .into_iter()
            .filter_map(OnceLock::get)
            .try_for_each(OpenPath::check)
    }

    /// Drops the page cache. The kernel counts the pages as clean after a failed sync, and a later
    /// sync does not write them.
    fn drop_page_cache(&self) -> Result<(), StateError> {
        let forget = |file: File| {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
                .map_err(|error| opening(io::Error::from(error)))
        };
        // A log that cannot be opened is an error of its later use. The file can be read without
        // it.
        if let Ok(Some(log)) = open_existing(&log_path(&self.path)) {
            forget(log)?;
        }
        match open_existing(&self.path).map_err(opening)? {
            Some(file) => forget(file),
            None => Ok(()),
        }
    }

    fn open_database(&self, builder: &mut Builder) -> Result<Database, DatabaseError> {
        let file = self.open(&self.path, &self.database);
        builder.create_file(file.map_err(StorageError::Io)?)
    }

    fn open_database_read_only(&self, builder: &mut Builder) -> Result<Database, StateError> {
        let file = self.open_read_only(&self.path, &self.database);
        let fallback = ReadOnlyFallback::new(file.map_err(opening)?).map_err(opening)?;
        builder.create_with_backend(fallback).map_err(opening)
    }

    fn open_log(&self) -> io::Result<Storage> {
        let file = self.open(&log_path(&self.path), &self.log)?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }

    fn open_log_read_only(&self) -> io::Result<Option<Storage>> {
        match self.open_read_only(&log_path(&self.path), &self.log) {
            Ok(file) => Ok(Some(Box::new(ReadOnlyFallback::new(file)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the path of the log of units beside a state's file.
pub(super) fn log_path(path: &Path) -> PathBuf {
    path.with_extension("usage")
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
}
