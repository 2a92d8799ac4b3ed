//! An asynchronous job and its stored parts.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Month, TenantId, UnixMillis};

/// The depth of a job's results, and the kind of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JobMode {
    /// Existing property, core results.
    Simple,
    /// Existing property, with evidence where asked for.
    Standard,
    /// Proposed property.
    Development,
}

/// The status of a job. It moves queued, running, then completed or failed, and never back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JobStatus {
    /// Accepted.
    Queued,
    /// Some host began it.
    Running,
    /// All rows have results.
    Completed,
    /// It cannot be finished.
    Failed,
}

/// The reason why a job failed, in the public contract's terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    /// The code.
    pub code: String,
    /// A message for a person.
    pub message: String,
    /// True if the same job may succeed when it is submitted again.
    pub retryable: bool,
}

/// Results by status. Their sum is the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Rows valued.
    pub valued: u32,
    /// Rows referred.
    pub referred: u32,
    /// Rows rejected.
    pub rejected: u32,
    /// Rows whose valuation failed.
    pub valuation_failed: u32,
}

/// A job as its tenant sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: Uuid,
    /// The tenant that owns it.
    pub tenant: TenantId,
    /// Its mode.
    pub mode: JobMode,
    /// Status of the job.
    pub status: JobStatus,
    /// The release that was active at its submission.
    pub release_id: String,
    /// Its rows.
    pub request_count: u32,
    /// Time at which the job was accepted.
    pub created_at: UnixMillis,
    /// Time of the last change of its status or end of a chunk.
    pub updated_at: UnixMillis,
    /// From when on it is gone.
    pub expires_at: UnixMillis,
    /// The pieces that its rows are divided into.
    pub chunks: u32,
    /// The results of its finished chunks, by status.
    pub tally: Tally,
    /// The reason for the failure, if it failed.
    pub error: Option<JobError>,
}

impl Job {
    /// Returns the job as its key reports it. A job that was not finished in time has failed.
    pub(crate) fn final_document(mut self, now: UnixMillis) -> Job {
        let unfinished = matches!(self.status, JobStatus::Queued | JobStatus::Running);
        if unfinished && self.expires_at <= now {
            self.status = JobStatus::Failed;
            self.updated_at = self.expires_at;
            self.error = Some(JobError {
                code: "job_expired".into(),
                message: "the job was not finished before it expired".into(),
                retryable: true,
            });
        }
        self
    }
}

/// A piece of a new job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChunk {
    /// Rows in it.
    pub rows: u32,
    /// Units that it costs: its rows that were parsed without an error.
    pub units: u32,
    /// The rows, in the server's own form, or a reference to their object.
    pub input: Vec<u8>,
}

/// The idempotency key of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The tenant's key.
    pub key: String,
    /// SHA-256 of the canonical body.
    pub digest: [u8; 32],
}

/// A job to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// Its id.
    pub id: Uuid,
    /// The tenant that owns it.
    pub tenant: TenantId,
    /// Its mode.
    pub mode: JobMode,
    /// The release that it stays on.
    pub release_id: String,
    /// The data that all chunks share (its options), in the server's own form.
    pub shared: Vec<u8>,
    /// Its rows, at least one chunk.
    pub chunks: Vec<NewChunk>,
    /// The key that it may be repeated by.
    pub idempotency: Option<Idempotency>,
    /// The month that its units are charged to.
    pub month: Month,
    /// The tenant's units a month.
    pub allowance: u64,
    /// Jobs that the tenant may have queued or running, this one included.
    pub queued_jobs: u32,
    /// Bytes that the tenant's inputs and results may occupy, this input included.
    pub stored_bytes: u64,
    /// Now.
    pub now: UnixMillis,
}

/// The outcome of a submission. Only [`Submission::Accepted`] changes the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submission {
    /// The job, its rows, its key and its units are durable.
    Accepted(Job),
    /// The key is known with the same body: its job, which may be gone but for its document.
    Known(Job),
    /// The key is known with another body.
    Conflict,
    /// The key was known too long ago.
    KeyExpired,
    /// New jobs are not taken at present.
    Paused,
    /// The tenant has as many jobs queued or running as its plan allows.
    QueueFull,
    /// The tenant's jobs occupy as many bytes as its plan allows.
    StoreFull,
    /// The units do not fit into the month's allowance.
    Exhausted {
        /// Units used in the month.
        used: u64,
    },
}

/// A job in the hands of one host. The fence is higher than that of every earlier claim, and an
/// operation with a lower one than the job's writes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: Uuid,
    /// The fencing number.
    pub fence: u64,
}

/// A job to be worked on, from `next` to its last chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The right to write results.
    pub lease: Lease,
    /// The job.
    pub job: Job,
    /// The data that all chunks share.
    pub shared: Vec<u8>,
    /// The first chunk without results.
    pub next: u32,
    /// Number of attempts at `next`, this one included.
    pub attempts: u32,
}

/// Results of one chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkResults {
    /// Number of the chunk; always the job's next.
    pub chunk: u32,
    /// The results, in the server's own form, or a reference to their object.
    pub output: Vec<u8>,
    /// The results by status.
    pub tally: Tally,
    /// Units to refund, for rows without a result.
    pub refund: u32,
}

/// The state of a host's lease of the job that it works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseStatus {
    /// It does, and the store did the operation.
    Held,
    /// Another host took the job over, or it is gone: nothing was written.
    Lost,
}

/// The numbers of expired jobs and documents that a call of [`Jobs::purge`](crate::Jobs::purge)
/// removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgeCounts {
    /// Jobs with their rows and results.
    pub jobs: u32,
    /// Job documents that stood for a key; the keys' tombstones stay.
    pub documents: u32,
    /// True if expired rows may be left.
    pub more: bool,
}

/// Retention time of a job and its results: seven days.
pub const JOB_RETENTION_MILLIS: i64 = 7 * 86_400_000;
/// Retention time of an idempotency key: thirty days. After that it is refused permanently.
pub const IDEMPOTENCY_RETENTION_MILLIS: i64 = 30 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_kept_for_seven_days_and_its_key_for_thirty() {
        assert_eq!(JOB_RETENTION_MILLIS, 604_800_000);
        assert_eq!(IDEMPOTENCY_RETENTION_MILLIS, 2_592_000_000);
    }
}
