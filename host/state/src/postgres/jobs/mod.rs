//! Jobs in the database.

/// The columns of a job that statements read. A statement that reads all columns fails on a host of
/// the version before once a step of the schema adds one.
macro_rules! job_columns {
    () => {
        "id, tenant, mode, status, release_id, request_count, created_at, updated_at, expires_at, \
         chunks, valued, referred, rejected, valuation_failed, error_code, error_message, \
         error_retryable, shared, month, next, attempts, fence"
    };
}

mod claim;
mod purge;
mod read;
mod refused_jobs;
mod submit;
mod turns;
mod undelivered;
mod withdraw;
mod work;

pub(super) use refused_jobs::RefusedJobs;
pub(super) use turns::TenantTurns;
pub(super) use undelivered::UndeliveredClaims;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::time::timeout;
use uuid::Uuid;

use super::PostgresState;
use super::directory::WatchedDatabase;
use super::error::{name_refusal, reading};
use crate::claim_delivery::ClaimDelivery;
use crate::{
    ChunkResults, Claim, Claimant, Idempotency, Job, JobError, JobStatus, Jobs, Lease, LeaseStatus,
    NewJob, PassedOverJobs, PurgeCounts, Reply, StateError, Submission, TenantId, UnixMillis,
};

/// A claim that waits longer for the host's others finds nothing. Its runner tries again.
const CLAIM_TURN: Duration = Duration::from_secs(1);

impl PostgresState {
    /// Begins a read of the database, unless it would time out.
    pub(super) fn read_jobs<T, O>(
        &self,
        pool: &PgPool,
        read: impl FnOnce(PgPool) -> O + Send + 'static,
    ) -> Reply<T>
    where
        T: Send + 'static,
        O: Future<Output = Result<T, StateError>> + Send,
    {
        self.begin_checked(pool, |watched| watched.check_reachable("read"), read)
    }

    /// Begins a write to the database, unless it would time out.
    pub(super) fn write_jobs<T, O>(
        &self,
        pool: &PgPool,
        write: impl FnOnce(PgPool) -> O + Send + 'static,
    ) -> Reply<T>
    where
        T: Send + 'static,
        O: Future<Output = Result<T, StateError>> + Send,
    {
        self.begin_checked(pool, WatchedDatabase::check_writable, write)
    }

    /// Begins an operation on the database if a check of its state passes.
    fn begin_checked<T, O>(
        &self,
        pool: &PgPool,
        check: impl FnOnce(&WatchedDatabase) -> Result<(), StateError> + Send + 'static,
        operation: impl FnOnce(PgPool) -> O + Send + 'static,
    ) -> Reply<T>
    where
        T: Send + 'static,
        O: Future<Output = Result<T, StateError>> + Send,
    {
        let (watched, pool) = (Arc::clone(&self.watched), pool.clone());
        self.driver.begin(async move {
            check(&watched)?;
            watched.record_outcome(operation(pool).await)
        })
    }
}

impl Jobs for PostgresState {
    fn submit(&self, mut job: NewJob) -> Reply<Submission> {
        job.now = self.job_time(job.now);
        let (leases, turns) = (self.job_pools.leases.clone(), Arc::clone(&self.submissions));
        self.write_jobs(&self.job_pools.bulk, |bulk| async move {
            // A repetition need not wait for other submissions.
            if let Some(key) = &job.idempotency {
                let mut connection = leases.acquire().await.map_err(reading)?;
                let known = read::find_submission(&mut connection, &job.tenant, key, job.now);
                if let Some(answer) = known.await? {
                    return Ok(answer);
                }
            }
            // The database lets one at a time go on. The others wait here, since they would each
            // occupy a connection there.
            let _turn = turns.take(&job.tenant).await;
            submit::submit(bulk, job).await
        })
    }

    fn withdraw(&self, tenant: TenantId, id: Uuid) -> Reply<()> {
        let turns = Arc::clone(&self.submissions);
        self.write_jobs(&self.job_pools.bulk, move |pool| async move {
            let _turn = turns.take(&tenant).await;
            withdraw::withdraw(pool, tenant, id).await
        })
    }

    fn find_submission(
        &self,
        tenant: TenantId,
        key: Idempotency,
        now: UnixMillis,
    ) -> Reply<Option<Submission>> {
        let now = self.job_time(now);
        self.read_jobs(&self.job_pools.leases, move |pool| async move {
            let mut connection = pool.acquire().await.map_err(reading)?;
            read::find_submission(&mut connection, &tenant, &key, now).await
        })
    }

    fn job(&self, tenant: TenantId, id: Uuid, now: UnixMillis) -> Reply<Option<Job>> {
        let now = self.job_time(now);
        self.read_jobs(&self.job_pools.leases, move |pool| {
            read::job(pool, tenant, id, now)
        })
    }

