//! Takes jobs from the state and works them off, chunk by chunk.

mod lease;
mod renewal;

use super::chunk::{ATTEMPTS, Chunk};
use super::chunking::CHUNK_ROWS;
use super::document::{mode, summary};
use super::eligibility::{Eligibility, open_release};
use super::stop_reason::{StopReason, crash_error, refused_error, unreadable_error};
use super::{address_lookup, persisted};
use crate::execution::RowRecorder;
use crate::service::Service;
use domesday_package::Sha256Digest;
use domesday_state::{Claim, Job, Lease, LeaseStatus, SetbackCause, StateError};
use domesday_valuation::pipeline::batch::nth;
use domesday_valuation::pipeline::row;
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::spans::SPANS;
use domesday_valuation::worker_pool::WorkerPool;
use lease::{CLAIM_INTERVAL, LastOperation, LeaseEnds, millis};
use renewal::Renewals;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tracing::{Instrument, info_span};
use uuid::Uuid;

/// The longest that a row of a job lets requests go first. Then it takes its turn among them.
pub const MAX_YIELD: Duration = Duration::from_millis(20);
/// Interval at which the runner checks whether requests still wait.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Chunks of one job before the runner takes another.
const CHUNKS_PER_TURN: u32 = 8;

/// Runs jobs until `stop` is set. The runner then releases its job between two rows. A lease lasts
/// for `lease` after it was claimed or renewed.
pub(super) async fn run(
    (service, eligibility): (Arc<Service>, Arc<Eligibility>),
    lease: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let runner = Runner {
        service,
        eligibility,
        lease_time: lease,
        renewals: Renewals::new(lease),
        stop: stop.clone(),
    };
    while !*stop.borrow() {
        let claimed = match runner.claim().await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::error!(%error, "no job could be claimed");
                None
            }
        };
        match claimed {
            Some(claim) => {
                runner.service.metrics.jobs.running.inc();
                runner.work_off(claim).await;
                runner.service.metrics.jobs.running.dec();
            }
            None => {
                let something = async {
                    tokio::select! {
                        () = runner.service.submitted.notified() => {}
                        _ = stop.changed() => {}
                    }
                };
                // Claim again in every case.
                let _ = timeout(CLAIM_INTERVAL, something).await;
            }
        }
    }
}

/// A chunk of a claimed job.
struct ChunkRun<'a> {
    lease: Lease,
    job: &'a Job,
    number: u32,
    /// The valuation id of its first row.
    first: Uuid,
    /// True if it was begun before.
    retrying: bool,
}

struct Runner {
    service: Arc<Service>,
    eligibility: Arc<Eligibility>,
    lease_time: Duration,
    renewals: Renewals,
    stop: watch::Receiver<bool>,
}

impl Runner {
    /// Claims a job that this host can work on, or none while it cannot value or record receipts.
    /// Where the state is degraded, a claim would wait behind the failure. Where a release was
    /// withdrawn, another host may have it whole. A host's journal is its own.
    async fn claim(&self) -> Result<Option<Claim>, StateError> {
        if !self.service.can_value() || !self.service.can_record_receipts() {
            return Ok(None);
        }
        let asked = Instant::now();
        let (claimant, now) = (
            self.eligibility.claimant(&self.service),
            self.service.clock.now(),
        );
        let lease_millis = millis(self.lease_time);
        let claim = self.service.state.claim(claimant, now, lease_millis).await;
        self.renewals.restart(asked);
        claim
    }

