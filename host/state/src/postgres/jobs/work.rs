//! Working on jobs: leases and checkpoints. Every write locks the job's row and compares
//! the fence before anything else, in the same transaction.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgExecutor, PgPool, Row};

use crate::object_reference::{chunk_bytes, chunk_bytes_of};
use crate::postgres::changes::{Change, apply_changes};
use crate::postgres::error::{reading, writing};
use crate::postgres::records;
use crate::{ChunkResults, JobError, Lease, LeaseStatus, StateError, UnixMillis, UsageSource};

const RENEW: &str = "UPDATE domesday.jobs SET lease_until = $4 \
     WHERE id = $1 AND fence = $2 AND status = 'running' AND NOT gone AND expires_at > $3";
/// A new number, so that the earlier holder can no longer write.
const RELEASE: &str = "UPDATE domesday.jobs SET lease_until = NULL, fence = nextval('domesday.fence'), \
     attempts = greatest(attempts - 1, 0) \
     WHERE id = $1 AND fence = $2 AND status = 'running' AND NOT gone";
const LOCK_CLAIMED: &str = concat!(
    "SELECT ",
    job_columns!(),
    " FROM domesday.jobs \
     WHERE id = $1 AND fence = $2 AND NOT gone AND expires_at > $3 FOR UPDATE"
);
const CHUNK: &str = concat!(
    "SELECT units, ",
    chunk_bytes_of!("input"),
    " AS dropped FROM domesday.chunks WHERE job = $1 AND chunk = $2"
);
/// Its units are those that stay charged.
const KEEP: &str = "UPDATE domesday.chunks SET input = NULL, output = $3, units = units - $4 \
     WHERE job = $1 AND chunk = $2";
const ADVANCE: &str = "UPDATE domesday.jobs SET next = next + 1, attempts = 1, \
     updated_at = greatest(updated_at, $2), \
     lease_until = CASE WHEN next + 1 < chunks THEN $3::bigint END, \
     status = CASE WHEN next + 1 < chunks THEN 'running' ELSE 'completed' END, \
     shared = CASE WHEN next + 1 < chunks THEN shared ELSE '' END, \
     bytes = bytes + $4, valued = valued + $5, referred = referred + $6, \
     rejected = rejected + $7, valuation_failed = valuation_failed + $8 WHERE id = $1";
const UNFINISHED_CHUNKS: &str = concat!(
    "SELECT coalesce(sum(units), 0)::bigint AS units, coalesce(sum(",
    chunk_bytes_of!("input"),
    "), 0)::bigint AS dropped FROM domesday.chunks WHERE job = $1 AND output IS NULL"
);
const DROP: &str = "UPDATE domesday.chunks SET input = NULL WHERE job = $1 AND input IS NOT NULL";
const FAIL: &str = "UPDATE domesday.jobs SET status = 'failed', \
     updated_at = greatest(updated_at, $2), lease_until = NULL, \
     shared = '', bytes = bytes - $3, error_code = $4, error_message = $5, error_retryable = $6 \
     WHERE id = $1";

fn lease_status(result: sqlx::postgres::PgQueryResult) -> LeaseStatus {
    match result.rows_affected() {
        0 => LeaseStatus::Lost,
        _ => LeaseStatus::Held,
    }
}

pub(super) async fn renew(
    pool: PgPool,
    lease: Lease,
    now: UnixMillis,
    lease_millis: i64,
) -> Result<LeaseStatus, StateError> {
    sqlx::query(RENEW)
        .bind(lease.job)
        .bind(records::to_signed(lease.fence))
        .bind(now.0)
        .bind(now.0.saturating_add(lease_millis))
        .execute(&pool)
        .await
        .map(lease_status)
        .map_err(writing)
}

pub(super) async fn release_lease(
    executor: impl PgExecutor<'_>,
    lease: Lease,
) -> Result<LeaseStatus, StateError> {
    sqlx::query(RELEASE)
        .bind(lease.job)
        .bind(records::to_signed(lease.fence))
        .execute(executor)
        .await
        .map(lease_status)
        .map_err(writing)
}

/// Locks and returns the job's row, if this is still its last claim.
async fn lock_claimed_job(
    connection: &mut PgConnection,
    lease: Lease,
    now: UnixMillis,
) -> Result<Option<PgRow>, StateError> {
    sqlx::query(LOCK_CLAIMED)
        .bind(lease.job)
        .bind(records::to_signed(lease.fence))
        .bind(now.0)
        .fetch_optional(connection)
        .await
        .map_err(reading)
}

fn is_running(row: &PgRow) -> Result<bool, StateError> {
    let status: &str = row.try_get("status").map_err(reading)?;
    Ok(status == "running")
}