    fn output(
        &self,
        tenant: TenantId,
        id: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Reply<Option<Vec<u8>>> {
        let now = self.job_time(now);
        self.read_jobs(&self.job_pools.bulk, move |pool| {
            read::output(pool, tenant, id, chunk, now)
        })
    }

    fn claim(
        &self,
        claimant: Claimant,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<Option<Claim>> {
        let now = self.job_time(now);
        self.watched.clock.set_lease(lease_millis);
        let undelivered = Arc::clone(&self.undelivered);
        let damaged_jobs = Arc::clone(&self.damaged_jobs);
        let turn = Arc::clone(&self.claim);
        let delivery = self.write_jobs(&self.job_pools.leases, move |pool| async move {
            let Ok(_turn) = timeout(CLAIM_TURN, turn.lock()).await else {
                return Ok(None);
            };
            undelivered.give_back(&pool).await?;
            let times = (now, lease_millis);
            claim::claim(pool, claimant, times, &undelivered.leases, &damaged_jobs).await
        });
        Box::pin(async move { Ok(delivery.await?.and_then(ClaimDelivery::deliver)) })
    }

    fn input(&self, lease: Lease, chunk: u32) -> Reply<Option<Vec<u8>>> {
        self.read_jobs(&self.job_pools.bulk, move |pool| async move {
            let input = read::input(pool, lease, chunk).await;
            // After other errors the runner takes the state for out of reach.
            input.map_err(name_refusal)
        })
    }

    fn renew(&self, lease: Lease, now: UnixMillis, lease_millis: i64) -> Reply<LeaseStatus> {
        let now = self.job_time(now);
        self.write_jobs(&self.job_pools.leases, move |pool| {
            work::renew(pool, lease, now, lease_millis)
        })
    }

    fn finish_chunk(
        &self,
        lease: Lease,
        results: ChunkResults,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<LeaseStatus> {
        let now = self.job_time(now);
        self.write_jobs(&self.job_pools.bulk, move |pool| async move {
            let finished = work::finish_chunk(pool, lease, results, now, lease_millis).await;
            // The runner repeats the operation after other errors.
            finished.map_err(name_refusal)
        })
    }

    fn fail(&self, lease: Lease, error: JobError, now: UnixMillis) -> Reply<LeaseStatus> {
        let now = self.job_time(now);
        self.write_jobs(&self.job_pools.bulk, move |pool| async move {
            let failed = work::fail(pool, lease, error, now).await;
            failed.map_err(name_refusal)
        })
    }

    fn release_lease(&self, lease: Lease) -> Reply<LeaseStatus> {
        self.write_jobs(&self.job_pools.leases, move |pool| async move {
            work::release_lease(&pool, lease).await
        })
    }

    fn claim_status(&self, lease: Lease) -> Reply<Option<JobStatus>> {
        self.read_jobs(&self.job_pools.leases, move |pool| {
            read::claim_status(pool, lease)
        })
    }

    fn waiting(&self) -> Reply<u64> {
        self.read_jobs(&self.job_pools.leases, read::waiting)
    }

    fn oldest_waiting(&self) -> Reply<Option<UnixMillis>> {
        let damaged_jobs = self.damaged_jobs.list_recent(Instant::now());
        self.read_jobs(&self.job_pools.leases, move |pool| {
            read::oldest_waiting(pool, damaged_jobs)
        })
    }

    fn count_passed_over(&self, claimant: Claimant, now: UnixMillis) -> Reply<PassedOverJobs> {
        let now = self.job_time(now);
        self.read_jobs(&self.job_pools.leases, move |pool| {
            claim::count_passed_over(pool, claimant, now)
        })
    }

    fn purge(&self, now: UnixMillis) -> Reply<PurgeCounts> {
        let refused = Arc::clone(&self.refused_jobs);
        self.write_jobs(&self.job_pools.bulk, move |pool| async move {
            purge::purge(pool, now, &refused).await
        })
    }

    fn damaged_jobs(&self) -> u64 {
        self.damaged_jobs.count()
    }

    /// Returns the database's time where the host's clock is far from it. So such a host keeps no
    /// lease longer than others expect.
    fn job_time(&self, now: UnixMillis) -> UnixMillis {
        self.watched.clock.correct(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::clock::machine_time;
    use crate::test_support::block_on;
    use crate::{JOB_RETENTION_MILLIS, JobMode, Month, NewChunk};

    /// Returns a job of one row.
    pub(super) fn new_job(number: u128, now: UnixMillis) -> NewJob {
        NewJob {
            now,
            id: Uuid::from_u128(number),
            mode: JobMode::Simple,
            tenant: "acme".parse().unwrap(),
            month: Month {
                year: 2031,
                month: 6,
            },
            chunks: vec![NewChunk {
                rows: 1,
                input: vec![1],
                units: 1,
            }],
            shared: Vec::new(),
            release_id: String::new(),
            idempotency: None,
            queued_jobs: u32::MAX,
            allowance: u64::MAX,
            stored_bytes: u64::MAX,
        }
    }

    /// The caller guards its time. A correction would undo that.
    #[test]
    fn a_purge_goes_by_its_callers_time_where_the_databases_clock_is_ahead() {
        let address = domesday_test_postgres::shared().database();
        let state = PostgresState::open(&address).unwrap();
        let now = machine_time();
        block_on(state.submit(new_job(1, now))).unwrap();
        let database = now.0 + JOB_RETENTION_MILLIS * 2;
        loop {
            state.watched.clock.compare(now, database, now);
            let purge = state.purge(now);
            // A look at the true clock may have come between.
            let is_ahead = state.job_time(now).0 == database;
            assert_eq!(block_on(purge).unwrap(), PurgeCounts::default());
            if is_ahead {
                break;
            }
        }
    }
}
