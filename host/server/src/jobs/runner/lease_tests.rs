//! Leases whose last operation the state did not answer.

use super::*;
use crate::job_store::tests::{NOW, job};
use crate::telemetry::metrics::Metrics;
use domesday_state::{
    ChunkResults, Claimant, EmbeddedState, Idempotency, Job, NewJob, PassedOverJobs, PurgeCounts,
    Reply, Submission, Tally, TenantId, UnixMillis,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const LEASE: i64 = 30_000;

/// A state that does not answer some operations on leases.
struct LateState {
    state: EmbeddedState,
    /// Operations to come that take effect, and whose answers are lost.
    unanswered: AtomicU32,
    /// Operations to come that have no effect.
    refused: AtomicU32,
    /// Operations to come whose rows the state refuses.
    refused_rows: AtomicU32,
}

impl LateState {
    fn reply<T: Send + 'static>(&self, run: impl FnOnce(&EmbeddedState) -> Reply<T>) -> Reply<T> {
        let is_next = |count: &AtomicU32| {
            let taken =
                count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1));
            taken.is_ok()
        };
        let failed = || StateError::Storage {
            doing: "written",
            source: "no answer".into(),
        };
        if is_next(&self.refused) {
            return Box::pin(async move { Err(failed()) });
        }
        if is_next(&self.refused_rows) {
            let refusal = StateError::RefusedRows {
                source: "a constraint".into(),
            };
            return Box::pin(async move { Err(refusal) });
        }
        let is_unanswered = is_next(&self.unanswered);
        let reply = run(&self.state);
        Box::pin(async move {
            match (reply.await, is_unanswered) {
                (answer, false) => answer,
                (_, true) => Err(failed()),
            }
        })
    }
}

impl Jobs for LateState {
    fn submit(&self, job: NewJob) -> Reply<Submission> {
        self.state.submit(job)
    }

    fn withdraw(&self, tenant: TenantId, id: Uuid) -> Reply<()> {
        self.state.withdraw(tenant, id)
    }

    fn find_submission(
        &self,
        tenant: TenantId,
        key: Idempotency,
        now: UnixMillis,
    ) -> Reply<Option<Submission>> {
        self.state.find_submission(tenant, key, now)
    }

    fn job(&self, tenant: TenantId, id: Uuid, now: UnixMillis) -> Reply<Option<Job>> {
        self.state.job(tenant, id, now)
    }

