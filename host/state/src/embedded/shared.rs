//! What the committing thread, the readers and the callers share.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use redb::Database;

use super::commit::Broken;
use super::log::Counts;
use super::memory::Memory;
use crate::StateError;

/// The file, and the counts that are durable in the log above it.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) database: Database,
    logged: RwLock<Counts>,
}

impl Opened {
    pub(super) fn new(database: Database, logged: Counts) -> Self {
        Opened {
            database,
            logged: RwLock::new(logged),
        }
    }

    /// Units that were used in months since the log was last taken over. Whoever looks for a count
    /// looks here first, and into a transaction that is begun later where there is none: what is
    /// taken over is in the file before it leaves this.
    pub(super) fn logged(&self) -> RwLockReadGuard<'_, Counts> {
        self.logged.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes them.
    pub(super) fn log(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.logged.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The open file, and what is known of it in memory.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Absent between a failure and the next opening.
    opened: RwLock<Option<Opened>>,
    pub(super) memory: Memory,
}

impl Shared {
    /// Uses the file, which stays open meanwhile.
    pub(super) fn with_opened<T>(
        &self,
        use_it: impl FnOnce(&Opened) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        match &*opened {
            Some(opened) => use_it(opened),
            None => Err(Broken::new("it failed and is not open yet").error()),
        }
    }

    /// Waits for its users and closes the file.
    pub(super) fn close(&self) {
        let mut slot = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        *slot = None;
    }

    /// The file from now on.
    pub(super) fn put(&self, opened: Opened) {
        let mut slot = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(opened);
    }
}
