//! The data that must survive a crash:
//!
//! - tenants, plans and keys
//! - units used, and the ledger of who used them
//! - jobs, their rows, results and idempotency keys
//! - the operators' switches
//! - the ledger of promotions
//! - the secrets of cursors
//! - the keys of receipts
//!
//! **One trait.** [`State`] defines the stored data and the promise of each operation, by concern:
//! [`Accounts`], [`Usage`], [`Jobs`], [`Switches`], [`Cursors`], [`ReceiptKeys`], [`Promotions`],
//! [`Backup`]. A store joins by passing the same test suite, which is generic over the trait.
//!
//! **Durable before it answers.** An operation that changes something answers after its transaction
//! has reached the disk. A crash does not undo an operation that answered `Ok`.
//!
//! **Three kinds of waiting.** The calls of every request ([`Accounts::authenticate`],
//! [`Switches::jobs_paused`]) answer from memory and never wait. The calls of operators are rare,
//! and block. The calls that must be durable while a request waits do not block, and a [`Reply`]
//! answers them later. So the store makes many of them durable together, and they overlap with
//! other work.
//!
//! **Groups.** The embedded store has one committing thread. It takes every operation that waits,
//! applies them in one transaction, and answers them after one sync. So sixty-four charges cost
//! little more than one. An operation checks everything before it writes, so that a refused one
//! harms no other of its group. The store counts nothing in memory: the durable counts decide.
//!
//! **A failing disk.** Where a commit fails, each operation of its group is answered with
//! [`StateError::Storage`]. [`Switches::degradation`] gives the reason, and the store refuses new
//! operations at once. It opens the file anew with growing pauses until the file can be written,
//! and then reads its memory from it again. Authentication goes on from memory all the while. Units
//! of refused charges and refunds are given back with its first write.
//!
//! **Files that move.** Before each commit and once a second, the embedded store checks its folder
//! and files. Their device and inode must be those that it has open. A file that was moved or
//! deleted under it is [`StateError::Moved`] until it is back: nothing is made in its place.
//!
//! **Submissions of unknown outcome.** A client finds its job again by its key. A job without a key
//! whose submission ended with an error is withdrawn ([`Jobs::withdraw`]).
//!
//! **Jobs.** A claim carries a fencing number, and a host whose number is not the job's last writes
//! nothing. A lease of the embedded store ends with the process that had it. A host claims the jobs
//! that it can work on alone ([`Claimant`]).
//!
//! **Objects.** The rows or the results of a chunk may be in object storage. The state then stores
//! an [`ObjectReference`] in their place, and counts the bytes of the object as its tenant's.
//!
//! **Keys.** A key is `dk_`, its public id, `_` and 32 random bytes. The id finds the record in one
//! step. The record holds SHA-256 of the key, compared in constant time. A slow password hash would
//! buy nothing: it slows the guessing of secrets that people choose, and nobody guesses 256 random
//! bits. The key itself is returned once, as a [`Secret`], and kept nowhere.
//!
//! **Time and randomness are arguments.** Nothing here reads a clock or draws a random number.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod accounts;
mod backup;
mod claim_delivery;
mod claimant;
mod cursor_secrets;
mod damaged_jobs;
mod directory;
mod embedded;
mod error;
mod host_share;
mod job;
mod job_setbacks;
mod jobs;
mod key;
mod month;
mod object_reference;
mod open_path;
mod passed_over;
mod plan;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "without_postgres.rs"]
mod postgres;
mod principal;
mod promotion_history;
mod promotion_proof;
mod promotions;
mod receipt_keys;
mod reply;
mod scope;
mod state;
mod switches;
mod tenant;
#[cfg(test)]
mod test_support;
mod time;
mod timed_state;
mod usage;
mod usage_ledger;
mod usage_retention;
mod write_timer;

pub use accounts::Accounts;
pub use backup::{Backup, StateCopy};
pub use claimant::Claimant;
pub use cursor_secrets::{CursorSecret, CursorSecrets, Cursors};
pub use embedded::EmbeddedState;
pub use error::StateError;
pub use host_share::{HostShare, HostShareError};
pub use job::{
    ChunkResults, Claim, IDEMPOTENCY_RETENTION_MILLIS, Idempotency, JOB_RETENTION_MILLIS, Job,
    JobError, JobMode, JobStatus, Lease, LeaseStatus, NewChunk, NewJob, PurgeCounts, Submission,
    Tally,
};
pub use job_setbacks::{JobSetbacks, SETBACK_TIME, SetbackCause, SetbackOutcome};
pub use jobs::Jobs;
pub use key::{CreatedKey, KeyId, KeyRecord, KeySeed, MalformedKey, NewKey, Secret};
pub use month::{Month, MonthError};
pub use object_reference::ObjectReference;
pub use open_path::{OpenPath, PathMoved, PathTarget};
pub use passed_over::{PassedOverJobs, ReleaseRetries};
pub use plan::Plan;
#[cfg(feature = "postgres")]
pub use postgres::PostgresState;
pub use postgres::open_postgres;
pub use principal::{Access, Denial, Principal};
pub use promotion_history::{HistoryError, check_history, promoted_at};
pub use promotion_proof::{
    UnprovedPromotion, last_trusted_entry, last_trusted_promotion, prove_promotion,
};
pub use promotions::{
    LONGEST_REASON, LedgerFlaw, LedgerHash, LedgerProblem, LedgerRecord, LedgerSigner,
    NewPromotion, PromotionEntry, Promotions, is_reason, verify_ledger,
};
pub use receipt_keys::{ReceiptKey, ReceiptKeys};
pub use reply::Reply;
pub use scope::{DatasetAccess, Scope, ScopeError, Scopes};
pub use state::State;
pub use switches::{ConnectionPool, ReleaseKind, Switches};
pub use tenant::{Tenant, TenantId, TenantIdError};
pub use time::UnixMillis;
pub use timed_state::{StateObserver, TimedState};
pub use usage::{Charge, ChargeOutcome, Usage};
pub use usage_ledger::{
    RemovedEntries, UsageEntry, UsageKind, UsagePage, UsagePosition, UsageQuery, UsageSource,
};
pub use usage_retention::first_month_kept;

#[cfg(test)]
extern crate self as domesday_state;

#[cfg(test)]
mod tests;
