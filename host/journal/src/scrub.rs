//! The check of closed files beside the writer, on a separate thread.
//!
//! **There, and unchanged.** The thread looks once a second at every closed file by its name. One
//! that is gone, or that is another file or has another length or time, degrades the journal at
//! once.
//!
//! **Every line.** It follows the lines of each file that nobody has followed since the start, and
//! of each that changed. A damaged one degrades the journal until it is put back. The thread reads
//! such a file again, and the journal recovers if the file is whole.
//!
//! **At a bounded rate.** The thread rests nine tenths of its time, so that the disk and the cores
//! are there for requests. Nobody waits for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use domesday_package::{FileFacts, PublicKey};
use tokio::sync::watch;

use crate::JournalError;
use crate::closed_file::{ClosedFile, facts};
use crate::flaw::VerifyError;
use crate::open_files::file_replaced_error;

/// The time between two looks at all files.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The time between two looks as a multiple of the last look: many files take long.
const LOOKS_APART: u32 = 50;
/// Bytes of lines between two rests.
const PIECE: usize = 1 << 20;
/// The time of a rest as a multiple of the work before it.
const REST: u32 = 9;

/// The end of the writer, which closes files.
pub(crate) struct Scrub(Sender<WatchedFile>);

impl Scrub {
    /// Adds a file that the writer has closed, and as which the file system showed it then.
    pub(crate) fn add(&self, file: ClosedFile, facts: Option<FileFacts>) {
        // The thread ends with the writer alone.
        let _ = self.0.send(WatchedFile::new(file, facts));
    }
}

/// A closed file, and the result of its last check.
pub(crate) struct WatchedFile {
    file: ClosedFile,
    state: FileState,
}

impl WatchedFile {
    /// Describes a file whose lines were as written when the file system showed it with `facts`. It
    /// is yet to be read without them.
    pub(crate) fn new(file: ClosedFile, facts: Option<FileFacts>) -> WatchedFile {
        let state = facts.map_or(FileState::Unread, FileState::Sound);
        WatchedFile { file, state }
    }
}

/// The result of a file's last check.
enum FileState {
    /// Nobody has followed its lines since the start.
    Unread,
    /// Its lines were as written when it looked so.
    Sound(FileFacts),
    /// It was damaged when it looked so.
    Damaged(Option<FileFacts>, JournalError),
    /// It is no longer as it was: it is to be read again.
    Changed(JournalError),
}

/// Starts the thread, which ends with the returned `Scrub`. It watches `files`, and reads those
/// that nobody has followed. Files whose first receipt is before `removed_below` are removed.
///
/// # Errors
/// [`JournalError::Io`] if the thread cannot be started.
pub(crate) fn start(
    folder: &Path,
    host: PublicKey,
    files: Vec<WatchedFile>,
    removed_below: Arc<AtomicU64>,
) -> Result<(Scrub, watch::Receiver<Option<JournalError>>), JournalError> {
    let (send, receive) = channel();
    let (error, seen) = watch::channel(None);
    let scrubber = Scrubber {
        host,
        files,
        removed_below,
        receive,
        error,
        missing: None,
        look_at: Instant::now(),
        worked_since: Instant::now(),
        bytes: 0,
    };
    std::thread::Builder::new()
        .name("journal-scrub".to_owned())
        .spawn(move || scrubber.run())
        .map_err(JournalError::io(folder))?;
    Ok((Scrub(send), seen))
}

struct Scrubber {
    host: PublicKey,
    files: Vec<WatchedFile>,
    /// Set before a file goes.
    removed_below: Arc<AtomicU64>,
    receive: Receiver<WatchedFile>,
    error: watch::Sender<Option<JournalError>>,
    /// The first file that is not there.
    missing: Option<JournalError>,
    /// Time of the next look at all files.
    look_at: Instant,
    /// Start of the work since the last rest.
    worked_since: Instant,
    /// Bytes of lines since the last rest.
    bytes: usize,
}

impl Scrubber {
    /// Runs until the writer ends.
    fn run(mut self) {
        loop {
            self.worked_since = Instant::now();
            self.look_if_due();
            let removed_below = self.removed_below.load(Ordering::SeqCst);
            (self.files).retain(|watched| watched.file.first >= removed_below);
            let went_on = match self.next_to_read() {
                Some(at) => self.read(at),
                None => self.rest(self.look_at.saturating_duration_since(Instant::now())),
            };
            if went_on.is_err() {
                return;
            }
        }
    }

