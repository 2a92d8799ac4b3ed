//! The end of a lease, and the operations that the state may not answer.

use super::{CLAIM_INTERVAL, Runner, millis};
use crate::job_store::{JobStoreError, WrittenResults};
use domesday_state::{Claim, Job, JobError, JobStatus, Lease, LeaseStatus, StateError};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

impl Runner {
    /// Finishes a chunk. A state that does not answer may have finished it all the same. So the
    /// runner repeats the operation, and a chunk that this claim has finished is
    /// [`LeaseStatus::Held`]. A host that stops repeats nothing.
    pub(super) async fn finish_chunk(
        &self,
        lease: Lease,
        written: &mut WrittenResults,
        input: Option<String>,
    ) -> Result<LeaseStatus, JobStoreError> {
        let until = Instant::now() + self.lease_time;
        let mut has_warned = false;
        loop {
            let times = (self.service.clock.now(), millis(self.lease_time));
            let store = &self.service.job_store;
            let finished = store.finish_chunk(lease, written, input.clone(), times);
            match finished.await {
                Err(JobStoreError::State(error)) if !self.stopping() && Instant::now() < until => {
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

    /// Gives a job back that this host cannot read, and waits. A store that fails at once is not
    /// asked for one job after the other.
    pub(super) async fn give_back(&self, lease: Lease) -> Result<LeaseStatus, StateError> {
        let status = self.service.state.release_lease(lease).await;
        self.pause().await;
        status
    }

    /// Fails a job.
    pub(super) async fn fail(
        &self,
        claim: &Claim,
        error: JobError,
    ) -> Result<LeaseStatus, StateError> {
        let Claim { job, attempts, .. } = claim;
        let release_id = &job.release_id;
        tracing::error!(job_id = %job.id, release_id, attempts, code = error.code, "job failed");
        let now = self.service.clock.now();
        let status = self.service.state.fail(claim.lease, error, now).await;
        if matches!(status, Ok(LeaseStatus::Held)) {
            self.service.metrics.jobs.record_end("failed");
        }
        status
    }

    /// Releases the lease as soon as the state answers, since its failure is no crash of the chunk.
    /// A host that stops tries once more. Otherwise the lease runs out, and there is no answer.
    pub(super) async fn release_lease_later(&self, lease: Lease) -> Option<LeaseStatus> {
        let until = Instant::now() + self.lease_time;
        loop {
            self.pause().await;
            match self.service.state.release_lease(lease).await {
                Ok(status) => return Some(status),
                Err(_) if self.stopping() || Instant::now() >= until => return None,
                Err(_) => {}
            }
        }
    }

    /// Waits until the runner may claim again, or the service stops.
    async fn pause(&self) {
        let mut stop = self.stop.clone();
        let _ = timeout(CLAIM_INTERVAL, stop.wait_for(|stop| *stop)).await;
    }

    /// Records the end of a lease that is lost, after an operation that the state did not answer.
    /// The operation may have ended the job.
    pub(super) async fn record_unanswered_end(&self, job: &Job, chunk: u32) {
        let now = self.service.clock.now();
        let found = self.service.state.job(job.tenant.clone(), job.id, now);
        let found = found.await.ok().flatten();
        match found.and_then(|found| ended_status(&found, chunk)) {
            Some(status) => {
                self.service.metrics.jobs.record_end(status);
                tracing::info!(job_id = %job.id, status, "a job ended without an answer of the state");
            }
            None => self.record_lost_lease(job.id),
        }
    }

    pub(super) fn record_lost_lease(&self, job_id: Uuid) {
        tracing::warn!(%job_id, "the job is another host's now, or gone");
        self.service.metrics.jobs.record_lost_lease();
    }
}

/// Returns the status of a job that this host ended, where `chunk` was the last that it began.
/// Another host ends one only if the lease ran out meanwhile.
fn ended_status(job: &Job, chunk: u32) -> Option<&'static str> {
    match job.status {
        JobStatus::Completed if chunk + 1 == job.chunks => Some("completed"),
        JobStatus::Failed => Some("failed"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_state::{JobMode, Tally, UnixMillis};

    #[test]
    fn a_job_that_an_unanswered_operation_ended_is_not_lost() {
        let job = |status| Job {
            id: Uuid::from_u128(1),
            tenant: "acme".parse().unwrap(),
            mode: JobMode::Simple,
            status,
            release_id: "release".into(),
            request_count: 200,
            created_at: UnixMillis(0),
            updated_at: UnixMillis(0),
            expires_at: UnixMillis(1),
            chunks: 4,
            tally: Tally::default(),
            error: None,
        };
        for (status, chunk, ended) in [
            (JobStatus::Completed, 3, Some("completed")),
            // Others finished the chunks after this one.
            (JobStatus::Completed, 2, None),
            (JobStatus::Failed, 2, Some("failed")),
            (JobStatus::Running, 3, None),
            (JobStatus::Queued, 3, None),
        ] {
            let found = ended_status(&job(status), chunk);
            assert_eq!(found, ended, "{status:?} {chunk}");
        }
    }
}
