//! The journal of a running host: one thread writes, and many wait for it together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use domesday_package::{DiskProbe, PublicKey, SigningKey};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::age_clock::AgeClock;
use crate::append::Tail;
use crate::disk_work::DiskWork;
use crate::folder::{add_head, heads, key, lock_folder};
use crate::open_files::OpenFiles;
use crate::queue::{Queue, Work};
use crate::resume::recover;
use crate::retention::{JournalSpace, Limits, RetainedFiles, Retention};
use crate::scrub::{self, Scrub};
use crate::{Head, JournalError, SealedReceipt, segment};

/// Receipts that may wait for the thread: some tens of megabytes. Callers with more of them wait.
const WAITING: usize = 2_048;
/// Bytes that are made durable at once.
const GROUP_BYTES: usize = 8 << 20;
/// Bytes of a file before another is begun.
pub(crate) const FILE_BYTES: u64 = 64 << 20;
/// Bytes of padding: zeros behind the last receipt of the file that is written. A group in their
/// place does not change the file's length, so that its sync has the group alone to write.
const PADDING: u64 = 1 << 20;
/// The longest that a receipt is without a signed head, and the time between two tries after a
/// failure.
const HEAD_AFTER: Duration = Duration::from_secs(1);

/// Time limit of closing, which waits for the disk.
const CLOSING: Duration = Duration::from_secs(10);
/// The time between two looks at a disk, or at a queue, that does not go on.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The time, milliseconds since 1970-01-01 UTC.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The place of a receipt among those of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The journal of this host. Closing it signs the last head. Where the disk does not answer, the
/// journal is left as after a crash.
pub struct Journal {
    queue: Arc<Queue>,
    writer_state: watch::Receiver<WriterState>,
    /// The problem of an earlier file, if any.
    scrub_error: watch::Receiver<Option<JournalError>>,
    disk_work: DiskWork,
    host: PublicKey,
    thread: Option<JoinHandle<()>>,
}

/// The state of the thread that writes.
#[derive(Clone, Default)]
struct WriterState {
    /// The error that stops all writing, if any.
    error: Option<JournalError>,
    /// Receipts in the whole journal.
    sequence: u64,
    space: JournalSpace,
}

impl Journal {
    /// Opens the journal in `folder`, and creates it where there is none. A new journal derives the
    /// host's key from `seed`. Blocks.
    ///
    /// # Errors
    /// [`JournalError`] if another process has the journal, it was cut short, or it fails to read.
    pub fn open(folder: &Path, seed: [u8; 32], now: Now) -> Result<Journal, JournalError> {
        Journal::open_retained(folder, seed, now, Retention::default())
    }

