//! The end of a lease, and the operations that the state may not answer.

use crate::clock::Clock;
use crate::job_store::{JobStore, JobStoreError, WrittenResults};
use crate::telemetry::jobs::JobMetrics;
use domesday_state::{
    Claim, JobError, JobStatus, Jobs, Lease, LeaseStatus, SetbackOutcome, StateError,
};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

/// Interval at which the runner looks for jobs of other hosts and for expired leases.
pub(super) const CLAIM_INTERVAL: Duration = Duration::from_secs(1);

/// The last operation on a lease, with the answer of the state.
pub(super) enum LastOperation {
    /// The release of the lease. Without an answer, it may have ended the claim.
    Release(Result<LeaseStatus, StateError>),
    /// Another operation. Without an answer, it may have ended the job.
    Other(Result<LeaseStatus, StateError>),
}

/// The parts of a runner that end its leases.
pub(super) struct LeaseEnds<'a> {
    pub(super) state: &'a dyn Jobs,
    pub(super) job_store: &'a JobStore,
    pub(super) metrics: &'a JobMetrics,
    pub(super) clock: &'a dyn Clock,
    pub(super) lease_time: Duration,
    pub(super) stop: &'a watch::Receiver<bool>,
}

impl LeaseEnds<'_> {
    /// Finishes a chunk. A state that does not answer may have finished it all the same. So the
    /// runner repeats the operation, and a chunk that this claim has finished is
    /// [`LeaseStatus::Held`]. A host that stops repeats nothing. Nor does one whose rows the state
    /// refuses, since it would refuse them again.
    pub(super) async fn finish_chunk(
        &self,
        lease: Lease,
        written: &mut WrittenResults,
        input: Option<String>,
    ) -> Result<LeaseStatus, JobStoreError> {
        let until = Instant::now() + self.lease_time;
        let mut has_warned = false;
        loop {
            let times = (self.clock.now(), millis(self.lease_time));
            let store = self.job_store;
            let finished = store.finish_chunk(lease, written, input.clone(), times);
            match finished.await {
                Err(JobStoreError::State(error))
                    if !matches!(error, StateError::RefusedRows { .. })
                        && !self.stopping()
                        && Instant::now() < until =>
                {
                    if !has_warned {
                        has_warned = true;
                        tracing::warn!(
                            job_id = %lease.job, %error,
                            "the results of a chunk may not be stored; the runner tries again"
                        );
                    }
                    self.pause().await;
                }
                finished => return finished,
            }
        }
    }

    /// Gives a job back that this host cannot work on, and waits. Another host may claim it
    /// meanwhile. A store that fails at once is not asked for one job after the other.
    pub(super) async fn give_back(&self, lease: Lease) -> Result<LeaseStatus, StateError> {
        let status = self.state.release_lease(lease).await;
        self.pause().await;
        status
    }

    /// Gives a job back that could not be read or finished, and fails it once that is final.
    pub(super) async fn end_setback(
        &self,
        claim: &Claim,
        setback: SetbackOutcome,
        error: JobError,
    ) -> LastOperation {
        match setback.is_final {
            true => LastOperation::Other(self.fail(claim, error).await),
            false => LastOperation::Release(self.give_back(claim.lease).await),
        }
    }

    /// Fails a job.
    pub(super) async fn fail(
        &self,
        claim: &Claim,
        error: JobError,
    ) -> Result<LeaseStatus, StateError> {
        let Claim { job, attempts, .. } = claim;
        let (release_id, code) = (&job.release_id, error.code.clone());
        let status = self.state.fail(claim.lease, error, self.clock.now()).await;
        if matches!(status, Ok(LeaseStatus::Held)) {
            tracing::error!(job_id = %job.id, release_id, attempts, code, "job failed");
            self.metrics.record_end("failed");
        }
        status
    }

    /// Records the end of a lease by the last operation on it. If the state did not answer that,
    /// the lease is released later.
    pub(super) async fn settle(&self, lease: Lease, last: LastOperation) {
        let (status, may_be_released) = match last {
            LastOperation::Release(status) => (status, true),
            LastOperation::Other(status) => (status, false),
        };
        match status {
            Ok(LeaseStatus::Held) => {}
            Ok(LeaseStatus::Lost) => self.record_lost_lease(lease.job),
            Err(error) => {
                let problem = match error {
                    StateError::RefusedRows { .. } => "the state refuses the end of a job",
                    _ => "the state does not answer",
                };
                tracing::error!(job_id = %lease.job, %error, "{problem}");
                self.release_later(lease, may_be_released).await;
            }
        }
    }

    /// Releases the lease as soon as the state answers, since its failure is no crash of the chunk.
    /// A host that stops tries once more. Otherwise the lease runs out. `may_be_released` is true
    /// if a release was not answered.
    async fn release_later(&self, lease: Lease, mut may_be_released: bool) {
        let until = Instant::now() + self.lease_time;
        loop {
            self.pause().await;
            match self.state.release_lease(lease).await {
                Ok(LeaseStatus::Held) => return,
                Ok(LeaseStatus::Lost) => {
                    return self.record_unanswered_end(lease, may_be_released).await;
                }
                Err(_) if self.stopping() || Instant::now() >= until => return,
                Err(_) => may_be_released = true,
            }
        }
    }

    /// Waits until the runner may claim again, or the service stops.
    async fn pause(&self) {
        let mut stop = self.stop.clone();
        let _ = timeout(CLAIM_INTERVAL, stop.wait_for(|stop| *stop)).await;
    }

    fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Records the end of a claim that is over, after an operation that the state did not answer.
    /// The operation may have ended the job, or released it.
    async fn record_unanswered_end(&self, lease: Lease, may_be_released: bool) {
        let job_id = lease.job;
        let status = match self.state.claim_status(lease).await {
            Ok(Some(JobStatus::Completed)) => "completed",
            Ok(Some(JobStatus::Failed)) => "failed",
            // Another host may have the job by now, and this one did not lose it.
            _ if may_be_released => {
                tracing::info!(%job_id, "a job was given back without an answer of the state");
                return;
            }
            _ => return self.record_lost_lease(job_id),
        };
        self.metrics.record_end(status);
        tracing::info!(%job_id, status, "a job ended without an answer of the state");
    }

    fn record_lost_lease(&self, job_id: Uuid) {
        tracing::warn!(%job_id, "the job is another host's now, or gone");
        self.metrics.record_lost_lease();
    }
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
