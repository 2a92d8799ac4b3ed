//! The files of a backup: durable copies with their digests.

use crate::error::BackupError;
use domesday_journal::WrittenBytes;
use domesday_package::{FileEntry, FilePath, Sha256Digest, sync_directory};
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
    sync_directory(folder).map_err(BackupError::io(folder))
}

/// Checks that nothing stands at a path, or an empty folder at most.
pub(super) fn check_free(path: &Path) -> Result<(), BackupError> {
    let taken = match fs::read_dir(path) {
        Ok(mut entries) => entries.next().transpose().map(|entry| entry.is_some()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        // A file, unless one of the folders above is none.
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            path.symlink_metadata().map(|_| true)
        }
        Err(error) => Err(error),
    };
    match taken.map_err(BackupError::io(path))? {
        true => Err(BackupError::Exists {
            path: path.to_owned(),
        }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_free_taken_or_cannot_be_read() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        check_free(&place.path().join("absent")).unwrap();
        for taken in [place.path(), &file] {
            let error = check_free(taken).unwrap_err();
            assert!(matches!(error, BackupError::Exists { .. }), "{error}");
        }
        fs::remove_file(&file).unwrap();
        check_free(place.path()).unwrap();
        let error = check_free(&place.path().join("x".repeat(300))).unwrap_err();
        assert!(matches!(error, BackupError::Io { .. }), "{error}");
    }
}
