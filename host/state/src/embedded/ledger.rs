//! The units of the open file: what its table holds, and what stands in the log above it.

use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase};

use super::file::{self, Source, reading, writing};
use super::log::{Counts, Log, replay};
use super::shared::Opened;
use super::tables::{COUNTERS, Tables, Writing};
use crate::StateError;

/// How long units stand in the log alone. It bounds what a copy of the file without its log lacks.
const TAKEN_OVER_AFTER: Duration = Duration::from_secs(1);
/// The counter of the log's epochs.
const EPOCH: &str = "usage_epochs";

/// Where the changes of a group are made durable.
#[derive(Debug)]
pub(super) enum Kept {
    /// There are none.
    Nowhere,
    /// In the log, where they are durable now.
    InLog(Counts),
    /// In the file, once its transaction is committed.
    InFile,
}

/// The committing thread's hold on the log.
#[derive(Debug)]
pub(super) struct Ledger {
    log: Log,
    /// When the log is to be taken over into the file, if anything stands in it.
    due: Option<Instant>,
}

impl Ledger {
    /// Takes over what an earlier opening left in the log, begins the log anew, and gives the next
    /// number of `counter`.
    pub(super) fn open(
        source: &Source,
        database: &Database,
        counter: &str,
    ) -> Result<(Ledger, u64), StateError> {
        let epoch = epoch(database)?;
        let storage = match source.log()? {
            Some(storage) => storage,
            None => {
                if epoch > 0 {
                    tracing::warn!(
                        "the log of units beside the state's file is missing: if the server did not stop \
                         cleanly, the units of its last second are not counted"
                    );
                }
                source.make_log()?
            }
        };
        let logged = replay(&*storage, epoch)?;
        let writing = Writing::new(database);
        let nothing = Counts::new();
        let mut tables = Tables::new(&writing, &nothing, 0);
        take_over(&mut tables, logged, epoch)?;
        let number = tables.next(counter)?;
        drop(tables);
        writing.commit()?;
        let log = Log::begin(storage, epoch + 1)?;
        Ok((Ledger { log, due: None }, number))
    }

    /// When the log is to be taken over.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Decides where the changes of a group go; `all` has the log taken over as well. After this
    /// nothing more may be changed in the group.
    pub(super) fn settle(
        &mut self,
        tables: &mut Tables<'_>,
        changed: bool,
        all: bool,
    ) -> Result<Kept, StateError> {
        let units = std::mem::take(&mut tables.units);
        let due = self.due.is_some_and(|due| all || Instant::now() >= due);
        if !changed && !due {
            if units.is_empty() {
                return Ok(Kept::Nowhere);
            }
            if self.log.append(&units)? {
                self.due
                    .get_or_insert_with(|| Instant::now() + TAKEN_OVER_AFTER);
                return Ok(Kept::InLog(units));
            }
        }
        if self.log.is_empty() {
            tables.put_used(&units)?;
        } else {
            let mut whole = tables.logged.clone();
            whole.extend(units);
            take_over(tables, whole, self.log.epoch())?;
        }
        Ok(Kept::InFile)
    }

    /// The transaction of a group that was kept in the file is committed. Says whether the log was
    /// taken over with it.
    pub(super) fn committed(&mut self) -> bool {
        let taken_over = !self.log.is_empty();
        if taken_over {
            self.log.taken_over();
            self.due = None;
        }
        taken_over
    }
}

/// Writes what the log comes to into the file, of which the log's epoch then is over.
fn take_over(tables: &mut Tables<'_>, logged: Counts, epoch: u64) -> Result<(), StateError> {
    tables.put_used(&logged)?;
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

/// The file and the log as they can be read although neither can be written.
pub(super) fn open_aside(source: &Source) -> Result<Opened, StateError> {
    let database = file::open_aside(source)?;
    let logged = match source.log_aside()? {
        Some(storage) => replay(&*storage, epoch(&database)?)?,
        None => Counts::new(),
    };
    Ok(Opened::new(database, logged))
}