    async fn work_off(&self, claim: Claim) {
        let (lease, job_id, release_id) = (claim.lease, claim.job.id, &claim.job.release_id);
        let mut chunk = claim.next;
        let stopped = match self.chunks(&claim, &mut chunk).await {
            Ok(reason) | Err(reason) => reason,
        };
        let (state, ends) = (&self.service.state, self.lease_ends());
        let last = match stopped {
            StopReason::Completed => {
                self.service.metrics.jobs.record_end("completed");
                tracing::info!(%job_id, release_id, "job completed");
                return;
            }
            StopReason::Lost => LastOperation::Other(Ok(LeaseStatus::Lost)),
            StopReason::Yielded => LastOperation::Release(state.release_lease(lease).await),
            StopReason::NotOpened(error) => {
                tracing::error!(%job_id, release_id, %error, "a job's release does not open; the job is given back");
                self.eligibility.exclude_release(release_id);
                LastOperation::Release(state.release_lease(lease).await)
            }
            StopReason::OtherPackage { submitted, served } => {
                tracing::warn!(
                    %job_id, release_id, %submitted, %served,
                    "a job waits for the package of its submission"
                );
                self.eligibility.exclude_job(&claim.job, submitted);
                LastOperation::Release(state.release_lease(lease).await)
            }
            StopReason::Failed(error) => LastOperation::Other(ends.fail(&claim, error).await),
            StopReason::Receipts(error) => {
                tracing::error!(%job_id, %error, "receipts are not kept");
                LastOperation::Release(ends.give_back(lease).await)
            }
            StopReason::Store(error) => {
                let cause = SetbackCause::NoAnswer;
                if self
                    .eligibility
                    .record_setback((job_id, chunk), cause)
                    .is_first
                {
                    tracing::error!(%job_id, %error, "the store of jobs does not answer");
                }
                LastOperation::Release(ends.give_back(lease).await)
            }
            StopReason::Unreadable(error) => {
                let cause = SetbackCause::Unreadable;
                let setback = self.eligibility.record_setback((job_id, chunk), cause);
                if setback.is_first || setback.is_final {
                    tracing::error!(%job_id, %error, "a job cannot be read");
                }
                ends.end_setback(&claim, setback, unreadable_error()).await
            }
            StopReason::Refused(error) => {
                let cause = SetbackCause::Refused;
                let setback = self.eligibility.record_setback((job_id, chunk), cause);
                if setback.is_first || setback.is_final {
                    tracing::error!(%job_id, chunk, %error, "the results of a job are refused");
                }
                ends.end_setback(&claim, setback, refused_error()).await
            }
            StopReason::State(error) => LastOperation::Other(Err(error)),
        };
        ends.settle(lease, last).await;
    }

    fn lease_ends(&self) -> LeaseEnds<'_> {
        let service = &self.service;
        LeaseEnds {
            state: &*service.state,
            job_store: &service.job_store,
            metrics: &service.metrics.jobs,
            clock: &*service.clock,
            lease_time: self.lease_time,
            stop: &self.stop,
        }
    }

    /// Runs chunks until the job or the turn of this runner ends. `chunk` is then the last one that
    /// was begun.
    async fn chunks(&self, claim: &Claim, chunk: &mut u32) -> Result<StopReason, StopReason> {
        let Claim { lease, job, .. } = claim;
        if claim.attempts > ATTEMPTS {
            return Err(StopReason::Failed(crash_error()));
        }
        let stored = persisted::PersistedContext::from_bytes(&claim.shared)?;
        let release = self.release(job, stored.package);
        let release = self.with_lease(*lease, release).await??;
        for number in claim.next..job.chunks {
            if self.stopping() || number - claim.next == CHUNKS_PER_TURN {
                return Ok(StopReason::Yielded);
            }
            // Each crash of a host counts against the chunk that it ran. So a chunk that was begun
            // before runs at full priority, and an unrelated crash is less likely to use an
            // attempt.
            let retrying = number == claim.next && claim.attempts > 1;
            let first = nth(stored.first_valuation_id, number as usize * CHUNK_ROWS);
            let span = info_span!(
                target: SPANS,
                "job_chunk",
                domesday.job_id = %job.id,
                domesday.chunk = number,
                domesday.release_id = job.release_id,
            );
            *chunk = number;
            let run = ChunkRun {
                lease: *lease,
                job,
                number,
                first,
                retrying,
            };
            self.run_chunk(run, stored, &release)
                .instrument(span)
                .await?;
        }
        Ok(StopReason::Completed)
    }

    /// Runs one chunk, and stores its results.
    async fn run_chunk(
        &self,
        run: ChunkRun<'_>,
        stored: persisted::PersistedContext,
        release: &Arc<OpenRelease>,
    ) -> Result<(), StopReason> {
        let ChunkRun {
            lease, job, number, ..
        } = run;
        // For each chunk, so that none begins under a key that was erased before.
        let (service, execution_id) = (&self.service, stored.execution_id);
        let recorder = RowRecorder::open(service, &job.tenant, release, execution_id, None);
        let recorder = self.with_lease(lease, recorder).await??;
        let context = Arc::new(request_context(job, stored, release.clone(), &recorder));
        let store = &self.service.job_store;
        let input = self.with_lease(lease, store.input(lease, number)).await??;
        let input = input.ok_or(StopReason::Lost)?;
        let rows = persisted::rows_from_bytes(&input.bytes)?;
        drop(input.bytes);
        let rows = self.value(rows.into(), run.first, &context, run.retrying);
        let chunk = recorder.run_and_record(rows);
        let chunk = self.with_lease(lease, chunk).await??;
        let chunk_done = chunk.finish(number);
        let summary = summary(chunk_done.tally);
        let written = self.with_lease(lease, store.write_results(lease, chunk_done));
        let mut written = written.await??;
        let (ends, asked) = (self.lease_ends(), Instant::now());
        let finished = ends.finish_chunk(lease, &mut written, input.object);
        match finished.await? {
            LeaseStatus::Held => self.service.metrics.summary(&job.release_id, &summary),
            LeaseStatus::Lost => return Err(StopReason::Lost),
        }
        // The first attempt may have set the lease, although the state did not answer it.
        self.renewals.restart(asked);
        Ok(())
    }

    /// Opens the release of the job. `submitted` is the manifest of its package at the submission.
    async fn release(
        &self,
        job: &Job,
        submitted: Option<Sha256Digest>,
    ) -> Result<Arc<OpenRelease>, StopReason> {
        let opened = open_release(&self.service, &job.release_id).await;
        let release = opened.map_err(StopReason::NotOpened)?;
        let served = release.package;
        match submitted.filter(|submitted| *submitted != served) {
            Some(submitted) => Err(StopReason::OtherPackage { submitted, served }),
            None => Ok(release),
        }
    }

    /// Runs a chunk at low priority, or at full priority if `retrying`.
    async fn value(
        &self,
        rows: Arc<[String]>,
        first: Uuid,
        context: &Arc<row::RequestContext>,
        retrying: bool,
    ) -> Result<Chunk, StopReason> {
        let mut lost = 0;
        let mut chunk = Chunk::new(rows.clone());
        loop {
            let lookup =
                address_lookup::look_up(&self.service, self.stop.clone(), chunk, context).await;
            let answers;
            (chunk, answers) = lookup.ok_or(StopReason::Yielded)?;
            while !chunk.round_over() {
                if self.stopping() {
                    return Err(StopReason::Yielded);
                }
                if !retrying {
                    yield_to_requests(&self.service.workers).await;
                }
                let (context, lookups) = (context.clone(), answers.clone());
                let queue = self.service.workers.queue_depth().clone();
                let stop = self.stop.clone();
                let worked = self.service.workers.run_low_priority(move || {
                    let yield_now = || (queue.is_nonzero() && !retrying) || *stop.borrow();
                    chunk.work(&context, &lookups, first, yield_now);
                    chunk
                });
                chunk = match worked.await {
                    Ok(worked) => worked,
                    // A panic outside a row. The pipeline catches the panic of a row.
                    Err(error) => {
                        tracing::error!(%error, "a chunk panicked");
                        lost += 1;
                        if lost == ATTEMPTS {
                            return Err(StopReason::Failed(crash_error()));
                        }
                        address_lookup::pause(&answers, self.stop.clone()).await;
                        Chunk::new(rows.clone())
                    }
                };
            }
            if !chunk.start_next_round() {
                return Ok(chunk);
            }
            address_lookup::pause(&answers, self.stop.clone()).await;
        }
    }

    /// Renews the lease while `work` runs.
    async fn with_lease<T>(
        &self,
        lease: Lease,
        work: impl Future<Output = T>,
    ) -> Result<T, StopReason> {
        let (state, clock) = (&*self.service.state, &*self.service.clock);
        let output = self.renewals.renew_while(state, clock, lease, work).await;
        output.ok_or(StopReason::Lost)
    }

    fn stopping(&self) -> bool {
        *self.stop.borrow()
    }
}

