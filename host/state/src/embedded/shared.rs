//! What the committing thread, the readers and the callers share.

use std::sync::{PoisonError, RwLock};

use redb::Database;

use super::commit::Broken;
use super::memory::Memory;
use crate::StateError;

/// The open file, and what is known of it in memory.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Absent between a failure and the next opening.
    database: RwLock<Option<Database>>,
    pub(super) memory: Memory,
}

impl Shared {
    /// Uses the file, which stays open meanwhile.
    pub(super) fn with_database<T>(
        &self,
        use_it: impl FnOnce(&Database) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        match &*database {
            Some(database) => use_it(database),
            None => Err(Broken::new("it failed and is not open yet").error()),
        }
    }

    /// Waits for its users and closes the file.
    pub(super) fn close(&self) {
        let mut slot = self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *slot = None;
    }

    /// The file from now on.
    pub(super) fn put(&self, database: Database) {
        let mut slot = self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *slot = Some(database);
    }
}
