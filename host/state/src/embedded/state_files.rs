//! The files of a state, wherever their bytes are.

use std::fmt;
use std::io;

use redb::{Builder, Database, DatabaseError, StorageBackend};

use crate::{PathMoved, StateError};

/// The bytes of the log.
pub(super) type Storage = Box<dyn StorageBackend>;

/// The state's file and the log of units, which are opened again after each failure.
pub(super) trait StateFiles: fmt::Debug + Send + Sync {
    /// Checks that what was opened is still what the next opening would find.
    ///
    /// # Errors
    /// [`PathMoved`] where it is not.
    fn check(&self) -> Result<(), PathMoved>;

    /// Drops the page cache after a failed sync.
    ///
    /// # Errors
    /// A file exists and cannot be opened.
    fn drop_page_cache(&self) -> Result<(), StateError>;

    /// Opens the state's file, and creates it where it is missing.
    ///
    /// # Errors
    /// The file cannot be opened, or is not the one that was opened before.
    fn open_database(&self, builder: &mut Builder) -> Result<Database, DatabaseError>;

    /// Opens the state's file for reading while it cannot be written. The database's own writes
    /// stay in memory.
    ///
    /// # Errors
    /// As [`StateFiles::open_database`].
    fn open_database_read_only(&self, builder: &mut Builder) -> Result<Database, StateError>;

    /// Opens the log of units, and creates it where it is missing.
    ///
    /// # Errors
    /// The log cannot be opened, or is not the one that was opened before.
    fn open_log(&self) -> io::Result<Storage>;

    /// Opens the log of units for reading alone, or returns none where it is missing.
    ///
    /// # Errors
    /// As [`StateFiles::open_log`].
    fn open_log_read_only(&self) -> io::Result<Option<Storage>>;
}
