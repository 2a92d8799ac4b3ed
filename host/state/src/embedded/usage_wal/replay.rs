//! The units of the open file: what its table holds, and what stands in the log above it.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase};

use super::log::{Counts, Log, LogReplay, make_room, prove, replay};
use crate::StateError;
use crate::embedded::file::{reading, writing};
use crate::embedded::group_commit::{StoreError, reason};
use crate::embedded::source::{Source, Storage};
use crate::embedded::store::OpenFiles;
use crate::embedded::tables::{COUNTERS, Tables, Writing};

/// The counter of the log's epochs.
const EPOCH: &str = "usage_epochs";

/// Where the changes of a group are made durable.
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
#[error("the log of units {}: {source}", path.display())]
struct LogFailed {
    path: PathBuf,
    source: io::Error,
}

/// For `map_err` of what is done with the log.
fn of_log(path: PathBuf, doing: &'static str) -> impl FnOnce(io::Error) -> StateError {
    move |source| StateError::Storage {
        doing,
        source: Box::new(LogFailed { path, source }),
    }
}

/// The log, opened or made, and seen to be one that can be written. What stands in it is left as it
/// is.
pub(in crate::embedded) fn proven(source: &Source) -> Result<Storage, StateError> {
    let storage = source.log().and_then(|storage| {
        prove(&*storage)?;
        Ok(storage)
    });
    storage.map_err(of_log(source.log_path(), "opened"))
}

/// What the log holds above a file of this epoch.
fn read_log(source: &Source, storage: &Storage, epoch: u64) -> Result<LogReplay, StateError> {
    let replayed = replay(&**storage, epoch).map_err(of_log(source.log_path(), "read"))?;
    match replayed.damaged {
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
    /// How long units stand in the log alone.
    after: Duration,
    /// When the log is to be taken over into the file, if anything stands in it.
    due: Option<Instant>,
}

impl UsageWal {
    /// Takes over what an earlier opening left in a log that is [`proven`], begins it anew, and
    /// gives the next number of `counter`. The open file keeps other processes from both.
    pub(in crate::embedded) fn open(
        source: &Source,
        storage: Storage,
        database: &Database,
        counter: &str,
    ) -> Result<(UsageWal, u64), StateError> {
        let epoch = epoch(database)?;
        let whole = make_room(&*storage).map_err(of_log(source.log_path(), "written"))?;
        if !whole && epoch > 0 {
            tracing::warn!(
                path = %source.log_path().display(),
                "the log of units was missing or cut short: if the server did not stop cleanly, the units \
                 of its last second may not be counted"
            );
        }
        let replayed = read_log(source, &storage, epoch)?;
        let epoch = epoch.max(replayed.latest);
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
            after: source.take_over_after,
            due: None,
        };
        Ok((wal, number))
    }

    /// When the log is to be taken over.
    pub(in crate::embedded) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Decides where the changes of a group go; `all` has the log taken over as well. After this
    /// nothing more may be changed in the group.
    pub(in crate::embedded) fn settle(
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
            if appended.map_err(of_log(self.path.clone(), "written"))? {
                self.due.get_or_insert_with(|| Instant::now() + self.after);
                return Ok(DurableIn::InLog(units));
            }
        }
        if self.log.is_empty() {
            tables.put_used(&units)?;
        } else {
            let mut whole = tables.logged.clone();
            whole.extend(units);
            take_over(tables, &whole, self.log.epoch())?;
        }
        Ok(DurableIn::InFile)
    }

    /// The transaction of a group that was kept in the file is committed. Says whether the log was
    /// taken over with it.
    pub(in crate::embedded) fn committed(&mut self) -> bool {
        let taken_over = !self.log.is_empty();
        if taken_over {
            self.log.taken_over();
            self.due = None;
        }
        taken_over
    }
}

/// Writes what the log comes to into the file, of which the log's epoch then is over.
fn take_over(tables: &mut Tables<'_>, logged: &Counts, epoch: u64) -> Result<(), StateError> {
    tables.put_used(logged)?;
    let counters = tables.counters.edit()?;
    counters.insert(EPOCH, epoch + 1).map_err(writing)?;
    Ok(())
}

/// The log's epoch, as the file has it.
fn epoch(database: &Database) -> Result<u64, StateError> {
    let transaction = database.begin_read().map_err(reading)?;
    let counters = transaction.open_table(COUNTERS).map_err(reading)?;
    let epoch = counters.get(EPOCH).map_err(reading)?;
    Ok(epoch.map_or(0, |epoch| epoch.value()))
}

/// The file and the log as they can be read although one of them cannot be written. Without the
/// log, everything but counts can still be read.
pub(in crate::embedded) fn open_aside(source: &Source) -> Result<OpenFiles, StateError> {
    let database = source.database_aside()?;
    let epoch = epoch(&database)?;
    let storage = source
        .log_aside()
        .map_err(of_log(source.log_path(), "opened"));
    let logged = storage.and_then(|storage| match storage {
        Some(storage) => read_log(source, &storage, epoch),
        None => Ok(LogReplay::default()),
    });
    Ok(match logged {
        Ok(replayed) => OpenFiles::new(database, replayed.counts),
        Err(error) => OpenFiles::without_log(database, StoreError::new(reason(&error))),
    })
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
