//! The units of the open file: the counts of its table, and the newer counts of the log.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::log::{Log, LogPosition, LogReplay, allocate_blocks, check_writable, replay};
use crate::StateError;
use crate::embedded::counts::{Counts, LogCounts, add_changes};
use crate::embedded::error::{StoreError, reading, reason, writing};
use crate::embedded::source::Source;
use crate::embedded::state_files::Storage;
use crate::embedded::store::OpenFiles;
use crate::embedded::tables::{COUNTERS, GroupTransaction, Tables};
use crate::embedded::usage_entries::put_counts;

/// The counter of the log's epochs.
const EPOCH: &str = "usage_epochs";
/// The counter that has the epoch of a file which lacks no units without its log.
const WHOLE_EPOCH: &str = "usage_whole_epoch";

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

/// Reads the log beside a copy of a backup that nobody has opened yet, or beside a new file.
///
/// Blocks of the copy's epoch were written after the backup, so none of them counts. The latest
/// epoch does, so that no later opening meets them. A file's own blocks are never ignored: each
/// opening begins another epoch in the file before it writes the first block.
fn read_unneeded_log(
    source: &Source,
    storage: &Storage,
    epoch: u64,
) -> Result<LogReplay, StateError> {
    let replayed = replay(&**storage, epoch).map_err(log_error(source.log_path(), "read"))?;
    Ok(LogReplay {
        latest_epoch: replayed.latest_epoch,
        ..LogReplay::default()
    })
}

/// The log as an opening finds it, before the file takes it over.
#[derive(Debug)]
pub(in crate::embedded) struct FoundLog<'s> {
    source: &'s Source,
    storage: Storage,
    /// Epoch of the file.
    epoch: u64,
    replayed: LogReplay,
}

impl<'s> FoundLog<'s> {
    /// Reads the log of an earlier opening. [`open_writable_log`] opened the storage. The open file
    /// keeps other processes from both.
    pub(in crate::embedded) fn read(
        source: &'s Source,
        storage: Storage,
        database: &Database,
    ) -> Result<FoundLog<'s>, StateError> {
        let epoch = counter(database, EPOCH)?;
        let needs_log = epoch != counter(database, WHOLE_EPOCH)?;
        let whole = allocate_blocks(&*storage).map_err(log_error(source.log_path(), "written"))?;
        if !whole && needs_log {
            tracing::warn!(
                path = %source.log_path().display(),
                "the log of units was missing or cut short: if the server did not stop cleanly, the units \
                 of its last second may not be counted"
            );
        }
        let replayed = match needs_log {
            true => read_log(source, &storage, epoch)?,
            false => read_unneeded_log(source, &storage, epoch)?,
        };
        Ok(FoundLog {
            source,
            storage,
            epoch,
            replayed,
        })
    }

    /// Returns the position that the earlier opening left.
    pub(in crate::embedded) fn position(&self) -> LogPosition {
        LogPosition {
            epoch: self.epoch,
            pages: self.replayed.pages,
        }
    }

    /// Takes the log over into the file, begins it anew, and returns the next number of `counter`.
    pub(in crate::embedded) fn take_over(
        self,
        database: &Database,
        counter: &str,
    ) -> Result<(UsageWal, u64), StateError> {
        let epoch = self.epoch.max(self.replayed.latest_epoch);
        let writing = GroupTransaction::new(database);
        let nothing = Counts::new();
        let mut tables = Tables::new(&writing, &nothing, 0);
        take_over(&mut tables, &self.replayed.counts, epoch)?;
        let number = tables.next(counter)?;
        drop(tables);
        writing.commit()?;
        let wal = UsageWal {
            log: Log::begin(self.storage, epoch + 1),
            path: self.source.log_path(),
            take_over_after: self.source.take_over_after,
            due: None,
            ends_epoch: false,
        };
        Ok((wal, number))
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
    /// True if the transaction of the last group ends the epoch in the file.
    ends_epoch: bool,
}

impl UsageWal {
    /// Returns the position of the log, which changes with each durable change of units.
    pub(in crate::embedded) fn position(&self) -> LogPosition {
        self.log.position()
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
        self.ends_epoch = !(self.log.is_empty() && units.is_empty());
        if self.ends_epoch {
            let mut whole = tables.log_counts.clone();
            add_changes(&mut whole, units);
            take_over(tables, &whole, self.log.position().epoch)?;
        }
        Ok(DurableIn::InFile)
    }

    /// Records that the transaction of a group with changes of the file is committed. Reports
    /// whether the file took the log over with it.
    pub(in crate::embedded) fn after_commit(&mut self) -> bool {
        if self.ends_epoch {
            self.log.begin_next_epoch();
            self.due = None;
        }
        self.ends_epoch
    }
}

/// Writes the log's counts and entries into the file, and ends the log's epoch there.
fn take_over(tables: &mut Tables<'_>, log_counts: &Counts, epoch: u64) -> Result<(), StateError> {
    put_counts(tables, log_counts, epoch)?;
    let counters = tables.counters.edit()?;
    counters.insert(EPOCH, epoch + 1).map_err(writing)?;
    Ok(())
}

/// Records in a copy of the file that it has the units of the log. It holds until the copy is
/// opened, which begins another epoch.
pub(in crate::embedded) fn record_whole(copy: &WriteTransaction) -> Result<(), StateError> {
    let mut counters = copy.open_table(COUNTERS).map_err(writing)?;
    let epoch = counters.get(EPOCH).map_err(reading)?;
    let epoch = epoch.map_or(0, |epoch| epoch.value());
    counters.insert(WHOLE_EPOCH, epoch).map_err(writing)?;
    Ok(())
}

/// Reads a counter from the file.
fn counter(database: &Database, name: &str) -> Result<u64, StateError> {
    let transaction = database.begin_read().map_err(reading)?;
    let counters = transaction.open_table(COUNTERS).map_err(reading)?;
    let value = counters.get(name).map_err(reading)?;
    Ok(value.map_or(0, |value| value.value()))
}

/// Opens the file and the log for reading while one of them cannot be written. Without the log,
/// everything but counts can still be read.
pub(in crate::embedded) fn open_read_only(source: &Source) -> Result<OpenFiles, StateError> {
    let database = source.read_only_database()?;
    let epoch = counter(&database, EPOCH)?;
    let storage = source
        .read_only_log()
        .map_err(log_error(source.log_path(), "opened"));
    let replayed = storage.and_then(|storage| match storage {
        Some(storage) => read_log(source, &storage, epoch),
        None => Ok(LogReplay::default()),
    });
    Ok(match replayed {
        Ok(replayed) => {
            let counts = replayed.counts;
            OpenFiles::new(database, LogCounts { epoch, counts })
        }
        Err(error) => OpenFiles::without_log(database, StoreError::new(reason(&error))),
    })
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