/// Reports whether a job is queued or running.
pub(super) fn is_unfinished(row: &PgRow) -> Result<bool, StateError> {
    let status: &str = row.try_get("status").map_err(reading)?;
    Ok(matches!(status, "queued" | "running"))
}

/// Returns the change that gives units back to the tenant's month that the job was charged to, if
/// there are units.
pub(super) fn refund(
    job: &PgRow,
    units: i64,
    now: UnixMillis,
) -> Result<Option<Change>, StateError> {
    if units == 0 {
        return Ok(None);
    }
    let source = UsageSource::job(job.try_get("id").map_err(reading)?, now);
    let tenant = job.try_get("tenant").map_err(reading)?;
    let month = job.try_get("month").map_err(reading)?;
    Ok(Some(Change::refund_of(
        tenant,
        month,
        vec![(source, -units)],
    )))
}

/// Gives units back to the tenant's month that the job was charged to.
pub(super) async fn give_back(
    connection: &mut PgConnection,
    job: &PgRow,
    units: i64,
    now: UnixMillis,
) -> Result<(), StateError> {
    if let Some(refund) = refund(job, units, now)? {
        apply_changes(connection, &[refund]).await?;
    }
    Ok(())
}

pub(super) async fn finish_chunk(
    pool: PgPool,
    lease: Lease,
    results: ChunkResults,
    now: UnixMillis,
    lease_millis: i64,
) -> Result<LeaseStatus, StateError> {
    let mut transaction = pool.begin().await.map_err(writing)?;
    let Some(job) = lock_claimed_job(&mut transaction, lease, now).await? else {
        return Ok(LeaseStatus::Lost);
    };
    let next: i64 = job.try_get("next").map_err(reading)?;
    let number = i64::from(results.chunk);
    if number < next {
        // This claim has finished it before, and its answer was lost on the way.
        return Ok(LeaseStatus::Held);
    }
    if number != next || !is_running(&job)? {
        return Ok(LeaseStatus::Lost);
    }
    let chunk = sqlx::query(CHUNK)
        .bind(lease.job)
        .bind(number)
        .fetch_one(&mut *transaction)
        .await
        .map_err(reading)?;
    let cost: i64 = chunk.try_get("units").map_err(reading)?;
    let dropped: i64 = chunk.try_get("dropped").map_err(reading)?;
    let refund = cost.min(results.refund.into());
    sqlx::query(KEEP)
        .bind(lease.job)
        .bind(number)
        .bind(&results.output)
        .bind(refund)
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    let stored = records::to_signed(chunk_bytes(&results.output));
    let tally = results.tally;
    sqlx::query(ADVANCE)
        .bind(lease.job)
        .bind(now.0)
        .bind(now.0.saturating_add(lease_millis))
        .bind(stored.saturating_sub(dropped))
        .bind(i64::from(tally.valued))
        .bind(i64::from(tally.referred))
        .bind(i64::from(tally.rejected))
        .bind(i64::from(tally.valuation_failed))
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    give_back(&mut transaction, &job, refund, now).await?;
    transaction.commit().await.map_err(writing)?;
    Ok(LeaseStatus::Held)
}

pub(super) async fn fail(
    pool: PgPool,
    lease: Lease,
    error: JobError,
    now: UnixMillis,
) -> Result<LeaseStatus, StateError> {
    let mut transaction = pool.begin().await.map_err(writing)?;
    let Some(job) = lock_claimed_job(&mut transaction, lease, now).await? else {
        return Ok(LeaseStatus::Lost);
    };
    if !is_running(&job)? {
        return Ok(LeaseStatus::Lost);
    }
    let (units, dropped) = unfinished_chunks(&mut transaction, lease.job).await?;
    sqlx::query(DROP)
        .bind(lease.job)
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    sqlx::query(FAIL)
        .bind(lease.job)
        .bind(now.0)
        .bind(dropped)
        .bind(error.code)
        .bind(error.message)
        .bind(error.retryable)
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    give_back(&mut transaction, &job, units, now).await?;
    transaction.commit().await.map_err(writing)?;
    Ok(LeaseStatus::Held)
}

/// Units of chunks without results, and the bytes of their rows.
pub(super) async fn unfinished_chunks(
    connection: &mut PgConnection,
    job: uuid::Uuid,
) -> Result<(i64, i64), StateError> {
    let row = sqlx::query(UNFINISHED_CHUNKS)
        .bind(job)
        .fetch_one(connection)
        .await
        .map_err(reading)?;
    let units = row.try_get("units").map_err(reading)?;
    Ok((units, row.try_get("dropped").map_err(reading)?))
}
