//! The source of the state's bytes: its file and the log of units.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{Builder, Database, DatabaseError};

use super::path_files::{PathFiles, log_path};
use super::state_files::{StateFiles, Storage};
use crate::{PathMoved, StateError};

/// Memory for redb's pages, bytes. Reads while serving come from the directory.
pub(super) const CACHE: usize = 16 << 20;

/// Longest time for which units stand in the log alone. It bounds the units that a copy of the file
/// without its log lacks.
const TAKE_OVER_AFTER: Duration = Duration::from_secs(1);

/// The files of a state, and how it uses them.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// Longest time for which units stand in the log alone.
    pub(super) take_over_after: Duration,
    files: Box<dyn StateFiles>,
}

impl Source {
    /// Returns the source of a file, and of the log beside it.
    pub(super) fn new(path: &Path) -> Self {
        Source::of(path, PathFiles::new(path))
    }

    /// Returns the source of these files, which errors name by the path of the state's file.
    pub(super) fn of(path: &Path, files: impl StateFiles + 'static) -> Self {
        Source {
            path: path.to_owned(),
            take_over_after: TAKE_OVER_AFTER,
            files: Box::new(files),
        }
    }

    /// Returns the path of the state's file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the log of units.
    pub(super) fn log_path(&self) -> PathBuf {
        log_path(&self.path)
    }

    /// Checks that the paths still lead to the folder and the files that are open.
    pub(super) fn check(&self) -> Result<(), PathMoved> {
        self.files.check()
    }

    /// Drops the page cache of the files after a failed sync.
    pub(super) fn drop_page_cache(&self) -> Result<(), StateError> {
        self.files.drop_page_cache()
    }

    /// Opens the state's file, and creates it where it is missing.
    pub(super) fn database(&self) -> Result<Database, DatabaseError> {
        self.files.open_database(&mut builder())
    }

    /// Opens the state's file for reading while it cannot be written.
    pub(super) fn read_only_database(&self) -> Result<Database, StateError> {
        self.files.open_database_read_only(&mut builder())
    }

    /// Opens the log of units, and creates it where it is missing.
    pub(super) fn log(&self) -> io::Result<Storage> {
        self.files.open_log()
    }

    /// Opens the log of units for reading alone, or returns none where it is missing.
    pub(super) fn read_only_log(&self) -> io::Result<Option<Storage>> {
        self.files.open_log_read_only()
    }
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn new_files_are_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        let source = Source::new(&path);
        let log = source.log_path();
        drop(source.database().unwrap());
        drop(source.log().unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&log), 0o600);
    }

    /// A file that failed is closed before it is opened anew. If it is moved in between, nothing is
    /// made or read in its place, and it is found when it is back.
    #[test]
    fn only_the_first_opening_makes_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        let source = Source::new(&path);
        let log = source.log_path();
        drop(source.database().unwrap());
        drop(source.log().unwrap());
        let away = dir.path().join("away");
        for opened in [&path, &log] {
            let opens = || {
                let (written, read) = match *opened == path {
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
            fs::rename(opened, &away).unwrap();
            assert!(!opens());
            assert!(!opened.exists(), "{} was made anew", opened.display());
            fs::copy(&away, opened).unwrap();
            assert!(!opens(), "a copy is another file");
            fs::rename(&away, opened).unwrap();
            assert!(opens());
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
