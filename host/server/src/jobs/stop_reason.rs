//! The reasons why a runner stops working on a job, and the errors that end a job.

use super::persisted::StoredJobError;
use crate::job_store::JobStoreError;
use crate::receipts::ReceiptError;
use domesday_package::Sha256Digest;
use domesday_state::{JobError, StateError};
use std::error::Error;

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
    /// The release did not open here. Another host may have it whole.
    NotOpened(Box<dyn Error + Send + Sync>),
    /// The host serves the release from another package than that of the submission. Another host
    /// may serve that.
    OtherPackage {
        /// The digest of the manifest at the submission.
        submitted: Sha256Digest,
        /// The digest of the manifest here.
        served: Sha256Digest,
    },
    /// The rows of a chunk are absent or damaged, as this host reads them.
    Unreadable(Box<dyn Error + Send + Sync>),
    /// The state refuses to store the results of a chunk.
    Refused(StateError),
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
    fn from(error: JobStoreError) -> Self {
        match error {
            JobStoreError::State(error) => error.into(),
            error @ (JobStoreError::Damaged { .. } | JobStoreError::Unreadable(_)) => {
                StopReason::Unreadable(error.into())
            }
            // This host's next claim leaves the job to those that read object storage.
            JobStoreError::NotSet => StopReason::Yielded,
            error => StopReason::Store(error),
        }
    }
}

impl From<StoredJobError> for StopReason {
    fn from(error: StoredJobError) -> Self {
        StopReason::Unreadable(error.into())
    }
}

impl From<StateError> for StopReason {
    fn from(error: StateError) -> Self {
        match error {
            refusal @ StateError::RefusedRows { .. } => StopReason::Refused(refusal),
            error => StopReason::State(error),
        }
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

/// Returns the error of a job whose parts nobody could read for an hour.
pub(super) fn unreadable_error() -> JobError {
    JobError {
        code: "processing_failed".to_owned(),
        message: "The stored job can no longer be read. Submit it again, under another idempotency_key if it had one.".to_owned(),
        retryable: true,
    }
}

/// Returns the error of a job whose results the state refused for an hour.
pub(super) fn refused_error() -> JobError {
    JobError {
        code: "processing_failed".to_owned(),
        message: "The results of the job could not be stored. Submit it again, under another idempotency_key if it had one.".to_owned(),
        retryable: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_store::objects::ObjectsError;

    #[test]
    fn a_host_without_object_storage_yields_a_job_in_it() {
        let reason = StopReason::from(JobStoreError::NotSet);
        assert!(matches!(reason, StopReason::Yielded));
        let failed = ObjectsError::Failed("it does not answer".into());
        let reason = StopReason::from(JobStoreError::Objects(failed));
        assert!(matches!(reason, StopReason::Store(_)));
    }

    #[test]
    fn a_refusal_of_results_is_no_outage_of_the_state() {
        let refusal = || StateError::RefusedRows {
            source: "a constraint".into(),
        };
        let reason = StopReason::from(JobStoreError::Unreadable(refusal()));
        assert!(matches!(reason, StopReason::Unreadable(_)));
        let reason = StopReason::from(JobStoreError::State(refusal()));
        assert!(matches!(reason, StopReason::Refused(_)));
        let outage = StateError::Storage {
            doing: "written",
            source: "no answer".into(),
        };
        let reason = StopReason::from(JobStoreError::State(outage));
        assert!(matches!(reason, StopReason::State(_)));
    }
}
