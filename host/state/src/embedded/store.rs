//! What the committing thread, the readers and the callers share.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use redb::{Database, ReadableDatabase};

use super::file::reading;
use super::group_commit::StoreError;
use super::memory::Memory;
use super::tables::{USAGE, used};
use super::usage_wal::log::Counts;
use crate::{Month, StateError, TenantId};

/// The file, and the counts that are durable in the log above it.
#[derive(Debug)]
pub(super) struct OpenFiles {
    pub(super) database: Database,
    logged: RwLock<Counts>,
    /// Why the log cannot be read, where it cannot.
    unread: Option<StoreError>,
}

impl OpenFiles {
    pub(super) fn new(database: Database, logged: Counts) -> Self {
        OpenFiles {
            database,
            logged: RwLock::new(logged),
            unread: None,
        }
    }

    /// A file whose log cannot be read.
    pub(super) fn without_log(database: Database, why: StoreError) -> Self {
        OpenFiles {
            unread: Some(why),
            ..OpenFiles::new(database, Counts::new())
        }
    }

    /// Units that were used in months since the log was last taken over.
    pub(super) fn logged(&self) -> RwLockReadGuard<'_, Counts> {
        self.logged.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes them.
    pub(super) fn change_logged(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.logged.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Units that were used in a month. The log is looked at first, and then a transaction that is
    /// begun later: what is taken over is in the file before it leaves the log.
    pub(super) fn used(&self, tenant: TenantId, month: Month) -> Result<u64, StateError> {
        if let Some(why) = &self.unread {
            return Err(StateError::Storage {
                doing: "read",
                source: Box::new(why.clone()),
            });
        }
        let place = (tenant, month);
        if let Some(used) = self.logged().get(&place) {
            return Ok(*used);
        }
        let transaction = self.database.begin_read().map_err(reading)?;
        let usage = transaction.open_table(USAGE).map_err(reading)?;
        used(&usage, &place.0, month)
    }
}

/// The open file, and what is known of it in memory.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Absent between a failure and the next opening.
    opened: RwLock<Option<OpenFiles>>,
    pub(super) memory: Memory,
}

impl Store {
    /// Uses the file, which stays open meanwhile.
    pub(super) fn with_opened<T>(
        &self,
        use_it: impl FnOnce(&OpenFiles) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        match &*opened {
            Some(opened) => use_it(opened),
            None => Err(StoreError::new("it failed and is not open yet").error()),
        }
    }

    /// Waits for its users and closes the file.
    pub(super) fn close(&self) {
        let mut slot = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        *slot = None;
    }

    /// The file from now on.
    pub(super) fn put(&self, opened: OpenFiles) {
        let mut slot = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(opened);
    }
}
