//! The end of a journal: where it stands, and how it grows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domesday_package::{FileFacts, PublicKey, Sha256Digest};
use rustix::fs::Advice;

use crate::closed_file::ClosedFile;
use crate::folder::{OWNER_ONLY, free_bytes, opening, sync_directory};
use crate::line::{Receipt, SealedReceipt, last_line};
use crate::needed_snapshots::SnapshotNotes;
use crate::open_files::{FileId, OpenFiles, check_path, check_same};
use crate::padding::without_padding;
use crate::{JournalError, segment};

/// Bytes that must fit on the disk before a journal is written to again.
static FREE_SPACE_PROBE: [u8; 256 << 10] = [0; 256 << 10];

/// The free space of the disk below which no more padding is written, as a multiple of it.
const FREE_SPACE_FACTOR: u64 = 64;

/// The end of a journal. Its fields describe durable receipts only.
pub(crate) struct Tail {
    folder: PathBuf,
    /// The files that nobody replaces while the host writes.
    pub(crate) files: OpenFiles,
    /// A file is not begun before the next receipt, and not grown beyond this by much, bytes.
    file_bytes: u64,
    /// Bytes of zeros that are written behind a group where none are left.
    pub(crate) padding: u64,
    current: Option<CurrentFile>,
    /// The files that it has closed, with their facts, until the writer takes them.
    pub(crate) closed: Vec<(ClosedFile, Option<FileFacts>)>,
    snapshot_notes: SnapshotNotes,
    /// The last receipt; 0 before the first.
    pub(crate) sequence: u64,
    /// The digest of its line.
    pub(crate) digest: Sha256Digest,
}

