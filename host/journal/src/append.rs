//! The end of a journal: where it stands, and how it grows.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domesday_package::{PublicKey, Sha256Digest};
use rustix::fs::Advice;

use crate::folder::{OWNER_ONLY, opening, sync_directory};
use crate::line::{Receipt, SealedReceipt};
use crate::open_files::{OpenFiles, check_path};
use crate::{JournalError, segment};

/// Bytes that must fit on the disk before a journal is written to again.
static FREE_SPACE_PROBE: [u8; 256 << 10] = [0; 256 << 10];

/// The end of a journal. Its fields describe durable receipts only.
pub(crate) struct Tail {
    folder: PathBuf,
    /// The files that nobody replaces while the host writes.
    pub(crate) files: OpenFiles,
    /// A file is not begun before the next receipt, and not grown beyond this by much, bytes.
    file_bytes: u64,
    current: Option<Current>,
    /// The last receipt; 0 before the first.
    pub(crate) sequence: u64,
    /// The digest of its line.
    pub(crate) digest: Sha256Digest,
}

struct Current {
    path: PathBuf,
    file: File,
    /// Bytes that are durable.
    length: u64,
}

impl Tail {
    /// Finds the end. Removes an unfinished line, which was never acknowledged.
    pub(crate) fn find(
        folder: &Path,
        host: &PublicKey,
        file_bytes: u64,
        files: OpenFiles,
    ) -> Result<Tail, JournalError> {
        let mut tail = Tail {
            folder: folder.to_owned(),
            files,
            file_bytes,
            current: None,
            sequence: 0,
            digest: opening(host),
        };
        for (_, path) in segment::list(folder)?.into_iter().rev() {
            let bytes = fs::read(&path).map_err(JournalError::io(&path))?;
            let whole = bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1);
            if whole < bytes.len() {
                tracing::warn!(path = %path.display(), bytes = bytes.len() - whole, "an unfinished receipt is removed");
            }
            if whole == 0 {
                fs::remove_file(&path).map_err(JournalError::io(&path))?;
                sync_directory(folder)?;
                continue;
            }
            let line = last_line(&bytes[..whole]);
            let receipt: Receipt =
                serde_json::from_slice(line).map_err(|error| JournalError::Damaged {
                    path: path.clone(),
                    problem: error.to_string(),
                })?;
            tail.sequence = receipt.sequence;
            tail.digest = Sha256Digest::of(line);
            tail.current = Some(Current::resume(path, whole as u64)?);
            break;
        }
        Ok(tail)
    }

    /// Adds receipts and makes them durable, all or none. After an error nothing is added before
    /// [`Tail::repair`].
    pub(crate) fn append(&mut self, receipts: &[SealedReceipt]) -> Result<(), JournalError> {
        self.check_files()?;
        if self.is_full() || self.current.is_none() {
            let path = segment::path(&self.folder, self.sequence + 1);
            self.current = Some(Current::begin(&self.folder, path)?);
        }
        let Some(current) = &mut self.current else {
            return Err(JournalError::Closed);
        };
        let (mut sequence, mut digest) = (self.sequence, self.digest);
        // This tells a torn group from damage: see `resume`.
        let durable = self.sequence;
        let mut text = String::with_capacity(receipts.iter().map(|r| r.bytes() + 192).sum());
        for receipt in receipts {
            sequence += 1;
            let line = receipt.line(sequence, &digest, durable);
            digest = Sha256Digest::of(line.as_bytes());
            text.push_str(&line);
            text.push('\n');
        }
        // In place of whatever an earlier try left there.
        current
            .file
            .write_all_at(text.as_bytes(), current.length)
            .and_then(|()| current.file.sync_data())
            .map_err(JournalError::io(&current.path))?;
        current.length += text.len() as u64;
        (self.sequence, self.digest) = (sequence, digest);
        Ok(())
    }

    /// Reports whether the next receipt begins another file.
    pub(crate) fn is_full(&self) -> bool {
        let full = |current: &Current| current.length >= self.file_bytes;
        self.current.as_ref().is_some_and(full)
    }

    /// Checks that the folder and the files under their names are those that the host opened. The
    /// file of receipts is at least as long as the host wrote it.
    pub(crate) fn check_files(&self) -> Result<(), JournalError> {
        self.files.check()?;
        match &self.current {
            Some(current) => check_path(&current.path, &current.file, current.length),
            None => Ok(()),
        }
    }

    /// Removes everything after the last durable receipt, once an append has failed. Then reads
    /// from the disk that this receipt is still there.
    pub(crate) fn repair(&mut self) -> Result<(), JournalError> {
        self.check_files()?;
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        if current.length == 0 {
            // It was begun for the receipts that failed.
            let removed = fs::remove_file(&current.path);
            return removed.map_err(JournalError::io(&current.path));
        }
        let reopened = Current::resume(current.path.clone(), current.length);
        // Should it fail, there is another try later.
        let mut repaired = match reopened {
            Ok(repaired) => repaired,
            Err(error) => {
                self.current = Some(current);
                return Err(error);
            }
        };
        let mut bytes = Vec::new();
        let read = repaired
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| repaired.file.read_to_end(&mut bytes))
            .map_err(JournalError::io(&current.path));
        if read.is_err() || Sha256Digest::of(last_line(&bytes)) != self.digest {
            self.current = Some(current);
            read?;
            return Err(JournalError::Damaged {
                path: repaired.path,
                problem: "its last receipt is not the one that was written".to_owned(),
            });
        }
        self.current = Some(repaired);
        Ok(())
    }
}

impl Current {
    fn begin(folder: &Path, path: PathBuf) -> Result<Current, JournalError> {
        let file = OpenOptions::new()
            .create_new(true)
            .read(true)
            .write(true)
            .mode(OWNER_ONLY)
            .open(&path)
            .map_err(JournalError::io(&path))?;
        if let Err(error) = sync_directory(folder) {
            // So that the next try may begin it.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        Ok(Current {
            path,
            file,
            length: 0,
        })
    }

    fn resume(path: PathBuf, length: u64) -> Result<Current, JournalError> {
        let resumed = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .and_then(|file| {
                // First, so that a crash leaves no text of a failed group behind the zeros.
                if file.metadata()?.len() > length {
                    file.set_len(length)?;
                    file.sync_all()?;
                }
                // Room for the next group, so that a full disk is not taken for a sound one.
                file.write_all_at(&FREE_SPACE_PROBE, length)?;
                file.sync_all()?;
                file.set_len(length)?;
                file.sync_all()?;
                // After a failed sync, the kernel's pages do not prove the bytes on the disk.
                rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
                Ok(file)
            });
        match resumed {
            Ok(file) => Ok(Current { path, file, length }),
            Err(error) => Err(JournalError::io(&path)(error)),
        }
    }
}

/// Returns the last line of whole lines, without its end of line.
fn last_line(bytes: &[u8]) -> &[u8] {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = body
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    &body[start..]
}