/// Returns the context of the rows of a chunk.
fn request_context(
    job: &Job,
    stored: persisted::PersistedContext,
    release: Arc<OpenRelease>,
    recorder: &RowRecorder,
) -> row::RequestContext {
    let mode = mode(job.mode);
    row::RequestContext {
        release,
        kind: mode.kind(),
        depth: mode.depth(),
        settings: stored.settings,
        stored_data: stored.stored_data,
        execution_id: stored.execution_id,
        observer: recorder.observer(),
    }
}

/// Waits while requests wait for workers, for [`MAX_YIELD`] at most.
async fn yield_to_requests(workers: &WorkerPool) {
    let until = Instant::now() + MAX_YIELD;
    while workers.queue_depth().is_nonzero() && Instant::now() < until {
        sleep(POLL_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_yields_to_requests_for_a_limited_time() {
        let workers = Arc::new(WorkerPool::new(1, 8).unwrap());
        let (release, released) = std::sync::mpsc::channel::<()>();
        let started = Instant::now();
        yield_to_requests(&workers).await;
        assert!(started.elapsed() < MAX_YIELD, "nothing waits");

        // One request has the only thread, another waits for it.
        let busy = [workers.clone(), workers.clone()];
        let [first, second] = busy;
        let first = tokio::spawn(async move { first.run(move || released.recv()).await });
        let second = tokio::spawn(async move { second.run(|| ()).await });
        while !workers.queue_depth().is_nonzero() {
            tokio::task::yield_now().await;
        }
        let started = Instant::now();
        yield_to_requests(&workers).await;
        assert!(started.elapsed() >= MAX_YIELD, "a request still waited");
        release.send(()).unwrap();
        assert!(first.await.unwrap().unwrap().is_ok());
        assert!(second.await.unwrap().is_ok());
        assert!(!workers.queue_depth().is_nonzero());
    }
}
