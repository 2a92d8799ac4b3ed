//! Jobs in the database.

mod purge;
mod read;
mod submit;
mod work;

use std::future::Future;
use std::sync::Arc;

use sqlx::PgPool;
use uuid::Uuid;

use super::PostgresState;
use super::error::reading;
use crate::{
    ChunkResults, Claim, Idempotency, Job, JobError, Jobs, Lease, LeaseStatus, NewJob, PurgeCounts,
    Reply, StateError, Submission, TenantId, UnixMillis,
};

impl PostgresState {
    /// Begins an operation on the database, unless it could only wait in vain.
    fn job_operation<T, O>(
        &self,
        doing: &'static str,
        operation: impl FnOnce(PgPool) -> O + Send + 'static,
    ) -> Reply<T>
    where
        T: Send + 'static,
        O: Future<Output = Result<T, StateError>> + Send,
    {
        let watched = Arc::clone(&self.watched);
        self.driver.begin(async move {
            watched.check_reachable(doing)?;
            watched.record_outcome(operation(watched.pool.clone()).await)
        })
    }
}

impl Jobs for PostgresState {
    fn submit(&self, job: NewJob) -> Reply<Submission> {
        self.job_operation("written", |pool| submit::submit(pool, job))
    }

    fn find_submission(
        &self,
        tenant: TenantId,
        key: Idempotency,
        now: UnixMillis,
    ) -> Reply<Option<Submission>> {
        self.job_operation("read", move |pool| async move {
            let mut connection = pool.acquire().await.map_err(reading)?;
            read::find_submission(&mut connection, &tenant, &key, now).await
        })
    }

    fn job(&self, tenant: TenantId, id: Uuid, now: UnixMillis) -> Reply<Option<Job>> {
        self.job_operation("read", move |pool| read::job(pool, tenant, id, now))
    }

    fn output(
        &self,
        tenant: TenantId,
        id: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Reply<Option<Vec<u8>>> {
        self.job_operation("read", move |pool| {
            read::output(pool, tenant, id, chunk, now)
        })
    }

    fn claim(&self, now: UnixMillis, lease_millis: i64) -> Reply<Option<Claim>> {
        self.job_operation("written", move |pool| work::claim(pool, now, lease_millis))
    }

    fn input(&self, lease: Lease, chunk: u32) -> Reply<Option<Vec<u8>>> {
        self.job_operation("read", move |pool| read::input(pool, lease, chunk))
    }

    fn renew(&self, lease: Lease, now: UnixMillis, lease_millis: i64) -> Reply<LeaseStatus> {
        self.job_operation("written", move |pool| {
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
        self.job_operation("written", move |pool| {
            work::finish_chunk(pool, lease, results, now, lease_millis)
        })
    }

    fn fail(&self, lease: Lease, error: JobError, now: UnixMillis) -> Reply<LeaseStatus> {
        self.job_operation("written", move |pool| work::fail(pool, lease, error, now))
    }

    fn release_lease(&self, lease: Lease) -> Reply<LeaseStatus> {
        self.job_operation("written", move |pool| work::release_lease(pool, lease))
    }

    fn waiting(&self) -> Reply<u64> {
        self.job_operation("read", read::waiting)
    }

    fn purge(&self, now: UnixMillis) -> Reply<PurgeCounts> {
        self.job_operation("written", move |pool| purge::purge(pool, now))
    }
}
