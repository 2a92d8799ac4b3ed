//! The flaws of a journal, and where they are.

use std::path::PathBuf;

use domesday_package::{PublicKey, Sha256Digest};

use crate::JournalError;

/// A journal could not be proved.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The first place that is wrong.
    #[error("{}, line {line}: {flaw}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The flaw.
        flaw: Flaw,
    },
    /// The whole journal against its heads.
    #[error("{0}")]
    Whole(Flaw),
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] JournalError),
}

/// A flaw of a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A line is no receipt.
    #[error("not a receipt: {0}")]
    NotAReceipt(String),
    /// Receipts are missing here, or stand here twice.
    #[error("expected receipt {expected}, found receipt {found}")]
    Sequence {
        /// The number that comes next.
        expected: u64,
        /// The number that is there.
        found: u64,
    },
    /// The line before is not the one that this receipt was chained to.
    #[error(
        "receipt {sequence} names {expected} as the digest of the line before it, but that line has {found}: it was altered or replaced"
    )]
    Link {
        /// The receipt.
        sequence: u64,
        /// The digest that it states.
        expected: Sha256Digest,
        /// The digest found.
        found: Sha256Digest,
    },
    /// A line is not as it was written.
    #[error("receipt {sequence} was altered: its text does not match its check")]
    Check {
        /// The receipt.
        sequence: u64,
    },
    /// A receipt names another group than its own or the one that it begins.
    #[error(
        "receipt {sequence} was altered: it cannot have been written when {durable} was the last durable receipt"
    )]
    Group {
        /// The receipt.
        sequence: u64,
        /// The last durable receipt that it states.
        durable: u64,
    },
    /// The first receipt belongs to another host's journal.
    #[error("receipt 1 does not begin the journal of {host}")]
    OtherHost {
        /// The host's key.
        host: PublicKey,
    },
    /// A head says otherwise.
    #[error(
        "the host signed receipt {sequence} with digest {signed}, but it has {found}: it was rewritten"
    )]
    Head {
        /// The receipt.
        sequence: u64,
        /// The digest in the head.
        signed: Sha256Digest,
        /// The digest found.
        found: Sha256Digest,
    },
    /// A head is not the host's.
    #[error("the head of receipt {sequence} does not have the signature of {host}")]
    Forged {
        /// The receipt.
        sequence: u64,
        /// The host's key.
        host: PublicKey,
    },
    /// There were more receipts.
    #[error(
        "the journal ends with receipt {last}, but its host signed receipt {signed}: it was cut short"
    )]
    CutShort {
        /// The last that is there.
        last: u64,
        /// The first of the signed ones that is not.
        signed: u64,
    },
}
