//! The units of the open file: the counts of its table, and the newer counts of the log.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase};

use super::log::{Log, LogReplay, allocate_blocks, check_writable, replay};
use crate::StateError;
use crate::embedded::counts::Counts;
use crate::embedded::error::{StoreError, reading, reason, writing};
use crate::embedded::source::{Source, Storage};
use crate::embedded::store::OpenFiles;
use crate::embedded::tables::{COUNTERS, Tables, Writing};

/// The counter of the log's epochs.
const EPOCH: &str = "usage_epochs";

/// The file in which the changes of a group are made durable.
#[derive(Debug)]
pub(in crate::embedded) enum DurableIn {
    /// There are none.
    Nowhere,
    /// In the log, where they are durable now.
    InLog(Counts),
    /// In the file, once its transaction is committed.
    InFile,
}

/// The log failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot read or write the log of units {}: {source}", path.display())]
struct LogFailed {
    path: PathBuf,
    source: io::Error,
}

/// Returns a function that wraps an error of the log.
fn log_error(path: PathBuf, doing: &'static str) -> impl FnOnce(io::Error) -> StateError {
    move |source| StateError::Storage {
        doing,
        source: Box::new(LogFailed { path, source }),
    }
}

/// Opens or creates the log, and checks that it can be written. It leaves the log's blocks as they
/// are.
pub(in crate::embedded) fn open_writable_log(source: &Source) -> Result<Storage, StateError> {
    let storage = source.log().and_then(|storage| {
        check_writable(&*storage)?;
        Ok(storage)
    });
    storage.map_err(log_error(source.log_path(), "opened"))
}

/// Reads the counts that the log holds above a file of this epoch.
fn read_log(source: &Source, storage: &Storage, epoch: u64) -> Result<LogReplay, StateError> {
    let replayed = replay(&**storage, epoch).map_err(log_error(source.log_path(), "read"))?;
    match replayed.damaged_block {
        None => Ok(replayed),
        Some(block) => Err(StateError::DamagedLog {
            path: source.log_path(),
            block,
        }),
    }
}

/// The committing thread's hold on the log.
#[derive(Debug)]
pub(in crate::embedded) struct UsageWal {
    log: Log,
    path: PathBuf,
    /// Longest time for which units stand in the log alone.
    take_over_after: Duration,
    /// Time at which the log is to be taken over into the file, if anything stands in it.
    due: Option<Instant>,
}

impl UsageWal {
    /// Takes the log of an earlier opening over into the file, begins the log anew, and returns the
    /// next number of `counter`. [`open_writable_log`] opened the storage. The open file keeps
    /// other processes from both.
    pub(in crate::embedded) fn open(
        source: &Source,
        storage: Storage,
        database: &Database,
        counter: &str,
    ) -> Result<(UsageWal, u64), StateError> {
        let epoch = epoch(database)?;
        let whole = allocate_blocks(&*storage).map_err(log_error(source.log_path(), "written"))?;
        if !whole && epoch > 0 {
            tracing::warn!(
                path = %source.log_path().display(),
                "the log of units was missing or cut short: if the server did not stop cleanly, the units \
                 of its last second may not be counted"
            );
        }
        let replayed = read_log(source, &storage, epoch)?;
        let epoch = epoch.max(replayed.latest_epoch);
        let writing = Writing::new(database);
        let nothing = Counts::new();
        let mut tables = Tables::new(&writing, &nothing, 0);
        take_over(&mut tables, &replayed.counts, epoch)?;
        let number = tables.next(counter)?;
        drop(tables);
        writing.commit()?;
        let wal = UsageWal {
            log: Log::begin(storage, epoch + 1),
            path: source.log_path(),
            take_over_after: source.take_over_after,
            due: None,
        };
        Ok((wal, number))
    }

    /// Returns when the log is to be taken over.
    pub(in crate::embedded) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Decides where the changes of a group go; `all` has the log taken over as well. After this
    /// nothing more may be changed in the group.
    pub(in crate::embedded) fn persist_changes(
        &mut self,
        tables: &mut Tables<'_>,
        changed: bool,
        all: bool,
    ) -> Result<DurableIn, StateError> {
        let units = std::mem::take(&mut tables.units);
        let due = self.due.is_some_and(|due| all || Instant::now() >= due);
        if !changed && !due {
            if units.is_empty() {
                return Ok(DurableIn::Nowhere);
            }
            let appended = self.log.append(&units);
            if appended.map_err(log_error(self.path.clone(), "written"))? {
                self.due
                    .get_or_insert_with(|| Instant::now() + self.take_over_after);
                return Ok(DurableIn::InLog(units));
            }
        }
        if self.log.is_empty() {
            tables.put_used(&units)?;
        } else {
            let mut whole = tables.log_counts.clone();
            whole.extend(units);
            take_over(tables, &whole, self.log.epoch())?;
        }
        Ok(DurableIn::InFile)
    }

    /// Records that the transaction of a group with changes of the file is committed. Reports
    /// whether the file took the log over with it.
    pub(in crate::embedded) fn after_commit(&mut self) -> bool {
        let had_blocks = !self.log.is_empty();
        if had_blocks {
            self.log.begin_next_epoch();
            self.due = None;
        }
        had_blocks
    }
}

/// Writes the log's counts into the file, and ends the log's epoch there.
fn take_over(tables: &mut Tables<'_>, log_counts: &Counts, epoch: u64) -> Result<(), StateError> {
    tables.put_used(log_counts)?;
    let counters = tables.counters.edit()?;
    counters.insert(EPOCH, epoch + 1).map_err(writing)?;
    Ok(())
}

/// Reads the log's epoch from the file.
fn epoch(database: &Database) -> Result<u64, StateError> {
    let transaction = database.begin_read().map_err(reading)?;
    let counters = transaction.open_table(COUNTERS).map_err(reading)?;
    let epoch = counters.get(EPOCH).map_err(reading)?;
    Ok(epoch.map_or(0, |epoch| epoch.value()))
}

/// Opens the file and the log for reading while one of them cannot be written. Without the log,
/// everything but counts can still be read.
pub(in crate::embedded) fn open_read_only(source: &Source) -> Result<OpenFiles, StateError> {
    let database = source.read_only_database()?;
    let epoch = epoch(&database)?;
    let storage = source
        .read_only_log()
        .map_err(log_error(source.log_path(), "opened"));
    let replayed = storage.and_then(|storage| match storage {
        Some(storage) => read_log(source, &storage, epoch),
        None => Ok(LogReplay::default()),
    });
    Ok(match replayed {
        Ok(replayed) => OpenFiles::new(database, replayed.counts),
        Err(error) => OpenFiles::without_log(database, StoreError::new(reason(&error))),
    })
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
