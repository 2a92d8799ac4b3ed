//! Removing expired rows, in small transactions. Several hosts may do it at once: each passes over
//! rows that another removes.

use std::time::{Duration, Instant};

use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::work;
use crate::postgres::changes::apply_changes;
use crate::postgres::error::{reading, writing};
use crate::{IDEMPOTENCY_RETENTION_MILLIS, PurgeCounts, StateError, UnixMillis};

/// Jobs or keys that one transaction removes.
const AT_ONCE: i64 = 32;
/// Time after which a transaction removes no further job.
const LONG: Duration = Duration::from_secs(2);
const OVER: &str = concat!(
    "SELECT ",
    job_columns!(),
    " FROM domesday.jobs WHERE NOT gone AND expires_at <= $1 \
     ORDER BY tenant, month LIMIT $2 FOR UPDATE SKIP LOCKED"
);
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
/// would take a long purge for a database that does not answer.
pub(super) async fn purge(pool: PgPool, now: UnixMillis) -> Result<PurgeCounts, StateError> {
    let jobs = remove(&pool, now).await?;
    let documents = expire_keys(&pool, now).await?;
    Ok(PurgeCounts {
        jobs: jobs.removed,
        documents,
        more: jobs.more || i64::from(documents) >= AT_ONCE,
    })
}

/// The expired jobs that a transaction removed.
struct RemovedJobs {
    removed: u32,
    /// True if there may be more.
    more: bool,
}

async fn remove(pool: &PgPool, now: UnixMillis) -> Result<RemovedJobs, StateError> {
    let started = Instant::now();
    let mut transaction = pool.begin().await.map_err(writing)?;
    let over = sqlx::query(OVER)
        .bind(now.0)
        .bind(AT_ONCE)
        .fetch_all(&mut *transaction)
        .await
        .map_err(reading)?;
    let (mut removed, mut refunds) = (0, Vec::new());
    for job in &over {
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
    Ok(RemovedJobs {
        more: removed < over.len() || i64::try_from(over.len()).is_ok_and(|jobs| jobs >= AT_ONCE),
        removed: u32::try_from(removed).unwrap_or(u32::MAX),
    })
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
