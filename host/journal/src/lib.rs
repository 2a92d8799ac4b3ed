//! Receipts of valuations: an append-only journal of one host.
//!
//! **A line a receipt.** A journal is a folder of text files, one JSON object a line. A line has
//! its number, the SHA-256 of the line before it, the header of the receipt, and the record itself,
//! sealed. So anybody can follow the chain with common tools, and nobody reads a record without its
//! tenant's key.
//!
//! **Sealed by tenant.** A record is encrypted under a key of its tenant alone ([`TenantKey`]), and
//! bound to the header of its line. Erasing that key makes the records unreadable for good and
//! leaves the chain whole.
//!
//! **Signed heads.** The host signs the number and digest of the last line ([`Head`]). It does so
//! at most a second after a receipt, and whenever the journal is closed. A head that is stored
//! elsewhere shows that the journal was cut short or written anew, even by the host itself.
//!
//! **Durable before the answer.** [`Journal::append`] queues a receipt for the one thread that
//! writes, and returns a ticket. [`Journal::wait_until_durable`] waits until that receipt has
//! reached the disk, with all those that waited beside it.
//!
//! **Retention.** The oldest whole files go once they are too old, or the journal too large
//! ([`Retention`]). A record tells which, and the chain is proved from the first receipt that
//! stays.
//!
//! This crate does not know the content of a record.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod age_clock;
mod append;
mod closed_file;
mod disk_work;
mod error;
mod flaw;
mod folder;
mod head;
mod json_lines;
mod key_cache;
mod line;
mod needed_snapshots;
mod open_files;
mod padding;
mod queue;
mod restored;
mod resume;
mod retention;
mod scrub;
mod seal;
mod segment;
#[cfg(test)]
mod test_warnings;
mod verify;
mod writer;

pub use error::{JournalError, SealError};
pub use flaw::{Flaw, VerifyError};
pub use folder::{heads, last_head};
pub use head::Head;
pub use key_cache::KeyCache;
pub use line::{Receipt, ReceiptHeader, SealedReceipt, prepare};
pub use needed_snapshots::{NeededPackages, NeededRelease, NeededSnapshot, needed_packages};
pub use padding::WrittenBytes;
pub use restored::{JOURNAL, RESTORED_JOURNAL, name_after_restore, restored_journals};
pub use retention::{JournalSpace, Limit, RemovedFile, Retention, removed_files};
pub use seal::TenantKey;
pub use segment::{PREFIX as FILE_PREFIX, SUFFIX as FILE_SUFFIX};
pub use verify::{Expectations, Proof, verify};
pub use writer::{Journal, Now, Ticket};

#[cfg(test)]
extern crate self as domesday_journal;

#[cfg(test)]
mod tests;
