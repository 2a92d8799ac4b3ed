//! Accepting a job: one transaction, alone among its tenant's submissions on all hosts.

use sqlx::{PgConnection, PgPool, Row};

use super::read;
use crate::object_reference::chunk_bytes;
use crate::postgres::changes::{Change, apply_changes};
use crate::postgres::error::{reading, writing};
use crate::postgres::{changes, records};
use crate::{
    ChargeOutcome, JOB_RETENTION_MILLIS, Job, JobStatus, NewJob, StateError, Submission, Tally,
    TenantId, UnixMillis, UsageSource,
};

/// Keeps these locks apart from others of the database. Two tenants whose names share a number
/// only wait for each other now and then.
const SERIALISE: &str = "SELECT pg_advisory_xact_lock(1685024101, hashtext($1))";
const LOAD: &str = "SELECT jobs_paused, \
     (SELECT count(*) FROM domesday.jobs WHERE tenant = $1 AND NOT gone \
        AND status IN ('queued', 'running')) AS queued, \
     (SELECT coalesce(sum(bytes), 0)::bigint FROM domesday.jobs \
        WHERE tenant = $1 AND NOT gone) AS bytes \
     FROM domesday.service";
const JOB: &str = "INSERT INTO domesday.jobs (id, tenant, mode, status, release_id, request_count, \
     created_at, updated_at, expires_at, chunks, shared, month, bytes) \
     VALUES ($1, $2, $3, 'queued', $4, $5, $6, $6, $7, $8, $9, $10, $11) \
     ON CONFLICT (id) DO NOTHING";
const CHUNKS: &str = "INSERT INTO domesday.chunks (job, chunk, rows, units, input) \
     SELECT $1, c.number - 1, c.rows, c.units, c.input \
     FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) \
     WITH ORDINALITY AS c (rows, units, input, number)";
const KEY: &str = "INSERT INTO domesday.submissions (tenant, key, digest, created_at, job) \
     VALUES ($1, $2, $3, $4, $5)";

pub(super) async fn submit(pool: PgPool, new: NewJob) -> Result<Submission, StateError> {
    let mut transaction = pool.begin().await.map_err(writing)?;
    serialise(&mut transaction, &new.tenant).await?;
    // A separate statement sees commits that were made while this one waited for the lock.
    if let Some(key) = &new.idempotency {
        let known = read::find_submission(&mut transaction, &new.tenant, key, new.now);
        if let Some(answer) = known.await? {
            return Ok(answer);
        }
    }
    if let Some(refusal) = find_refusal(&mut transaction, &new).await? {
        return Ok(refusal);
    }
    if new.chunks.is_empty() {
        return Err(StateError::EmptyJob { job: new.id });
    }
    let job = insert(&mut transaction, &new).await?;
    // Last, because the row of units stays locked from here on, and every charge waits for it.
    let units = new.chunks.iter().map(|chunk| u64::from(chunk.units)).sum();
    let charge = Change::charge(
        &new.tenant,
        new.month,
        units,
        new.allowance,
        UsageSource::job(new.id, new.now),
    );
    let outcome = match units {
        0 => None,
        _ => apply_changes(&mut transaction, &[charge]).await?.pop(),
    };
    if let Some(ChargeOutcome::Exhausted { used }) = outcome {
        return Ok(Submission::Exhausted { used });
    }
    transaction.commit().await.map_err(writing)?;
    Ok(Submission::Accepted(job))
}

/// Waits until no other submission of the tenant is under way, and holds up others until the
/// transaction has ended.
pub(super) async fn serialise(
    connection: &mut PgConnection,
    tenant: &TenantId,
) -> Result<(), StateError> {
    let lock = sqlx::query(SERIALISE).bind(tenant.as_str());
    lock.execute(connection).await.map(drop).map_err(writing)
}

/// Returns the first reason for which the job is refused, in the order of reasons.
async fn find_refusal(
    connection: &mut PgConnection,
    new: &NewJob,
) -> Result<Option<Submission>, StateError> {
    let row = sqlx::query(LOAD)
        .bind(new.tenant.as_str())
        .fetch_one(&mut *connection)
        .await
        .map_err(reading)?;
    if row.try_get("jobs_paused").map_err(reading)? {
        return Ok(Some(Submission::Paused));
    }
    let queued = records::count("jobs", row.try_get("queued").map_err(reading)?)?;
    if queued >= u64::from(new.queued_jobs) {
        return Ok(Some(Submission::QueueFull));
    }
    let bytes = records::count("jobs", row.try_get("bytes").map_err(reading)?)?;
    if bytes.saturating_add(input_bytes(new)) > new.stored_bytes {
        return Ok(Some(Submission::StoreFull));
    }
    // The charge decides; this only spares writing rows for nothing.
    let used = changes::read_used_units(connection, &new.tenant, new.month).await?;
    let units: u64 = new.chunks.iter().map(|chunk| u64::from(chunk.units)).sum();
    let fits = used
        .checked_add(units)
        .is_some_and(|sum| sum <= new.allowance);
    Ok((units > 0 && !fits).then_some(Submission::Exhausted { used }))
}

fn input_bytes(new: &NewJob) -> u64 {
    new.chunks
        .iter()
        .map(|chunk| chunk_bytes(&chunk.input))
        .sum()
}

async fn insert(connection: &mut PgConnection, new: &NewJob) -> Result<Job, StateError> {
    let job = Job {
        id: new.id,
        tenant: new.tenant.clone(),
        mode: new.mode,
        status: JobStatus::Queued,
        release_id: new.release_id.clone(),
        request_count: new.chunks.iter().map(|chunk| chunk.rows).sum(),
        created_at: new.now,
        updated_at: new.now,
        expires_at: UnixMillis(new.now.0.saturating_add(JOB_RETENTION_MILLIS)),
        chunks: u32::try_from(new.chunks.len()).unwrap_or(u32::MAX),
        tally: Tally::default(),
        error: None,
    };
    let inserted = sqlx::query(JOB)
        .bind(job.id)
        .bind(job.tenant.as_str())
        .bind(records::mode_text(job.mode))
        .bind(&job.release_id)
        .bind(i64::from(job.request_count))
        .bind(job.created_at.0)
        .bind(job.expires_at.0)
        .bind(i64::from(job.chunks))
        .bind(&new.shared)
        .bind(new.month.number())
        .bind(records::to_signed(input_bytes(new)))
        .execute(&mut *connection)
        .await
        .map_err(writing)?;
    if inserted.rows_affected() == 0 {
        return Err(StateError::JobIdTaken { job: new.id });
    }
    let column = |of: fn(&crate::NewChunk) -> u32| {
        let numbers = new.chunks.iter().map(|chunk| i64::from(of(chunk)));
        numbers.collect::<Vec<_>>()
    };
    let inputs = new.chunks.iter().map(|chunk| chunk.input.as_slice());
    sqlx::query(CHUNKS)
        .bind(job.id)
        .bind(column(|chunk| chunk.rows))
        .bind(column(|chunk| chunk.units))
        .bind(inputs.collect::<Vec<_>>())
        .execute(&mut *connection)
        .await
        .map_err(writing)?;
    if let Some(key) = &new.idempotency {
        sqlx::query(KEY)
            .bind(job.tenant.as_str())
            .bind(&key.key)
            .bind(key.digest.as_slice())
            .bind(job.created_at.0)
            .bind(job.id)
            .execute(&mut *connection)
            .await
            .map_err(writing)?;
    }
    Ok(job)
}
