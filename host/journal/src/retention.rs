//! Retention: the oldest whole files are removed once they are too old, or the journal too large.
//!
//! The last file stays, since the host writes it. Files go oldest first and one at a time, so what
//! stays has no gap and can be proved from its first receipt. The heads stay too: that of a removed
//! file's end vouches for the first receipt after it. A line of [`REMOVED`] is durable before its
//! file goes. Ages are by [`AgeClock`], since a clock that is set wrong must not empty a journal.

use std::collections::VecDeque;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::age_clock::AgeClock;
use crate::folder::{free_bytes, sync_directory};
use crate::json_lines::{append_line, read_lines};
use crate::{Head, JournalError, segment};

/// The file that lists the removed files.
const REMOVED: &str = "removed.jsonl";

/// Files that are removed at once. Receipts wait for the removal, which takes milliseconds a file.
const REMOVED_AT_ONCE: usize = 8;

/// The limits of a journal. The oldest files beyond them are removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// The age of a file's last receipt.
    pub max_age: Option<Duration>,
    /// The bytes of all files.
    pub max_bytes: Option<u64>,
}

/// A file of receipts that retention removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedFile {
    /// Its first receipt.
    pub first: u64,
    /// Its last receipt.
    pub last: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Time of the removal, milliseconds since 1970-01-01 UTC.
    pub removed_at: i64,
    /// The limit that it was beyond.
    pub because: Limit,
    /// The first head that vouches for all of its receipts.
    pub head: Head,
}

impl RemovedFile {
    /// Returns the name that the file had.
    pub fn name(&self) -> String {
        segment::name(self.first)
    }
}

/// A limit of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The age of a file.
    Age,
    /// The bytes of all files.
    Size,
}

/// Reads which files were removed, in order. Returns none where retention removed nothing.
///
/// # Errors
/// [`JournalError::Io`] if the record cannot be read.
pub fn removed_files(folder: &Path) -> Result<Vec<RemovedFile>, JournalError> {
    // A crash may tear the last line. Its file is still there then.
    read_lines(folder, REMOVED)
}

/// The space that a journal takes and has, as of the last second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalSpace {
    /// Bytes of all files of receipts.
    pub bytes: u64,
    /// Bytes that are free on their disk; none where that cannot be read.
    pub free: Option<u64>,
}

/// The limits of a journal and of its files.
pub(crate) struct Limits {
    pub(crate) file_bytes: u64,
    /// Bytes of zeros behind the last receipt.
    pub(crate) padding: u64,
    pub(crate) retention: Retention,
}

#[cfg(test)]
impl From<u64> for Limits {
    fn from(file_bytes: u64) -> Limits {
        Limits {
            file_bytes,
            padding: file_bytes.min(4_096),
            retention: Retention::default(),
        }
    }
}

/// The closed files of a journal, and those of them that retention removes.
pub(crate) struct RetainedFiles {
    folder: PathBuf,
    retention: Retention,
    clock: AgeClock,
    files: VecDeque<RetainedFile>,
    /// The last receipt that the record of removals has.
    recorded_through: u64,
    /// Files with an earlier first receipt are removed, or about to be.
    removed_below: Arc<AtomicU64>,
}

/// A closed file.
#[derive(Debug)]
struct RetainedFile {
    first: u64,
    last: u64,
    bytes: u64,
}

impl RetainedFiles {
    /// Finds the files that are closed at a start: all but the last.
    pub(crate) fn find(
        folder: &Path,
        retention: Retention,
        clock: AgeClock,
    ) -> Result<RetainedFiles, JournalError> {
        let listed = segment::list(folder)?;
        let mut files = VecDeque::new();
        for pair in listed.windows(2) {
            let [(first, path), (next, _)] = pair else {
                continue;
            };
            let metadata = fs::metadata(path).map_err(JournalError::io(path))?;
            files.push_back(RetainedFile {
                first: *first,
                last: next.saturating_sub(1),
                bytes: metadata.len(),
            });
        }
        Ok(RetainedFiles {
            folder: folder.to_owned(),
            retention,
            clock,
            files,
            recorded_through: removed_files(folder)?.last().map_or(0, |file| file.last),
            removed_below: Arc::default(),
        })
    }

    /// Returns the number of the first receipt whose file is not removed. Whoever watches files
    /// reads it after it missed one.
    pub(crate) fn removed_below(&self) -> Arc<AtomicU64> {
        self.removed_below.clone()
    }

    /// Adds a file that the writer has closed.
    pub(crate) fn add(&mut self, first: u64, last: u64, bytes: u64) {
        self.files.push_back(RetainedFile { first, last, bytes });
    }

    /// Returns the bytes of all closed files.
    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the space with a file that is written and has `open_bytes`.
    pub(crate) fn space(&self, open_bytes: u64) -> JournalSpace {
        JournalSpace {
            bytes: self.bytes() + open_bytes,
            free: (rustix::fs::statvfs(&self.folder).ok()).map(|disk| free_bytes(&disk)),
        }
    }

    /// Removes the oldest files that are beyond a limit, some at a time. `open_bytes` are those of
    /// the file that is written.
    pub(crate) fn remove_old(
        &mut self,
        heads: &[Head],
        open_bytes: u64,
        now: i64,
    ) -> Result<(), JournalError> {
        let aged_to = match self.retention.max_age {
            Some(_) => self.clock.time(now),
            None => now,
        };
        for _ in 0..REMOVED_AT_ONCE {
            let limit = self.limit_of_oldest(heads, open_bytes, aged_to);
            let (Some((because, head)), Some(oldest)) = (limit, self.files.front()) else {
                break;
            };
            let RetainedFile { first, last, bytes } = *oldest;
            self.record(&RemovedFile {
                first,
                last,
                bytes,
                removed_at: now,
                because,
                head,
            })?;
            self.removed_below.store(last + 1, Ordering::SeqCst);
            let path = segment::path(&self.folder, first);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(JournalError::io(&path)(error));
                }
                _ => sync_directory(&self.folder)?,
            }
            self.files.pop_front();
            tracing::info!(
                first,
                last,
                bytes,
                ?because,
                "removed a file of old receipts"
            );
        }
        Ok(())
    }

    /// Returns the limit that the oldest file is beyond, with the head that vouches for it. A file
    /// without one stays.
    fn limit_of_oldest(&self, heads: &[Head], open_bytes: u64, now: i64) -> Option<(Limit, Head)> {
        let oldest = self.files.front()?;
        // The next file could not be begun, so this one is the last.
        if self.files.len() == 1 && open_bytes == 0 {
            return None;
        }
        let head = heads.iter().find(|head| head.sequence >= oldest.last)?;
        let age = u64::try_from(now.saturating_sub(head.at)).unwrap_or(0);
        let too_old = |max: Duration| u128::from(age) > max.as_millis();
        let too_large = |max: u64| self.bytes() + open_bytes > max;
        let limit = if self.retention.max_age.is_some_and(too_old) {
            Limit::Age
        } else if self.retention.max_bytes.is_some_and(too_large) {
            Limit::Size
        } else {
            return None;
        };
        Some((limit, head.clone()))
    }

    /// Makes the record of a removal durable. A removal that a crash ended is recorded once.
    fn record(&mut self, removed: &RemovedFile) -> Result<(), JournalError> {
        if removed.last > self.recorded_through {
            append_line(&self.folder, REMOVED, removed)?;
            self.recorded_through = removed.last;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;
