//! The data that the committing thread, the readers and the callers share.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use redb::{Database, ReadableDatabase};

use super::counts::{LogCounts, MonthRows};
use super::error::{StoreError, reading};
use super::memory::Memory;
use super::owed_units::OwedUnits;
use super::tables::{USAGE, read_used_units};
use crate::claim_delivery::UndeliveredLeases;
use crate::damaged_jobs::DamagedJobs;
use crate::{Month, StateError, TenantId, UsageQuery};

/// The file, and the counts that are durable in the log above it.
#[derive(Debug)]
pub(super) struct OpenFiles {
    pub(super) database: Database,
    log_counts: RwLock<LogCounts>,
    /// The error of the log, if it cannot be read.
    log_error: Option<StoreError>,
}

impl OpenFiles {
    pub(super) fn new(database: Database, log_counts: LogCounts) -> Self {
        OpenFiles {
            database,
            log_counts: RwLock::new(log_counts),
            log_error: None,
        }
    }

    /// Makes the open files where the log cannot be read.
    pub(super) fn without_log(database: Database, why: StoreError) -> Self {
        OpenFiles {
            log_error: Some(why),
            ..OpenFiles::new(database, LogCounts::default())
        }
    }

    /// Returns the units used in months since the log was last taken over.
    pub(super) fn log_counts(&self) -> RwLockReadGuard<'_, LogCounts> {
        self.log_counts
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the counts of the log.
    pub(super) fn change_log_counts(&self, change: impl FnOnce(&mut LogCounts)) {
        change(
            &mut self
                .log_counts
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Returns the units used in a month. It reads the log first and begins a transaction later: a
    /// take-over writes the file before it empties the log.
    pub(super) fn used_units(&self, tenant: TenantId, month: Month) -> Result<u64, StateError> {
        self.check_log()?;
        let row_key = (tenant, month);
        if let Some(units) = self.log_counts().counts.get(&row_key) {
            return Ok(units.used);
        }
        let transaction = self.database.begin_read().map_err(reading)?;
        let usage = transaction.open_table(USAGE).map_err(reading)?;
        read_used_units(&usage, &row_key.0, month)
    }

    /// Returns the rows of the ledger that the log will become, of the month and tenant of a query.
    pub(super) fn log_entries(&self, query: &UsageQuery) -> Result<MonthRows, StateError> {
        self.check_log()?;
        let log = self.log_counts();
        let asked = |tenant| query.tenant.as_ref().is_none_or(|asked| asked == tenant);
        let rows = log.counts.iter().filter(|((tenant, month), units)| {
            *month == query.month && asked(tenant) && !units.entries.is_empty()
        });
        let rows =
            rows.map(|((tenant, _), units)| ((tenant.clone(), log.epoch), units.entries.clone()));
        Ok(rows.collect())
    }

    /// Checks that the log was read.
    fn check_log(&self) -> Result<(), StateError> {
        match &self.log_error {
            None => Ok(()),
            Some(why) => Err(StateError::Storage {
                doing: "read",
                source: Box::new(why.clone()),
            }),
        }
    }
}

/// The open file, and its facts in memory.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Absent between a failure and the next opening.
    files: RwLock<Option<OpenFiles>>,
    pub(super) memory: Memory,
    pub(super) owed: OwedUnits,
    pub(super) undelivered: Arc<UndeliveredLeases>,
    pub(super) damaged_jobs: Arc<DamagedJobs>,
}

impl Store {
    /// Uses the file, which stays open meanwhile.
    pub(super) fn with_files<T>(
        &self,
        action: impl FnOnce(&OpenFiles) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        match &*files {
            Some(files) => action(files),
            None => Err(StoreError::new("the store failed and is not open yet").error()),
        }
    }

    /// Waits for its users and closes the file.
    pub(super) fn close(&self) {
        let mut slot = self.files.write().unwrap_or_else(PoisonError::into_inner);
        *slot = None;
    }

    /// Sets the file that is open from now on.
    pub(super) fn put(&self, files: OpenFiles) {
        let mut slot = self.files.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(files);
    }
}
