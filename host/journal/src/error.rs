//! The errors of a journal.

use std::io;
use std::path::{Path, PathBuf};

use domesday_package::KeyError;

/// A journal could not be opened or written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("cannot read or write {}: {problem}", path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// The file system's error.
        problem: String,
    },
    /// The disk does not answer. Receipts that wait may still become durable.
    #[error("the journal's disk has not answered for {seconds} s; free it, or restart the server")]
    Stalled {
        /// Seconds since the work on the disk began.
        seconds: u64,
    },
    /// The host's key could not be read or made.
    #[error("cannot use the key of the journal's host: {0}")]
    Key(String),
    /// Another process writes this journal.
    #[error("the journal {} is written by another process; give each server its own journal", folder.display())]
    AlreadyOpen {
        /// The journal's folder.
        folder: PathBuf,
    },
    /// The folder holds no journal.
    #[error("there is no journal in {}. Name the folder of the server's `--journal`", folder.display())]
    NotAJournal {
        /// The folder.
        folder: PathBuf,
    },
    /// The file of heads has a line that is not a head.
    #[error("{}: invalid head: {problem}. Put the file back from a copy", path.display())]
    NotAHead {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The host signed no head yet.
    #[error("the journal {} has no signed head yet; a host signs one within a second of its first receipt", folder.display())]
    NoHead {
        /// The journal's folder.
        folder: PathBuf,
    },
    /// The last head has no good signature by the journal's host.
    #[error(
        "the last head of the journal {} is not signed by its host. Verify the journal with \
         `domesday replay --journal`, and compare it with a copy",
        folder.display()
    )]
    ForeignHead {
        /// The journal's folder.
        folder: PathBuf,
    },
    /// The host's key is gone, or is not the one that the journal was begun with.
    #[error("cannot resume the journal {}: {problem}. Put the key back, or begin another journal in an empty folder", folder.display())]
    OtherKey {
        /// The journal's folder.
        folder: PathBuf,
        /// The problem.
        problem: &'static str,
    },
    /// The journal contradicts the host's signed heads, so nothing is added to it.
    #[error(
        "cannot resume the journal: {0}. Keep it unchanged, inspect it with `domesday replay --journal`, and start another in an empty folder"
    )]
    NotSound(String),
    /// A receipt that may have been acknowledged is damaged, so nothing is added after it.
    #[error(
        "cannot resume the journal: {}, line {line}: {problem}. A crash damages only receipts that were never acknowledged; \
         this one may have been. Nothing was changed. Put the file back from a copy, or keep the folder as evidence and start with \
         `--journal` set to an empty folder; `domesday replay --journal` proves the receipts before the damage",
        path.display()
    )]
    DamagedReceipt {
        /// The file.
        path: PathBuf,
        /// Counted from 1. The chain shows some alterations only at the line that follows.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// An earlier file is damaged under a running host, so nothing is added to the journal.
    #[error(
        "the journal is damaged: {}, line {line}: {problem}. Put the file back from a copy: the host reads it again and \
         goes on. Or keep the folder as evidence and restart with `--journal` set to an empty folder",
        path.display()
    )]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// Counted from 1. The chain shows some alterations only at the line that follows.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// Somebody moved, cut or replaced a file or the folder under a running host.
    #[error(
        "{} is no longer the file or folder that this host opened: it was moved, cut or replaced. Put it back",
        path.display()
    )]
    FileReplaced {
        /// The file or folder.
        path: PathBuf,
    },
    /// The last line cannot be continued from.
    #[error("{} does not end with a receipt: {problem}. Prove the journal with `domesday replay --journal`, and begin another in an empty folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The journal's thread has ended.
    #[error("the journal is closed, since its thread has ended; restart the server")]
    Closed,
}

impl JournalError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
        let path = path.to_owned();
        move |error| JournalError::Io {
            path,
            problem: error.to_string(),
        }
    }
}

impl From<KeyError> for JournalError {
    fn from(error: KeyError) -> Self {
        JournalError::Key(error.to_string())
    }
}

/// A sealed record does not open. It has another key, or somebody altered it or its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot open the record: it was altered, or sealed with another key")]
pub struct SealError;