    /// Opens the journal as [`Journal::open`] does, and removes its oldest files beyond a limit.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open_retained(
        folder: &Path,
        seed: [u8; 32],
        now: Now,
        retention: Retention,
    ) -> Result<Journal, JournalError> {
        let limits = Limits {
            file_bytes: FILE_BYTES,
            padding: PADDING,
            retention,
        };
        Journal::open_with(folder, seed, now, limits)
    }

    /// Opens the journal with other limits: the bytes of a file, and those of all.
    pub(crate) fn open_with(
        folder: &Path,
        seed: [u8; 32],
        now: Now,
        limits: Limits,
    ) -> Result<Journal, JournalError> {
        let Limits {
            file_bytes,
            padding,
            retention,
        } = limits;
        let lock = lock_folder(folder)?;
        let heads = heads(folder)?;
        let new = heads.is_empty() && segment::list(folder)?.is_empty();
        let key = key(folder, seed, new)?;
        let host = key.public();
        let signed_through = heads.last().map_or(0, |head| head.sequence);
        let earlier = recover(folder, &host, signed_through)?;
        let files = OpenFiles::open(folder, lock)?;
        let mut tail = Tail::find(folder, &host, file_bytes, files)?;
        tail.padding = padding;
        let probe = DiskProbe::open(folder).map_err(JournalError::io(folder))?;
        let clock = AgeClock::start(&heads, now());
        let retained = RetainedFiles::find(folder, retention, clock)?;
        let (scrub, scrub_error) = scrub::start(folder, host, earlier, retained.removed_below())?;
        let queue = Arc::new(Queue::new(WAITING, GROUP_BYTES));
        let (state, writer_state) = watch::channel(WriterState {
            sequence: tail.sequence,
            ..WriterState::default()
        });
        let disk_work = DiskWork::default();
        let writer = Writer {
            queue: queue.clone(),
            disk_work: disk_work.clone(),
            folder: folder.to_owned(),
            heads,
            // An earlier start signed it, so it stays.
            replace_last_head: false,
            signed_through,
            signed_at: Instant::now(),
            tail,
            probe,
            scrub,
            retained,
            key,
            now,
            state,
        };
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run())
            .map_err(JournalError::io(folder))?;
        Ok(Journal {
            queue,
            writer_state,
            scrub_error,
            disk_work,
            host,
            thread: Some(thread),
        })
    }

    /// Hands a receipt to the thread that writes. Waits while that has too many, but no longer than
    /// the disk goes on. The receipt is durable once [`Journal::wait_until_durable`] returns.
    ///
    /// # Errors
    /// The failure of the last attempt, [`JournalError::Stalled`] or [`JournalError::Closed`].
    pub fn append(&self, mut receipt: SealedReceipt) -> Result<Ticket, JournalError> {
        loop {
            self.check_writable()?;
            match self.queue.push(receipt)? {
                Ok(ticket) => return Ok(Ticket(ticket)),
                Err(refused) => receipt = refused,
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits until the receipts with these tickets and all between them are durable, but no longer
    /// than the disk goes on.
    ///
    /// # Errors
    /// [`JournalError`] if a receipt between the tickets did not become durable. After
    /// [`JournalError::Stalled`] they may still become durable.
    pub async fn wait_until_durable(&self, from: Ticket, to: Ticket) -> Result<(), JournalError> {
        let mut outcome = match self.queue.wait(from.0, to.0) {
            Ok(known) => return known,
            Err(outcome) => outcome,
        };
        loop {
            match timeout(LOOK_AGAIN, &mut outcome).await {
                Ok(outcome) => return outcome.unwrap_or(Err(JournalError::Closed)),
                Err(_elapsed) => self.disk_work.check()?,
            }
        }
    }

    /// Makes a call once the receipts through this ticket are durable or have failed. The thread
    /// that writes makes it, so it must not block.
    pub fn hold_until_durable(&self, to: Ticket, call: Box<dyn FnOnce() + Send>) {
        self.queue.call_after(to.0, call);
    }

    /// Makes the calls that are held back for this ticket.
    pub fn deliver_held(&self, to: Ticket) {
        self.queue.call_now(to.0);
    }

    /// Checks that receipts can be written, as far as the last attempt and the earlier files
    /// showed.
    ///
    /// # Errors
    /// The failure of the last attempt, the problem of an earlier file, or that the disk does not
    /// answer.
    pub fn check_writable(&self) -> Result<(), JournalError> {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return Err(JournalError::Closed);
        }
        if let Some(error) = &self.writer_state.borrow().error {
            return Err(error.clone());
        }
        if let Some(error) = &*self.scrub_error.borrow() {
            return Err(error.clone());
        }
        self.disk_work.check()
    }

    /// Returns the last durable receipt of the whole journal, or 0 before the first.
    pub fn sequence(&self) -> u64 {
        self.writer_state.borrow().sequence
    }

    /// Returns the space that the journal takes and has. Reads memory alone.
    pub fn space(&self) -> JournalSpace {
        self.writer_state.borrow().space
    }

    /// Returns the public key of this host.
    pub fn host(&self) -> PublicKey {
        self.host
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.queue.close();
        let Some(thread) = self.thread.take() else {
            return;
        };
        let until = Instant::now() + CLOSING;
        while !thread.is_finished() {
            if Instant::now() >= until {
                tracing::error!("the journal's disk does not answer: its last head is not signed");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // The thread reported its panic when it happened.
        let _ = thread.join();
    }
}

struct Writer {
    queue: Arc<Queue>,
    disk_work: DiskWork,
    folder: PathBuf,
    tail: Tail,
    /// Written where no receipt is, so that a disk that stalls is noticed before one waits for it.
    probe: DiskProbe,
    scrub: Scrub,
    retained: RetainedFiles,
    key: SigningKey,
    heads: Vec<Head>,
    /// True if the next head replaces the last.
    replace_last_head: bool,
    /// The last receipt that a head vouches for.
    signed_through: u64,
    signed_at: Instant,
    now: Now,
    state: watch::Sender<WriterState>,
}

impl Writer {
    fn run(mut self) {
        self.disk_work.set(Some(Instant::now()));
        if self.tail.is_full() {
            // A crash may have come between the last group of the file and its head.
            self.sign();
        }
        self.keep_space();
        self.disk_work.set(None);
        loop {
            let wait = HEAD_AFTER.saturating_sub(self.signed_at.elapsed());
            let next = self.queue.take(wait);
            self.disk_work.set(Some(Instant::now()));
            match next {
                Work::Group(group) => self.group(&group),
                Work::Nothing => self.probe_disk(),
                Work::Closed => break,
            }
            if self.signed_at.elapsed() >= HEAD_AFTER {
                if self.state.borrow().error.is_some() {
                    let outcome = self.tail.repair();
                    self.publish(outcome);
                }
                self.sign();
                self.keep_space();
            }
            self.disk_work.set(None);
        }
        self.sign();
        // A folder that is not this host's any more is left as it is.
        if self.state.borrow().error.is_none()
            && let Err(error) = self.tail.cut_padding()
        {
            tracing::warn!(%error, "zeros stay behind the last receipt");
        }
    }

    /// Removes files beyond a limit, and looks at the space. Receipts go on if that fails.
    fn keep_space(&mut self) {
        let (open, now) = (self.tail.open_bytes(), (self.now)());
        // A folder that is not this host's any more is left as it is.
        if self.state.borrow().error.is_none()
            && let Err(error) = self.retained.remove_old(&self.heads, open, now)
        {
            tracing::error!(%error, "old receipts could not be removed");
        }
        let space = self.retained.space(open);
        self.state.send_modify(|state| state.space = space);
    }

    /// Writes to a disk that has no receipt to write. The next repair ends a failure.
    fn probe_disk(&self) {
        if self.state.borrow().error.is_some() {
            return;
        }
        if let Err(error) = self.probe.write() {
            tracing::error!(%error, "the journal's disk cannot be written");
            self.publish(Err(JournalError::io(&self.folder)(error)));
        }
    }

    /// Makes receipts durable, all or none, and tells those who wait.
    fn group(&mut self, group: &[SealedReceipt]) {
        // Receipts that were handed in before the failure was known fail as well.
        let earlier = self.state.borrow().error.clone();
        let written = match earlier {
            Some(error) => Err(error),
            None => self.tail.append(group),
        };
        for (file, facts) in self.tail.closed.drain(..) {
            let bytes = facts.map_or(0, |facts| facts.bytes);
            self.retained.add(file.first, file.last, bytes);
            self.scrub.add(file, facts);
        }
        if let Err(error) = &written {
            tracing::error!(%error, "receipts could not be kept");
            // The next try to mend it comes after a while.
            self.signed_at = Instant::now();
        }
        self.state.send_modify(|state| {
            state.sequence = self.tail.sequence;
            if let Err(error) = &written {
                state.error = Some(error.clone());
            }
        });
        self.queue.finish(group.len(), written);
        if self.tail.is_full() {
            // The head of a file's end stays, so that the file can be proved by itself.
            self.sign();
        }
    }

    /// Publishes the outcome of an attempt to everyone who waits.
    fn publish(&self, outcome: Result<(), JournalError>) {
        self.state.send_modify(|state| state.error = outcome.err());
    }

    fn sign(&mut self) {
        self.signed_at = Instant::now();
        let Tail {
            sequence, digest, ..
        } = self.tail;
        if let Err(replaced) = self.tail.check_files() {
            tracing::error!(error = %replaced, "receipts cannot be kept");
            return self.publish(Err(replaced));
        }
        if self.signed_through == sequence {
            return;
        }
        let head = Head::sign(&self.key, sequence, digest, (self.now)());
        let files = &mut self.tail.files;
        let replace_last = self.replace_last_head;
        match add_head(&self.folder, &mut self.heads, head, replace_last, files) {
            // That of a file's end stays, whoever signs it.
            Ok(()) => {
                (self.signed_through, self.replace_last_head) = (sequence, !self.tail.is_full());
            }
            Err(error) => {
                tracing::error!(%error, "a head of the journal could not be kept");
                self.heads.pop();
                self.replace_last_head = false;
                self.publish(Err(error));
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

#[cfg(test)]
#[path = "writer_fault_tests.rs"]
mod fault_tests;
#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