struct CurrentFile {
    path: PathBuf,
    file: File,
    id: FileId,
    /// Bytes that are durable.
    length: u64,
    /// Bytes of the file. There are zeros behind the durable ones, in whose place the next groups
    /// go.
    allocated: u64,
    /// The number in its name.
    first: u64,
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
            padding: 0,
            current: None,
            closed: Vec::new(),
            snapshot_notes: SnapshotNotes::open(folder)?,
            sequence: 0,
            digest: opening(host),
        };
        for (first, path) in segment::list(folder)?.into_iter().rev() {
            let mut file = File::open(&path).map_err(JournalError::io(&path))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)
                .map_err(JournalError::io(&path))?;
            let whole = bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1);
            let unfinished = without_padding(&bytes[whole..]).len();
            if unfinished > 0 {
                tracing::warn!(path = %path.display(), bytes = unfinished, "an unfinished receipt is removed");
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
            let metadata = file.metadata().map_err(JournalError::io(&path))?;
            let opened = CurrentFile {
                path,
                id: FileId::of(&metadata),
                file,
                length: whole as u64,
                allocated: bytes.len() as u64,
                first,
            };
            tail.current = Some(opened.resume()?);
            break;
        }
        Ok(tail)
    }

    /// Adds receipts and makes them durable, all or none. After an error nothing is added before
    /// [`Tail::repair`].
    pub(crate) fn append(&mut self, receipts: &[SealedReceipt]) -> Result<(), JournalError> {
        self.check_files()?;
        if self.is_full() || self.current.is_none() {
            // Before the next file is there, so that zeros stand behind the last file's lines
            // alone.
            self.cut_padding()?;
            let begun = CurrentFile::begin(&self.folder, self.sequence + 1)?;
            if let Some(full) = self.current.replace(begun) {
                let facts = full.file.metadata().ok().as_ref().map(FileFacts::of);
                let closed = self.close(full);
                self.closed.push((closed, facts));
            }
        }
        let Some(current) = &mut self.current else {
            return Err(JournalError::Closed);
        };
        for need in receipts.iter().filter_map(|receipt| receipt.need.as_ref()) {
            self.snapshot_notes.note(current.first, need)?;
        }
        let (mut sequence, mut digest) = (self.sequence, self.digest);
        // This tells a torn group from damage: see `resume`.
        let durable = self.sequence;
        let mut text = String::with_capacity(receipts.iter().map(|r| r.bytes() + 224).sum());
        for receipt in receipts {
            sequence += 1;
            digest = receipt.write_line(&mut text, sequence, &digest, durable);
        }
        let mut bytes = text.into_bytes();
        let length = current.length + bytes.len() as u64;
        let mut allocated = current.allocated;
        if length > allocated {
            // A nearly full disk keeps its space for receipts and for others. A full file needs no
            // padding.
            let is_padded = length < self.file_bytes && has_space(&current.file, self.padding);
            allocated = length + if is_padded { self.padding } else { 0 };
            bytes.resize(
                usize::try_from(allocated - current.length).unwrap_or(bytes.len()),
                0,
            );
        }
        // In place of zeros, or of whatever an earlier try left there.
        current
            .file
            .write_all_at(&bytes, current.length)
            .and_then(|()| current.file.sync_data())
            .map_err(JournalError::io(&current.path))?;
        (current.length, current.allocated) = (length, allocated);
        (self.sequence, self.digest) = (sequence, digest);
        Ok(())
    }

    /// Cuts the zeros off that stand behind the last receipt.
    pub(crate) fn cut_padding(&mut self) -> Result<(), JournalError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if current.allocated > current.length {
            cut(&current.file, current.length).map_err(JournalError::io(&current.path))?;
            current.allocated = current.length;
        }
        Ok(())
    }

    /// Describes the full file, whose last receipt is that of the journal.
    fn close(&self, full: CurrentFile) -> ClosedFile {
        ClosedFile {
            path: full.path,
            first: full.first,
            last: self.sequence,
            digest: self.digest,
        }
    }

    /// Returns the bytes of the file that is written.
    pub(crate) fn open_bytes(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.length)
    }

    /// Reports whether the next receipt begins another file.
    pub(crate) fn is_full(&self) -> bool {
        let full = |current: &CurrentFile| current.length >= self.file_bytes;
        self.current.as_ref().is_some_and(full)
    }

    /// Checks that the folder and the files under their names are those that the host opened. The
    /// file of receipts is at least as long as the host wrote it.
    pub(crate) fn check_files(&self) -> Result<(), JournalError> {
        self.files.check()?;
        match &self.current {
            Some(current) => check_path(&current.path, current.id, current.length),
            None => Ok(()),
        }
    }

    /// Removes a file without a receipt, so that the next try may begin it.
    fn remove_begun(&mut self, begun: CurrentFile) -> Result<(), JournalError> {
        if let Err(error) = fs::remove_file(&begun.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            let failed = JournalError::io(&begun.path)(error);
            self.current = Some(begun);
            return Err(failed);
        }
        sync_directory(&self.folder)
    }

    /// Checks that the next file can be begun and that the disk has space for its first group. No
    /// file stays.
    fn check_next_file(&mut self) -> Result<(), JournalError> {
        let begun = CurrentFile::begin(&self.folder, self.sequence + 1)?;
        let reserved = reserve_space(&begun.file, 0).map_err(JournalError::io(&begun.path));
        self.remove_begun(begun)?;
        reserved
    }

    /// Removes everything after the last durable receipt, once an append has failed. Then reads
    /// from the disk that this receipt is still there.
    pub(crate) fn repair(&mut self) -> Result<(), JournalError> {
        self.check_files()?;
        let Some(current) = self.current.take() else {
            return self.check_next_file();
        };
        if current.length == 0 {
            // It was begun for the receipts that failed.
            self.remove_begun(current)?;
            return self.check_next_file();
        }
        // Should it fail, there is another try later.
        let mut repaired = match current.resume() {
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

impl CurrentFile {
    /// Begins the file of the receipt `first`.
    fn begin(folder: &Path, first: u64) -> Result<CurrentFile, JournalError> {
        let path = segment::path(folder, first);
        let file = OpenOptions::new()
            .create_new(true)
            .read(true)
            .write(true)
            .mode(OWNER_ONLY)
            .open(&path)
            .map_err(JournalError::io(&path))?;
        let id = file.metadata().map(|metadata| FileId::of(&metadata));
        let id = id.map_err(JournalError::io(&path));
        let id = match sync_directory(folder).and(id) {
            Ok(id) => id,
            Err(error) => {
                // The next try begins a file of this name.
                let _ = fs::remove_file(&path);
                return Err(error);
            }
        };
        Ok(CurrentFile {
            path,
            id,
            file,
            length: 0,
            allocated: 0,
            first,
        })
    }

    /// Opens the file anew to write to it, and cuts it to its length. Checks that the disk has
    /// space for another group.
    fn resume(&self) -> Result<CurrentFile, JournalError> {
        let CurrentFile { path, length, .. } = self;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(JournalError::io(path))?;
        // Another file may have been put there since. It is not cut.
        check_same(path, &file, &self.file)?;
        reserve_space(&file, *length).map_err(JournalError::io(path))?;
        Ok(CurrentFile {
            path: path.clone(),
            // The same file as before.
            id: self.id,
            file,
            length: *length,
            allocated: *length,
            first: self.first,
        })
    }
}

/// Reports whether the disk has far more free space than these bytes.
fn has_space(file: &File, bytes: u64) -> bool {
    let disk = rustix::fs::fstatvfs(file).ok();
    disk.is_some_and(|disk| free_bytes(&disk) >= bytes.saturating_mul(FREE_SPACE_FACTOR))
}

/// Cuts off what stands behind the length of a file, if anything does.
fn cut(file: &File, length: u64) -> io::Result<()> {
    if file.metadata()?.len() > length {
        file.set_len(length)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Cuts a file to its length, once there is space for the next group.
fn reserve_space(file: &File, length: u64) -> io::Result<()> {
    // First, so that a crash leaves no text of a failed group behind the zeros.
    cut(file, length)?;
    // Zeros for the next group, so that a full disk is not taken for a sound one.
    file.write_all_at(&FREE_SPACE_PROBE, length)?;
    file.sync_all()?;
    file.set_len(length)?;
    file.sync_all()?;
    // After a failed sync, the kernel's pages do not prove the bytes on the disk.
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{MemfdFlags, SealFlags};

    use super::*;
    use crate::folder::{key, lock_folder};

    #[test]
    fn a_repair_at_a_files_beginning_tries_to_begin_it_and_leaves_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let lock = lock_folder(path).unwrap();
        let host = key(path, [9; 32], true).unwrap().public();
        let files = OpenFiles::open(path, lock).unwrap();
        let mut tail = Tail::find(path, &host, 4_096, files).unwrap();
        tail.repair().unwrap();
        assert!(segment::list(path).unwrap().is_empty());
        // A folder in the place of the file imitates a disk that holds no further one.
        let next = segment::path(path, 1);
        fs::create_dir(&next).unwrap();
        let failed = tail.repair().unwrap_err();
        assert!(
            matches!(&failed, JournalError::Io { path, .. } if *path == next),
            "{failed}"
        );
        fs::remove_dir(&next).unwrap();
        // A file of the receipts that failed is removed, and the next one is tried all the same.
        tail.current = Some(CurrentFile::begin(path, 1).unwrap());
        tail.repair().unwrap();
        assert!(segment::list(path).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_was_put_in_the_place_of_another_is_neither_cut_nor_zeroed() {
        let folder = tempfile::tempdir().unwrap();
        let mut current = CurrentFile::begin(folder.path(), 1).unwrap();
        current.file.write_all_at(b"receipts", 0).unwrap();
        current.length = 4;
        let foreign = b"somebody else's file";
        fs::rename(&current.path, folder.path().join("away")).unwrap();
        fs::write(&current.path, foreign).unwrap();
        let refused = current.resume().err().unwrap();
        assert!(
            matches!(&refused, JournalError::FileReplaced { path } if *path == current.path),
            "{refused}"
        );
        assert_eq!(fs::read(&current.path).unwrap(), foreign);
        fs::rename(folder.path().join("away"), &current.path).unwrap();
        current.resume().unwrap();
        assert_eq!(fs::read(&current.path).unwrap(), b"rece");
    }

    /// A crash or a full disk between the two leaves no text of a failed group behind the zeros.
    #[test]
    fn the_text_of_a_failed_group_is_cut_before_zeros_are_written_in_its_place() {
        let flags = MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("receipts", flags).unwrap());
        file.write_all_at(b"receipts of a failed group", 0).unwrap();
        // The disk has no space for the zeros.
        rustix::fs::fcntl_add_seals(&file, SealFlags::GROW).unwrap();
        let refused = reserve_space(&file, 8).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(file.metadata().unwrap().len(), 8);
    }
}
