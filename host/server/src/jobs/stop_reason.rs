//! The reasons why a runner stops working on a job, and the errors that end a job.

use crate::job_store::JobStoreError;
use crate::receipts::ReceiptError;
use domesday_state::{JobError, StateError};
use domesday_valuation::release_store::OpenRelease;
use std::error::Error;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A release that is being opened on a blocking thread.
pub(super) type Opening = JoinHandle<Result<Arc<OpenRelease>, Box<dyn Error + Send + Sync>>>;

/// The reason why the runner stopped working on a claimed job.
pub(super) enum StopReason {
    /// The last chunk is finished.
    Completed,
    /// The runner yielded the job to another runner, since its turn ended or the host stops.
    Yielded,
    /// Another host holds the lease, or the job is gone.
    Lost,
    /// The job failed.
    Failed(JobError),
    /// The packages' disk did not answer while the release was opened.
    Stalled(Opening),
    /// The state did not answer.
    State(StateError),
    /// The rows or results of a chunk could not be read or written.
    Store(JobStoreError),
    /// The receipts of the rows could not be written.
    Receipts(ReceiptError),
}

impl From<ReceiptError> for StopReason {
    fn from(error: ReceiptError) -> Self {
        StopReason::Receipts(error)
    }
}

impl From<JobStoreError> for StopReason {
    /// Returns a failure of the job for a damaged object, which stays damaged. Other errors may
    /// pass.
    fn from(error: JobStoreError) -> Self {
        match error {
            JobStoreError::State(error) => StopReason::State(error),
            JobStoreError::Damaged { .. } => unreadable(&error),
            error => StopReason::Store(error),
        }
    }
}

impl From<StateError> for StopReason {
    fn from(error: StateError) -> Self {
        StopReason::State(error)
    }
}

/// Returns the error of a job whose release does not open.
pub(super) fn not_served() -> JobError {
    JobError {
        code: "release_unavailable".to_owned(),
        message: "The release that the job was submitted under can no longer be opened. Submit it again, under another idempotency_key if it had one: a new job runs on the active release.".to_owned(),
        retryable: true,
    }
}

/// Returns the error of a job that ended the service several times.
pub(super) fn crash_error() -> JobError {
    JobError {
        code: "processing_failed".to_owned(),
        message: "A part of the job crashed the service three times. Send its rows in synchronous batches to find that part.".to_owned(),
        retryable: false,
    }
}

/// Logs that the parts of a job cannot be read, and returns its failure.
pub(super) fn unreadable(error: &dyn Error) -> StopReason {
    tracing::error!(%error, "a job cannot be read");
    StopReason::Failed(JobError {
        code: "processing_failed".to_owned(),
        message: "The stored job can no longer be read. Submit it again, under another idempotency_key if it had one.".to_owned(),
        retryable: true,
    })
}
