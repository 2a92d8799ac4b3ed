//! The files of a backup: durable copies with their digests.

use super::error::BackupError;
use domesday_journal::WrittenBytes;
use domesday_package::{FileEntry, FilePath, Sha256Digest};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Copies a file into a new one (mode 0600), and makes it durable. Returns the facts of the bytes
/// that were copied, which may be fewer than a file that grows has by then.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<FileEntry, BackupError> {
    let source = File::open(from).map_err(BackupError::io(from))?;
    copy(source, to)
}

/// Copies a file of receipts as [`copy_file`] does, up to its first zero.
pub(super) fn copy_receipts(from: &Path, to: &Path) -> Result<FileEntry, BackupError> {
    let source = File::open(from).map_err(BackupError::io(from))?;
    copy(WrittenBytes::new(source), to)
}

fn copy(source: impl Read, to: &Path) -> Result<FileEntry, BackupError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut copied = options.open(to).map_err(BackupError::io(to))?;
    let (sha256, bytes) = Sha256Digest::of_stream(source, |piece| copied.write_all(piece))
        .and_then(|facts| copied.sync_all().map(|()| facts))
        .map_err(BackupError::io(to))?;
    Ok(FileEntry { bytes, sha256 })
}

/// Computes the facts of a file.
pub(super) fn file_entry(path: &Path) -> Result<FileEntry, BackupError> {
    let (sha256, bytes) = File::open(path)
        .and_then(|file| Sha256Digest::of_stream(file, |_| Ok(())))
        .map_err(BackupError::io(path))?;
    Ok(FileEntry { bytes, sha256 })
}

/// Returns the path of a file in a manifest.
pub(super) fn manifest_path(path: &str) -> Result<FilePath, BackupError> {
    path.parse().map_err(|_| BackupError::Name {
        path: PathBuf::from(path),
    })
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), BackupError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(BackupError::io(folder))
}

/// Checks that nothing stands at a path, or an empty folder at most.
pub(super) fn check_free(path: &Path) -> Result<(), BackupError> {
    let taken = match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    match taken {
        true => Err(BackupError::Exists {
            path: path.to_owned(),
        }),
        false => Ok(()),
    }
}

/// Returns the folder that holds a path.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
