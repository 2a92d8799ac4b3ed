//! Reading jobs, their rows and results, and the submission of a key.

use sqlx::{PgConnection, PgPool, Row};
use uuid::Uuid;

use crate::postgres::error::reading;
use crate::postgres::records;
use crate::{
    IDEMPOTENCY_RETENTION_MILLIS, Idempotency, Job, JobStatus, Lease, StateError, Submission,
    TenantId, UnixMillis,
};

const KNOWN: &str = concat!(
    "SELECT s.digest, s.created_at AS key_created_at, s.job, j.* \
     FROM domesday.submissions AS s LEFT JOIN (SELECT ",
    job_columns!(),
    " FROM domesday.jobs) AS j ON j.id = s.job WHERE s.tenant = $1 AND s.key = $2"
);
const JOB: &str = concat!(
    "SELECT ",
    job_columns!(),
    " FROM domesday.jobs WHERE id = $1 AND tenant = $2 AND expires_at > $3 AND NOT gone"
);
const CLAIMED: &str = concat!(
    "SELECT ",
    job_columns!(),
    " FROM domesday.jobs WHERE id = $1 AND fence = $2 AND NOT gone"
);
const OUTPUT: &str = "SELECT c.output FROM domesday.chunks AS c \
     JOIN domesday.jobs AS j ON j.id = c.job \
     WHERE j.id = $1 AND j.tenant = $2 AND j.expires_at > $3 AND NOT j.gone \
     AND c.chunk = $4 AND c.output IS NOT NULL";
const INPUT: &str = "SELECT c.input FROM domesday.chunks AS c \
     JOIN domesday.jobs AS j ON j.id = c.job \
     WHERE j.id = $1 AND j.fence = $2 AND NOT j.gone AND c.chunk = $3 AND c.input IS NOT NULL";
const WAITING: &str = "SELECT count(*) FROM domesday.jobs \
     WHERE status IN ('queued', 'running') AND NOT gone";
const OLDEST_WAITING: &str = "SELECT min(created_at) FROM domesday.jobs \
     WHERE status IN ('queued', 'running') AND NOT gone AND id <> ALL($1)";

/// Returns the reply that the key alone decides, or none where the key is new.
pub(super) async fn find_submission(
    connection: &mut PgConnection,
    tenant: &TenantId,
    key: &Idempotency,
    now: UnixMillis,
) -> Result<Option<Submission>, StateError> {
    let row = sqlx::query(KNOWN)
        .bind(tenant.as_str())
        .bind(&key.key)
        .fetch_optional(connection)
        .await
        .map_err(reading)?;
    let Some(row) = row else { return Ok(None) };
    let created_at: i64 = row.try_get("key_created_at").map_err(reading)?;
    let job: Option<Uuid> = row.try_get("job").map_err(reading)?;
    if job.is_none() || created_at.saturating_add(IDEMPOTENCY_RETENTION_MILLIS) <= now.0 {
        return Ok(Some(Submission::KeyExpired));
    }
    let digest: &[u8] = row.try_get("digest").map_err(reading)?;
    if digest != key.digest {
        return Ok(Some(Submission::Conflict));
    }
    let job = records::job(&row)?.final_document(now);
    Ok(Some(Submission::Known(job)))
}

pub(super) async fn job(
    pool: PgPool,
    tenant: TenantId,
    id: Uuid,
    now: UnixMillis,
) -> Result<Option<Job>, StateError> {
    let row = sqlx::query(JOB)
        .bind(id)
        .bind(tenant.as_str())
        .bind(now.0)
        .fetch_optional(&pool)
        .await
        .map_err(reading)?;
    row.as_ref().map(records::job).transpose()
}

pub(super) async fn claim_status(
    pool: PgPool,
    lease: Lease,
) -> Result<Option<JobStatus>, StateError> {
    let row = sqlx::query(CLAIMED)
        .bind(lease.job)
        .bind(records::to_signed(lease.fence))
        .fetch_optional(&pool)
        .await
        .map_err(reading)?;
    let job = row.as_ref().map(records::job).transpose()?;
    Ok(job.map(|job| job.status))
}

pub(super) async fn output(
    pool: PgPool,
    tenant: TenantId,
    id: Uuid,
    chunk: u32,
    now: UnixMillis,
) -> Result<Option<Vec<u8>>, StateError> {
    sqlx::query_scalar(OUTPUT)
        .bind(id)
        .bind(tenant.as_str())
        .bind(now.0)
        .bind(i64::from(chunk))
        .fetch_optional(&pool)
        .await
        .map_err(reading)
}

pub(super) async fn input(
    pool: PgPool,
    lease: Lease,
    chunk: u32,
) -> Result<Option<Vec<u8>>, StateError> {
    sqlx::query_scalar(INPUT)
        .bind(lease.job)
        .bind(records::to_signed(lease.fence))
        .bind(i64::from(chunk))
        .fetch_optional(&pool)
        .await
        .map_err(reading)
}

pub(super) async fn waiting(pool: PgPool) -> Result<u64, StateError> {
    let waiting: i64 = sqlx::query_scalar(WAITING)
        .fetch_one(&pool)
        .await
        .map_err(reading)?;
    records::count("jobs", waiting)
}

/// Returns the earliest acceptance of the jobs that wait or run, without those whose rows are known
/// to be damaged.
pub(super) async fn oldest_waiting(
    pool: PgPool,
    damaged_jobs: Vec<Uuid>,
) -> Result<Option<UnixMillis>, StateError> {
    let oldest: Option<i64> = sqlx::query_scalar(OLDEST_WAITING)
        .bind(damaged_jobs)
        .fetch_one(&pool)
        .await
        .map_err(reading)?;
    Ok(oldest.map(UnixMillis))
}