    fn output(
        &self,
        tenant: TenantId,
        id: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Reply<Option<Vec<u8>>> {
        self.state.output(tenant, id, chunk, now)
    }

    fn claim(
        &self,
        claimant: Claimant,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<Option<Claim>> {
        self.state.claim(claimant, now, lease_millis)
    }

    fn input(&self, lease: Lease, chunk: u32) -> Reply<Option<Vec<u8>>> {
        self.state.input(lease, chunk)
    }

    fn renew(&self, lease: Lease, now: UnixMillis, lease_millis: i64) -> Reply<LeaseStatus> {
        self.state.renew(lease, now, lease_millis)
    }

    fn finish_chunk(
        &self,
        lease: Lease,
        results: ChunkResults,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<LeaseStatus> {
        self.reply(|state| state.finish_chunk(lease, results, now, lease_millis))
    }

    fn fail(&self, lease: Lease, error: JobError, now: UnixMillis) -> Reply<LeaseStatus> {
        self.reply(|state| state.fail(lease, error, now))
    }

    fn release_lease(&self, lease: Lease) -> Reply<LeaseStatus> {
        self.reply(|state| state.release_lease(lease))
    }

    fn claim_status(&self, lease: Lease) -> Reply<Option<JobStatus>> {
        self.state.claim_status(lease)
    }

    fn waiting(&self) -> Reply<u64> {
        self.state.waiting()
    }

    fn oldest_waiting(&self) -> Reply<Option<UnixMillis>> {
        self.state.oldest_waiting()
    }

    fn damaged_jobs(&self) -> u64 {
        self.state.damaged_jobs()
    }

    fn count_passed_over(&self, claimant: Claimant, now: UnixMillis) -> Reply<PassedOverJobs> {
        self.state.count_passed_over(claimant, now)
    }

    fn purge(&self, now: UnixMillis) -> Reply<PurgeCounts> {
        self.state.purge(now)
    }
}

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> UnixMillis {
        NOW
    }
}

/// A host that has claimed a job of two chunks.
struct ClaimingHost {
    state: Arc<LateState>,
    store: JobStore,
    metrics: Metrics,
    stop: watch::Receiver<bool>,
    claim: Claim,
    _stopping: watch::Sender<bool>,
    _place: tempfile::TempDir,
}

impl ClaimingHost {
    async fn new() -> ClaimingHost {
        let place = tempfile::tempdir().unwrap();
        let state = Arc::new(LateState {
            state: EmbeddedState::open(&place.path().join("state.redb")).unwrap(),
            unanswered: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            refused_rows: AtomicU32::new(0),
        });
        let store = JobStore::new(state.clone(), None);
        let rows = [b"one".to_vec(), b"two".to_vec()];
        store.submit(job(&rows)).await.unwrap();
        let claim = claim(&state, NOW).await;
        let (stopping, stop) = watch::channel(false);
        ClaimingHost {
            state,
            store,
            metrics: Metrics::new(1),
            stop,
            claim,
            _stopping: stopping,
            _place: place,
        }
    }

    /// Returns what ends its leases. Without time, an operation is not repeated.
    fn ends(&self, lease_time: Duration) -> LeaseEnds<'_> {
        LeaseEnds {
            state: &*self.state,
            job_store: &self.store,
            metrics: &self.metrics.jobs,
            clock: &FixedClock,
            lease_time,
            stop: &self.stop,
        }
    }

    async fn finish(
        &self,
        claim: &Claim,
        chunk: u32,
        lease_time: Duration,
    ) -> Result<LeaseStatus, StateError> {
        let results = ChunkResults {
            chunk,
            output: b"results".to_vec(),
            tally: Tally::default(),
            refund: 0,
        };
        let mut written = self
            .store
            .write_results(claim.lease, results)
            .await
            .unwrap();
        let ends = self.ends(lease_time);
        let finished = ends.finish_chunk(claim.lease, &mut written, None).await;
        finished.map_err(|error| match error {
            JobStoreError::State(error) => error,
            error => panic!("{error}"),
        })
    }

    async fn settle(&self, last: LastOperation) {
        self.ends(Duration::from_secs(30))
            .settle(self.claim.lease, last)
            .await;
    }

    /// Returns the jobs that ended as completed and as failed, and the leases that were lost.
    fn counts(&self) -> [u32; 3] {
        let page = self.metrics.write().unwrap();
        [
            "domesday_jobs_ended_total{status=\"completed\"} ",
            "domesday_jobs_ended_total{status=\"failed\"} ",
            "domesday_job_leases_lost_total ",
        ]
        .map(|name| {
            let value = page.lines().find_map(|line| line.strip_prefix(name));
            value.map_or(0, |value| value.parse().unwrap())
        })
    }
}

async fn claim(state: &LateState, now: UnixMillis) -> Claim {
    let claimant = Claimant::of_releases(["release"]);
    let claim = state.claim(claimant, now, LEASE).await;
    claim.unwrap().unwrap()
}

#[tokio::test]
async fn results_that_the_state_did_not_answer_are_stored_again_until_it_does() {
    let host = ClaimingHost::new().await;
    let time = Duration::from_secs(30);
    for (chunk, lost) in [(0, &host.state.unanswered), (1, &host.state.refused)] {
        lost.store(1, Ordering::Relaxed);
        let finished = host.finish(&host.claim, chunk, time).await;
        assert_eq!(finished.unwrap(), LeaseStatus::Held, "{chunk}");
    }
    let status = host.state.claim_status(host.claim.lease).await;
    assert_eq!(status.unwrap(), Some(JobStatus::Completed));
}

#[tokio::test]
async fn results_whose_rows_the_state_refuses_are_not_stored_again() {
    let host = ClaimingHost::new().await;
    host.state.refused_rows.store(2, Ordering::Relaxed);
    let finished = host.finish(&host.claim, 0, Duration::from_secs(30)).await;
    assert!(
        matches!(finished, Err(StateError::RefusedRows { .. })),
        "{finished:?}"
    );
    assert_eq!(host.state.refused_rows.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_job_that_ended_without_an_answer_is_counted_as_ended() {
    let host = ClaimingHost::new().await;
    let finished = host.finish(&host.claim, 0, Duration::ZERO).await;
    assert_eq!(finished.unwrap(), LeaseStatus::Held);
    host.state.unanswered.store(1, Ordering::Relaxed);
    let error = host.finish(&host.claim, 1, Duration::ZERO).await;
    host.settle(LastOperation::Other(error)).await;
    assert_eq!(host.counts(), [1, 0, 0]);

    let host = ClaimingHost::new().await;
    host.state.unanswered.store(1, Ordering::Relaxed);
    let error = crate::jobs::stop_reason::crash_error();
    let failed = host.ends(Duration::ZERO).fail(&host.claim, error).await;
    host.settle(LastOperation::Other(failed)).await;
    assert_eq!(host.counts(), [0, 1, 0]);
}

#[tokio::test]
async fn a_job_that_another_host_completed_meanwhile_is_a_lost_lease() {
    let host = ClaimingHost::new().await;
    let finished = host.finish(&host.claim, 0, Duration::ZERO).await;
    assert_eq!(finished.unwrap(), LeaseStatus::Held);
    host.state.refused.store(1, Ordering::Relaxed);
    let error = host.finish(&host.claim, 1, Duration::ZERO).await;
    let other = claim(&host.state, UnixMillis(NOW.0 + LEASE)).await;
    let finished = host.finish(&other, 1, Duration::ZERO).await;
    assert_eq!(finished.unwrap(), LeaseStatus::Held);
    host.settle(LastOperation::Other(error)).await;
    assert_eq!(host.counts(), [0, 0, 1]);
}

#[tokio::test]
async fn a_release_without_an_answer_is_no_lost_lease() {
    // The first release has no answer, or the second one after another operation.
    for is_first in [true, false] {
        let host = ClaimingHost::new().await;
        host.state.unanswered.store(1, Ordering::Relaxed);
        let last = match is_first {
            true => LastOperation::Release(host.state.release_lease(host.claim.lease).await),
            false => LastOperation::Other(Err(StateError::EmptyJob {
                job: host.claim.lease.job,
            })),
        };
        host.settle(last).await;
        assert_eq!(host.counts(), [0; 3], "{is_first}");
        // It waits for any host.
        assert_eq!(claim(&host.state, NOW).await.next, 0);
    }
}
