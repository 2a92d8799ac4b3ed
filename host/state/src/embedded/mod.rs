//! The state in one redb file of one process, and a log of units in front of it.
//!
//! redb has one writer, so one committing thread (`group_commit`) makes every change. Groups of
//! charges alone go to the log (`usage_wal::log`), and the file takes them over
//! (`usage_wal::replay`). A few threads (`readers`) run the reads, each in its own transaction. No
//! read runs on the thread of a caller that may not block.

mod accounts;
mod backup;
mod change;
mod claims;
mod counts;
mod cursors;
#[cfg(test)]
mod damaged_job_tests;
#[cfg(test)]
mod degradation_tests;
mod error;
#[cfg(test)]
mod fault_injection_tests;
mod file;
mod group_commit;
mod job_removal;
mod job_rows;
mod jobs;
mod keys;
mod memory;
mod operation;
mod owed_units;
mod path_files;
mod promotions;
mod read_only_fallback;
mod readers;
mod receipt_keys;
mod records;
mod recovery;
mod source;
mod state_files;
mod store;
#[cfg(test)]
mod store_tests;
mod switch_names;
mod switches;
mod tables;
#[cfg(test)]
mod test_disk;
#[cfg(test)]
mod unknown_outcome_tests;
mod usage;
mod usage_entries;
mod usage_wal;
mod work;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, TrySendError, bounded};
use redb::{ReadTransaction, ReadableDatabase};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::{Reply, StateError};
use counts::LogCounts;
use error::{StoreError, reading, stopped_error};
use group_commit::Committer;
use operation::{LONGEST_WAIT, Message, Operation, Work, timeout_error};
use readers::Readers;
use source::Source;
use store::{OpenFiles, Store};
use tables::Tables;
use usage_wal::replay::{FoundLog, open_writable_log};

/// Operations that may wait to be committed. A service lets in far fewer requests at a time.
const WAITING: usize = 8_192;

/// The state in one redb file. The file can be open once: commands reach a running server, not
/// its file. Dropping it waits for the operations that were begun, and closes the file. Where the
/// disk does not answer it waits for ten seconds, and the file is as after a crash.
#[derive(Debug)]
pub struct EmbeddedState {
    shared: Arc<Store>,
    readers: Option<Readers>,
    queue: Option<Sender<Message>>,
    committer: Option<JoinHandle<()>>,
}