    /// Looks at all files by their names, once that is due.
    fn look_if_due(&mut self) {
        let began = Instant::now();
        if began < self.look_at {
            return;
        }
        self.missing = None;
        for WatchedFile { file, state } in &mut self.files {
            let Some(now) = facts(&file.path) else {
                if file.first < self.removed_below.load(Ordering::SeqCst) {
                    continue;
                }
                self.missing
                    .get_or_insert_with(|| file_replaced_error(&file.path));
                continue;
            };
            let problem = match state {
                FileState::Sound(was) if !was.has_same_content(&now) => {
                    file_replaced_error(&file.path)
                }
                FileState::Damaged(was, error)
                    if !was.is_some_and(|was| was.has_same_content(&now)) =>
                {
                    error.clone()
                }
                _ => continue,
            };
            *state = FileState::Changed(problem);
        }
        self.publish();
        let took = began.elapsed();
        self.look_at = Instant::now() + LOOK_EVERY.max(took * LOOKS_APART);
    }

    /// Returns the file to read next: one that changed, else one that nobody has read.
    fn next_to_read(&self) -> Option<usize> {
        let find = |is: fn(&FileState) -> bool| self.files.iter().position(|it| is(&it.state));
        find(|state| matches!(state, FileState::Changed(_)))
            .or_else(|| find(|state| matches!(state, FileState::Unread)))
    }

    /// Follows the lines of a file.
    ///
    /// # Errors
    /// [`JournalError::Closed`] once the writer has ended.
    fn read(&mut self, at: usize) -> Result<(), JournalError> {
        let Some(watched) = self.files.get(at) else {
            return Ok(());
        };
        let file = watched.file.clone();
        let found = facts(&file.path);
        let host = self.host;
        let outcome = file.verify(&host, &mut |bytes| self.pace(bytes));
        if file.first < self.removed_below.load(Ordering::SeqCst) {
            return self.rest_from_work();
        }
        let state = match (outcome, found) {
            (Err(VerifyError::Unreadable(JournalError::Closed)), _) => {
                return Err(JournalError::Closed);
            }
            (Ok(()), Some(facts)) => FileState::Sound(facts),
            (Ok(()), None) => FileState::Changed(file_replaced_error(&file.path)),
            // The next look has it read again.
            (Err(VerifyError::Unreadable(error)), _) => FileState::Damaged(None, error),
            (Err(VerifyError::At { path, line, flaw }), found) => {
                FileState::Damaged(found, damaged_file(path, line, &flaw))
            }
            (Err(VerifyError::Whole(flaw)), found) => {
                FileState::Damaged(found, damaged_file(file.path, 0, &flaw))
            }
        };
        if let Some(watched) = self.files.get_mut(at) {
            watched.state = state;
        }
        self.publish();
        self.rest_from_work()
    }

    /// Counts the bytes of a line, and rests after many of them.
    fn pace(&mut self, bytes: usize) -> Result<(), JournalError> {
        self.bytes += bytes;
        if self.bytes < PIECE {
            return Ok(());
        }
        self.look_if_due();
        self.rest_from_work()
    }

    fn rest_from_work(&mut self) -> Result<(), JournalError> {
        let worked = self.worked_since.elapsed();
        self.rest(worked * REST)?;
        self.bytes = 0;
        self.worked_since = Instant::now();
        Ok(())
    }

    /// Waits for a time, and takes the files that the writer closes meanwhile.
    ///
    /// # Errors
    /// [`JournalError::Closed`] once the writer has ended.
    fn rest(&mut self, time: Duration) -> Result<(), JournalError> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.receive.recv_timeout(left) {
                Ok(closed) => self.files.push(closed),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(JournalError::Closed),
            }
        }
    }

    /// Publishes the first problem, and logs one that is new.
    fn publish(&self) {
        let problem = |watched: &WatchedFile| match &watched.state {
            FileState::Damaged(_, error) | FileState::Changed(error) => Some(error.clone()),
            FileState::Unread | FileState::Sound(_) => None,
        };
        let found = self.files.iter().find_map(problem);
        let found = self.missing.clone().or(found);
        let text = |error: &Option<JournalError>| error.as_ref().map(JournalError::to_string);
        self.error.send_if_modified(|published| {
            if text(published) == text(&found) {
                return false;
            }
            match &found {
                Some(error) => tracing::error!(%error, "receipts cannot be kept"),
                None => tracing::info!("all earlier receipts are there again"),
            }
            *published = found;
            true
        });
    }
}

fn damaged_file(path: PathBuf, line: u64, flaw: &dyn std::fmt::Display) -> JournalError {
    JournalError::DamagedFile {
        path,
        line,
        problem: flaw.to_string(),
    }
}

#[cfg(test)]
#[path = "scrub_tests.rs"]
mod tests;
