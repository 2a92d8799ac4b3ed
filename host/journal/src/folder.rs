//! What stands in a journal's folder beside its receipts: the host's key, the lock, the heads.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use domesday_package::{PublicKey, Sha256Digest, SigningKey};

use crate::{Head, JournalError};

const PRIVATE: &str = "host.key";
const PUBLIC: &str = "host.pub";
const HEADS: &str = "heads.jsonl";
const HEADS_NEW: &str = "heads.jsonl.new";
const LOCK: &str = "lock";

/// Receipts between two heads that are kept for ever.
const APART: u64 = 10_000;

/// What the first receipt follows: the host's key, so that no other host's journal can be put in its place.
pub(crate) fn opening(host: &PublicKey) -> Sha256Digest {
    Sha256Digest::of(format!("domesday journal 1\n{host}\n").as_bytes())
}

/// The public key of the host whose journal this is.
///
/// # Errors
/// Where the folder holds none.
pub fn host(folder: &Path) -> Result<PublicKey, JournalError> {
    Ok(PublicKey::read(&folder.join(PUBLIC))?.0)
}

/// The heads that the host signed, in their order; none where it signed none.
///
/// # Errors
/// Where the file cannot be read, or a line is no head.
pub fn heads(folder: &Path) -> Result<Vec<Head>, JournalError> {
    let path = folder.join(HEADS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io(&path)(error)),
    };
    text.lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|error| JournalError::Damaged {
                path: path.clone(),
                problem: error.to_string(),
            })
        })
        .collect()
}

/// Makes the folder where there is none, closed to others, and keeps every other process from writing to it for
/// as long as the file is held.
pub(crate) fn locked(folder: &Path) -> Result<File, JournalError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(JournalError::io(folder))?;
    let path = folder.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
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

/// The host's key: the one that is there, or else one out of `seed`.
pub(crate) fn key(folder: &Path, seed: [u8; 32]) -> Result<SigningKey, JournalError> {
    let private = folder.join(PRIVATE);
    let key = if private.exists() {
        SigningKey::read(&private)?
    } else {
        let key = SigningKey::from_seed(seed);
        key.write(&private)?;
        key
    };
    if !folder.join(PUBLIC).exists() {
        key.public().write(&folder.join(PUBLIC), "journal")?;
    }
    Ok(key)
}

/// Adds a head. One that is followed by another within [`APART`] receipts gives its place to it, so that the file stays
/// short; what it vouched for, the later one does.
pub(crate) fn add_head(
    folder: &Path,
    kept: &mut Vec<Head>,
    head: Head,
) -> Result<(), JournalError> {
    let before = kept.iter().rev().nth(1).map_or(0, |head| head.sequence);
    if kept
        .last()
        .is_some_and(|last| last.sequence < before + APART)
    {
        kept.pop();
    }
    kept.push(head);
    let text: String = kept
        .iter()
        .filter_map(|head| serde_json::to_string(head).ok())
        .map(|line| line + "\n")
        .collect();
    let (path, new) = (folder.join(HEADS), folder.join(HEADS_NEW));
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        fs::rename(&new, &path)
    });
    written.map_err(JournalError::io(&path))
}
