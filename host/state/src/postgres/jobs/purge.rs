//! Removing expired rows, in small transactions. Several hosts may do it at once: each passes over
//! rows that another removes.

use std::time::{Duration, Instant};

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgPool, Postgres, Row, Transaction};
use uuid::Uuid;

use super::RefusedJobs;
use super::work;
use crate::postgres::changes::apply_changes;
use crate::postgres::error::{reading, refuses_rows, writing};
use crate::{IDEMPOTENCY_RETENTION_MILLIS, PurgeCounts, StateError, UnixMillis};

/// Jobs or keys that one transaction removes.
const AT_ONCE: i64 = 32;
/// Time after which a transaction removes no further job.
const LONG: Duration = Duration::from_secs(2);
/// It reads no long column, since one that is damaged would fail the read of all jobs.
const OVER: &str = "SELECT id, tenant, month, status FROM domesday.jobs \
     WHERE NOT gone AND expires_at <= $1 AND NOT id = ANY ($3) \
     ORDER BY tenant, month LIMIT $2 FOR UPDATE SKIP LOCKED";
const EMPTY: &str = "DELETE FROM domesday.chunks WHERE job = $1";
/// A job that a key stands for leaves its document behind.
const LEAVE: &str = "UPDATE domesday.jobs SET gone = true, shared = '', bytes = 0, \
     lease_until = NULL, fence = nextval('domesday.fence') WHERE id = $1";
const REMOVE: &str = "DELETE FROM domesday.jobs AS j WHERE j.id = $1 \
     AND NOT EXISTS (SELECT FROM domesday.submissions AS s WHERE s.job = j.id)";
const EXPIRE: &str = "WITH over AS (SELECT tenant, key, job FROM domesday.submissions \
     WHERE job IS NOT NULL AND created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED), \
     expired AS (UPDATE domesday.submissions AS s SET job = NULL, digest = '' FROM over AS o \
     WHERE s.tenant = o.tenant AND s.key = o.key) \
     SELECT job FROM over";
const FORGET: &str = "DELETE FROM domesday.jobs WHERE gone AND id = ANY ($1)";

/// Removes some of the expired rows, in two transactions. No more, since the limit of an operation
/// would take a long purge for a database that does not answer. There are more where the database
/// refuses the rows of a job.
pub(super) async fn purge(
    pool: PgPool,
    now: UnixMillis,
    refused: &RefusedJobs,
) -> Result<PurgeCounts, StateError> {
    let jobs = remove(&pool, now, refused).await;
    // Keys expire also where no job can be removed.
    let documents = expire_keys(&pool, now).await;
    let (jobs, documents) = (jobs?, documents?);
    Ok(PurgeCounts {
        jobs: jobs.removed,
        documents,
        more: jobs.more || i64::from(documents) >= AT_ONCE,
    })
}

/// The expired jobs that were removed.
struct RemovedJobs {
    removed: u32,
    /// True if there may be more.
    more: bool,
}

/// Removes some of the expired jobs, and each by itself where the database refuses the rows of one.
async fn remove(
    pool: &PgPool,
    now: UnixMillis,
    refused: &RefusedJobs,
) -> Result<RemovedJobs, StateError> {
    match remove_together(pool, now, refused).await {
        Err(error) if refuses_rows(&error) => remove_apart(pool, now, refused).await,
        removed => removed,
    }
}

async fn remove_together(
    pool: &PgPool,
    now: UnixMillis,
    refused: &RefusedJobs,
) -> Result<RemovedJobs, StateError> {
    let mut transaction = pool.begin().await.map_err(writing)?;
    let over = lock_expired(&mut transaction, now, refused, AT_ONCE).await?;
    let removed = remove_jobs(transaction, &over, now).await?;
    Ok(RemovedJobs {
        more: removed < over.len() || i64::try_from(over.len()).is_ok_and(|jobs| jobs >= AT_ONCE),
        removed: u32::try_from(removed).unwrap_or(u32::MAX),
    })
}

/// Removes expired jobs in a transaction each. One whose rows the database refuses stays, and later
/// purges leave it out. It keeps no other job from being removed.
async fn remove_apart(
    pool: &PgPool,
    now: UnixMillis,
    refused: &RefusedJobs,
) -> Result<RemovedJobs, StateError> {
    let started = Instant::now();
    let mut removed = 0;
    for _ in 0..AT_ONCE {
        if started.elapsed() > LONG {
            break;
        }
        let mut transaction = pool.begin().await.map_err(writing)?;
        let over = lock_expired(&mut transaction, now, refused, 1).await?;
        let Some(job) = over.first() else {
            return Ok(RemovedJobs {
                removed,
                more: false,
            });
        };
        let id: Uuid = job.try_get("id").map_err(reading)?;
        let tenant: &str = job.try_get("tenant").map_err(reading)?;
        match remove_jobs(transaction, &over, now).await {
            Ok(_) => removed += 1,
            Err(error) => {
                let is_passed_over =
                    refuses_rows(&error) && refused.record((id, tenant), &error, Instant::now());
                if !is_passed_over {
                    return Err(error);
                }
            }
        }
    }
    Ok(RemovedJobs {
        removed,
        more: true,
    })
}

/// Locks and returns expired jobs, without those that the database refused to remove lately.
async fn lock_expired(
    connection: &mut PgConnection,
    now: UnixMillis,
    refused: &RefusedJobs,
    limit: i64,
) -> Result<Vec<PgRow>, StateError> {
    sqlx::query(OVER)
        .bind(now.0)
        .bind(limit)
        .bind(refused.list_recent(Instant::now()))
        .fetch_all(connection)
        .await
        .map_err(reading)
}

/// Removes the first of these jobs, commits, and returns their number.
async fn remove_jobs(
    mut transaction: Transaction<'static, Postgres>,
    over: &[PgRow],
    now: UnixMillis,
) -> Result<usize, StateError> {
    let started = Instant::now();
    let (mut removed, mut refunds) = (0, Vec::new());
    for job in over {
        // Jobs of many rows. The next call takes the others.
        if removed > 0 && started.elapsed() > LONG {
            break;
        }
        removed += 1;
        let id: Uuid = job.try_get("id").map_err(reading)?;
        if work::is_unfinished(job)? {
            let (units, _) = work::unfinished_chunks(&mut transaction, id).await?;
            refunds.extend(work::refund(job, units, now)?);
        }
        for statement in [EMPTY, LEAVE, REMOVE] {
            sqlx::query(statement)
                .bind(id)
                .execute(&mut *transaction)
                .await
                .map_err(writing)?;
        }
    }
    // Last, because rows of units stay locked from here on. They are in the order of the jobs.
    if !refunds.is_empty() {
        apply_changes(&mut transaction, &refunds).await?;
    }
    transaction.commit().await.map_err(writing)?;
    Ok(removed)
}

/// Turns expired keys into tombstones, and returns their number.
async fn expire_keys(pool: &PgPool, now: UnixMillis) -> Result<u32, StateError> {
    let mut transaction = pool.begin().await.map_err(writing)?;
    let jobs: Vec<Uuid> = sqlx::query_scalar(EXPIRE)
        .bind(now.0.saturating_sub(IDEMPOTENCY_RETENTION_MILLIS))
        .bind(AT_ONCE)
        .fetch_all(&mut *transaction)
        .await
        .map_err(writing)?;
    sqlx::query(FORGET)
        .bind(&jobs)
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    transaction.commit().await.map_err(writing)?;
    Ok(u32::try_from(jobs.len()).unwrap_or(u32::MAX))
}
