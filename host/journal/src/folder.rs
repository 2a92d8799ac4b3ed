//! The files beside the receipts in a journal's folder: the host's key, the lock, the heads.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use domesday_package::{PublicKey, Sha256Digest, SigningKey, make_directory};

pub(crate) use crate::open_files::{HEADS, LOCK, PUBLIC};
use rustix::fs::StatVfs;

use crate::open_files::{OpenFiles, PRIVATE};
use crate::{Head, JournalError};

const HEADS_NEW: &str = "heads.jsonl.new";

/// Read and write for the owner alone.
pub(crate) const OWNER_ONLY: u32 = 0o600;

/// Returns the digest to which the first receipt is chained. It covers the host's key, so that no
/// other host's journal can take its place.
pub(crate) fn opening(host: &PublicKey) -> Sha256Digest {
    Sha256Digest::of(format!("domesday journal 1\n{host}\n").as_bytes())
}

/// Reads the public key of the host whose journal this is.
///
/// # Errors
/// [`JournalError::NotAJournal`] if the folder holds no key, [`JournalError::Key`] for a bad one.
pub(crate) fn host(folder: &Path) -> Result<PublicKey, JournalError> {
    if !folder.join(PUBLIC).exists() {
        return Err(JournalError::NotAJournal {
            folder: folder.to_owned(),
        });
    }
    Ok(PublicKey::read(&folder.join(PUBLIC))?.0)
}

/// Reads the heads that the host signed, in their order. Returns none where the host signed none.
///
/// # Errors
/// [`JournalError::Io`] if the file cannot be read, [`JournalError::NotAHead`] for a bad line.
pub fn heads(folder: &Path) -> Result<Vec<Head>, JournalError> {
    let path = folder.join(HEADS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io(&path)(error)),
    };
    text.lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|error| JournalError::NotAHead {
                path: path.clone(),
                problem: error.to_string(),
            })
        })
        .collect()
}

/// Reads the last head of a journal, which its own host signed. A copy of it elsewhere vouches for
/// the receipts up to there.
///
/// # Errors
/// [`JournalError::NoHead`] where the host signed none yet, [`JournalError::ForeignHead`] where the
/// last one is not the host's. [`JournalError::NotAJournal`] or [`JournalError::Key`] for the
/// host's key, and otherwise as [`heads`].
pub fn last_head(folder: &Path) -> Result<Head, JournalError> {
    let host = host(folder)?;
    let Some(head) = heads(folder)?.pop() else {
        return Err(JournalError::NoHead {
            folder: folder.to_owned(),
        });
    };
    match head.signer() == Some(host) {
        true => Ok(head),
        false => Err(JournalError::ForeignHead {
            folder: folder.to_owned(),
        }),
    }
}

/// Makes creations, renames and removals in `directory` durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), JournalError> {
    domesday_package::sync_directory(directory).map_err(JournalError::io(directory))
}

/// Returns the bytes of a disk that this process may still take.
pub(crate) fn free_bytes(disk: &StatVfs) -> u64 {
    disk.f_bavail.saturating_mul(disk.f_frsize)
}

/// Creates the folder where there is none, closed to others, and locks it. No other process writes
/// to the folder while the returned file is open.
pub(crate) fn lock_folder(folder: &Path) -> Result<File, JournalError> {
    make_directory(folder).map_err(JournalError::io(folder))?;
    let path = folder.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(OWNER_ONLY)
        .open(&path)
        .map_err(JournalError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::AlreadyOpen {
            folder: folder.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(JournalError::io(&path)(error)),
    }
}

/// Reads the host's private key. A new journal without one takes a key from `seed`.
pub(crate) fn key(folder: &Path, seed: [u8; 32], new: bool) -> Result<SigningKey, JournalError> {
    let (private, public) = (folder.join(PRIVATE), folder.join(PUBLIC));
    let other = |problem| JournalError::OtherKey {
        folder: folder.to_owned(),
        problem,
    };
    if !private.exists() {
        if !new || public.exists() {
            return Err(other("the host's private key is gone"));
        }
        SigningKey::from_seed(seed).write(&private)?;
    }
    let key = SigningKey::read(&private)?;
    if !public.exists() && new {
        key.public().write(&public, "journal")?;
        sync_directory(folder)?;
    }
    if host(folder)? != key.public() {
        return Err(other("host.key does not belong to host.pub"));
    }
    Ok(key)
}

/// Adds a head. Where `replace_last` is set, it replaces the last head, so that the file stays
/// short: the later head vouches for the same receipts.
pub(crate) fn add_head(
    folder: &Path,
    heads: &mut Vec<Head>,
    head: Head,
    replace_last: bool,
    files: &mut OpenFiles,
) -> Result<(), JournalError> {
    if replace_last {
        heads.pop();
    }
    heads.push(head);
    let text: String = heads
        .iter()
        .filter_map(|head| serde_json::to_string(head).ok())
        .map(|line| line + "\n")
        .collect();
    let (path, new) = (folder.join(HEADS), folder.join(HEADS_NEW));
    let opened = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(OWNER_ONLY)
        .open(&new);
    let written = opened.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        fs::rename(&new, &path)?;
        Ok(file)
    });
    let file = written.map_err(JournalError::io(&path))?;
    files.replace_heads(path, file)?;
    // Until this the old name may come back after a crash, and with it the old heads.
    sync_directory(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_where_the_directory_is_to_be_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal");
        std::fs::write(&file, "").unwrap();
        let error = lock_folder(&file).unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
    }

    #[test]
    fn heads_that_cannot_be_read_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(HEADS);
        assert!(heads(folder.path()).unwrap().is_empty());
        fs::create_dir(&file).unwrap();
        let unreadable = heads(folder.path()).unwrap_err();
        assert!(matches!(unreadable, JournalError::Io { path, .. } if path == file));
        fs::remove_dir(&file).unwrap();
        fs::write(&file, "a line\n").unwrap();
        let other = heads(folder.path()).unwrap_err();
        assert!(matches!(other, JournalError::NotAHead { path, .. } if path == file));
    }

    #[test]
    fn a_directory_that_is_not_there_cannot_be_made_durable() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_directory(&folder.path().join("absent")).is_err());
    }

    #[test]
    fn a_key_is_made_for_a_new_journal_alone() {
        // The private key is there, the public key is there, the journal is new: it opens.
        for (private, public, new, opens) in [
            (false, false, true, true),
            (true, false, true, true),
            (true, true, true, true),
            (true, true, false, true),
            (true, false, false, false),
            (false, true, true, false),
            (false, true, false, false),
            (false, false, false, false),
        ] {
            let case = format!("private {private}, public {public}, new {new}");
            let folder = tempfile::tempdir().unwrap();
            let (private_path, public_path) =
                (folder.path().join(PRIVATE), folder.path().join(PUBLIC));
            let host = SigningKey::from_seed([9; 32]);
            if private {
                host.write(&private_path).unwrap();
            }
            if public {
                host.public().write(&public_path, "journal").unwrap();
            }
            assert_eq!(key(folder.path(), [9; 32], new).is_ok(), opens, "{case}");
            assert_eq!(private_path.exists(), private || opens, "{case}");
        }
    }
}