impl EmbeddedState {
    /// Opens the state in the file at `path`, and creates a missing file (mode 0600) in a folder
    /// that is there. Leases of earlier openings are void.
    ///
    /// # Errors
    /// [`StateError::AlreadyOpen`] if another process has it open, [`StateError::NewerSchema`] or
    /// [`StateError::NotAState`] for a file of something else. [`StateError::DamagedLog`] or
    /// [`StateError::Storage`] if it cannot be read.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        Self::open_source(Source::new(path))
    }

    fn open_source(source: Source) -> Result<Self, StateError> {
        // The last sync of an earlier opening may have failed.
        source.drop_page_cache()?;
        let database = file::open(&source)?;
        let log = open_writable_log(&source)?;
        let found = FoundLog::read(&source, log, &database)?;
        let (wal, opening) = found.take_over(&database, work::OPENINGS)?;
        let shared = Arc::new(Store::default());
        shared.memory.load(&database)?;
        let log_counts = LogCounts::begin(wal.position().epoch);
        shared.put(OpenFiles::new(database, log_counts));
        let (queue, waiting) = bounded(WAITING);
        let readers = Readers::start(&shared, &queue).map_err(thread)?;
        let committer = Committer {
            shared: Arc::clone(&shared),
            source,
            queue: waiting,
            opening,
            wal,
            failed: None,
        };
        let committer = std::thread::Builder::new()
            .name("state-commit".into())
            .spawn(move || committer.run())
            .map_err(thread)?;
        Ok(EmbeddedState {
            shared,
            readers: Some(readers),
            queue: Some(queue),
            committer: Some(committer),
        })
    }

    /// Begins an operation; the reply comes when it is durable. Where the disk does not answer in
    /// time it is an error, and the operation still waits.
    fn durable<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Tables<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Reply<T> {
        in_time(self.durable_at_last(run))
    }

    /// Begins an operation; the reply comes when it is durable, however long that takes.
    fn durable_at_last<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Tables<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Reply<T> {
        self.begin(|answer| {
            Operation::new(run, move |outcome| {
                // The caller may have dropped the reply.
                drop(answer.send(outcome));
            })
        })
    }

    /// Sends the committing thread an operation that answers by way of this sender.
    fn begin<T: Send + 'static, W: Work + 'static>(
        &self,
        work: impl FnOnce(oneshot::Sender<Result<T, StateError>>) -> W,
    ) -> Reply<T> {
        let (answer, reply) = oneshot::channel();
        let sent = match &self.queue {
            Some(queue) => queue.try_send(Message::Work(Box::new(work(answer)))),
            None => return failed_reply("the state is closed"),
        };
        match sent {
            Ok(()) => reply_of(reply),
            Err(TrySendError::Full(message)) => {
                if let Message::Work(work) = message {
                    self.shared.owed.add_refused(&[work]);
                }
                failed_reply("too many operations wait")
            }
            Err(TrySendError::Disconnected(_)) => {
                Box::pin(std::future::ready(Err(stopped_error())))
            }
        }
    }

    /// Does an operation and waits until it is durable.
    fn blocking<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Tables<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        let queue = self.queue.as_ref().ok_or_else(stopped_error)?;
        operation::wait(queue, run)
    }

    /// Begins a read, in a transaction that sees everything that was answered.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T, StateError> + Send + 'static,
    ) -> Reply<T> {
        self.read_files(|files| read_in(files, read))
    }

    /// Begins a read of the file as it is open.
    fn read_files<T: Send + 'static>(
        &self,
        read: impl FnOnce(&OpenFiles) -> Result<T, StateError> + Send + 'static,
    ) -> Reply<T> {
        let (answer, reply) = oneshot::channel();
        let sent = self.readers.as_ref().is_some_and(|readers| {
            readers.begin(move |shared| {
                let outcome = shared.with_files(read);
                let failed = matches!(outcome, Err(StateError::Storage { .. }));
                drop(answer.send(outcome));
                failed
            })
        });
        if sent {
            in_time(reply_of(reply))
        } else {
            failed_reply("too many reads wait")
        }
    }
}

fn read_in<T>(
    files: &OpenFiles,
    read: impl FnOnce(&ReadTransaction) -> Result<T, StateError>,
) -> Result<T, StateError> {
    read(&files.database.begin_read().map_err(reading)?)
}

/// Reads on this thread.
fn read_now<T>(
    shared: &Store,
    read: impl FnOnce(&ReadTransaction) -> Result<T, StateError>,
) -> Result<T, StateError> {
    shared.with_files(|files| read_in(files, read))
}

fn reply_of<T: Send + 'static>(reply: oneshot::Receiver<Result<T, StateError>>) -> Reply<T> {
    Box::pin(async move {
        match reply.await {
            Ok(outcome) => outcome,
            Err(_) => Err(stopped_error()),
        }
    })
}

/// Bounds the wait for a reply.
fn in_time<T: Send + 'static>(reply: Reply<T>) -> Reply<T> {
    Box::pin(async move {
        match timeout(LONGEST_WAIT, reply).await {
            Ok(outcome) => outcome,
            Err(_) => Err(timeout_error()),
        }
    })
}

fn failed_reply<T: Send + 'static>(why: &'static str) -> Reply<T> {
    Box::pin(std::future::ready(Err(StoreError::new(why).error())))
}

fn thread(error: io::Error) -> StateError {
    StateError::Storage {
        doing: "opened",
        source: Box::new(error),
    }
}

/// Waits for threads to end, and reports whether they did in time.
fn end_in_time(threads: Vec<JoinHandle<()>>) -> bool {
    let until = Instant::now() + LONGEST_WAIT;
    threads.into_iter().all(|thread| {
        while !thread.is_finished() {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // `PanicReport` reported its panic.
        drop(thread.join());
        true
    })
}

impl Drop for EmbeddedState {
    fn drop(&mut self) {
        // The readers first: they may still send to the committing thread, which ends when nobody
        // can any more.
        let readers = self.readers.take().map(Readers::close);
        drop(self.queue.take());
        let threads = readers.into_iter().flatten().chain(self.committer.take());
        if end_in_time(threads.collect()) {
            self.shared.close();
        } else {
            tracing::error!("the disk does not answer: the state was left as after a crash");
        }
    }
}
