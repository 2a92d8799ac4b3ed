//! The committing thread after a failure: it refuses operations until the store works again.
//!
//! A file that failed is opened anew, and memory is read from it. The read-only fallback serves
//! reads meanwhile. A file that was moved stays open, and the thread waits until it is back.

use std::time::{Duration, Instant};

use redb::Database;

use super::counts::LogCounts;
use super::error::StoreError;
use super::file;
use super::group_commit::{Committer, CommitterStopped, GroupTask, PROBES};
use super::operation::{Message, Work};
use super::state_files::Storage;
use super::store::OpenFiles;
use super::usage_wal::replay::{FoundLog, UsageWal, open_read_only, open_writable_log};
use crate::{PathMoved, StateError};

/// Delay of the first attempt to open the file again after a failure.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest time between two attempts to open the file.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Committer {
    /// Answers a group that failed, and refuses operations until the store works again.
    pub(super) fn fail(&mut self, failure: &StateError, group: &mut Vec<Box<dyn Work>>) {
        let broken = StoreError::of(failure);
        // First, so that a caller that learns of the failure also finds the store degraded, and no
        // file.
        self.shared.memory.fail(broken.error().to_string());
        if let StoreError::Failed(_) = broken {
            self.shared.close();
        }
        group.drain(..).for_each(|work| work.answer(Err(&broken)));
        match broken {
            StoreError::Failed(_) => self.recover(broken),
            StoreError::Moved(moved) => self.wait_for_return(moved),
        }
    }

    /// Refuses operations until the paths lead to the open files again. These stay open and are
    /// read meanwhile, and nothing is made in their place.
    fn wait_for_return(&mut self, mut moved: PathMoved) {
        tracing::error!(%moved, "the state cannot be written");
        loop {
            if self
                .refuse(&StoreError::Moved(moved), FIRST_PAUSE * 10)
                .is_err()
            {
                return;
            }
            // Gives back the units that are owed.
            match self.check_and_commit(&mut Vec::new(), GroupTask::Nothing) {
                Ok(()) => break,
                Err(StateError::Moved(error)) => moved = error,
                Err(failure) => return self.fail(&failure, &mut Vec::new()),
            }
            let reason = StateError::from(moved.clone());
            self.shared.memory.fail(reason.to_string());
        }
        tracing::info!("the state is back in its place");
        self.shared.memory.recover();
    }

    /// Refuses the operations that arrive within `pause`.
    pub(super) fn refuse(
        &self,
        broken: &StoreError,
        pause: Duration,
    ) -> Result<(), CommitterStopped> {
        let until = Instant::now() + pause;
        while let Some(message) = self.receive(until)? {
            match message {
                Message::Work(work) => {
                    self.shared.owed.add_refused(std::slice::from_ref(&work));
                    work.answer(Err(broken));
                }
                Message::Suspect => {}
            }
        }
        Ok(())
    }

    /// Opens the closed file anew until it can be written again. Operations that arrive meanwhile
    /// fail at once; the read-only fallback serves reads.
    fn recover(&mut self, mut broken: StoreError) {
        let mut pause = FIRST_PAUSE;
        loop {
            if self.refuse(&broken, pause).is_err() {
                // The read-only fallback takes no log over.
                self.shared.close();
                return;
            }
            match self.reopen() {
                Ok(()) => return,
                Err(failure) => broken = StoreError::of(&failure),
            }
            // Where a path moved, the fallback goes on reading the moved file and no other one.
            if let StoreError::Failed(_) = broken {
                self.open_fallback();
            }
            self.shared.memory.fail(broken.error().to_string());
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Opens both files anew, and writes to each: a file that opens may still not be writable. The
    /// log comes first, because opening the file changes it. That must not happen below the
    /// read-only fallback for the sake of a log that cannot be written.
    fn reopen(&mut self) -> Result<(), StateError> {
        self.source.check()?;
        self.source.drop_page_cache()?;
        let log = open_writable_log(&self.source)?;
        let database = file::open(&self.source)?;
        match self.open_wal(log, &database) {
            Ok(wal) => self.wal = wal,
            Err(failure) => {
                // The fallback ends before the file is closed, because closing writes to the file.
                self.shared.close();
                return Err(failure);
            }
        }
        // A caller that finds the degradation over also finds the file, and no unit owed.
        let log_counts = LogCounts::begin(self.wal.position().epoch);
        self.shared.put(OpenFiles::new(database, log_counts));
        let settled = self.commit(&mut Vec::new(), GroupTask::Nothing);
        let memory = &self.shared.memory;
        let loaded =
            settled.and_then(|_| self.shared.with_files(|files| memory.load(&files.database)));
        if loaded.is_err() {
            self.shared.close();
        }
        loaded
    }

    /// Opens the log of units, and learns whether the group that failed is durable.
    fn open_wal(&mut self, log: Storage, database: &Database) -> Result<UsageWal, StateError> {
        let found = FoundLog::read(&self.source, log, database)?;
        // At the first look alone: taking the log over moves its position.
        if let Some(failed) = self.failed.take() {
            self.shared.owed.add(failed.into_owed(found.position()));
        }
        let (wal, _) = found.take_over(database, PROBES)?;
        Ok(wal)
    }

    /// Opens the read-only fallback anew. The attempt to write may have changed the file below it.
    fn open_fallback(&self) {
        let dropped = self.source.drop_page_cache();
        match dropped.and_then(|()| open_read_only(&self.source)) {
            Ok(files) => self.shared.put(files),
            Err(_) => self.shared.close(),
        }
    }
}
