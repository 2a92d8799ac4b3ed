//! Withdrawing a submission without a key.

use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::{submit, work};
use crate::postgres::error::{reading, writing};
use crate::{StateError, TenantId, UnixMillis};

/// A job with a key is found by it, and stays.
const JOB: &str = concat!(
    "SELECT ",
    job_columns!(),
    " FROM domesday.jobs AS j WHERE j.id = $1 AND j.tenant = $2 AND NOT j.gone \
     AND NOT EXISTS (SELECT FROM domesday.submissions AS s WHERE s.job = j.id) FOR UPDATE OF j"
);
/// A job that ended gave back the units of its unfinished chunks.
const UNITS: &str = "SELECT coalesce(sum(units), 0)::bigint FROM domesday.chunks \
     WHERE job = $1 AND (output IS NOT NULL OR $2)";
const REMOVE: &str = "DELETE FROM domesday.jobs WHERE id = $1";

pub(super) async fn withdraw(pool: PgPool, tenant: TenantId, id: Uuid) -> Result<(), StateError> {
    let mut transaction = pool.begin().await.map_err(writing)?;
    // A submission holds this lock until its commit has ended. So none appears after this.
    submit::serialise(&mut transaction, &tenant).await?;
    let job = sqlx::query(JOB)
        .bind(id)
        .bind(tenant.as_str())
        .fetch_optional(&mut *transaction)
        .await
        .map_err(reading)?;
    let Some(job) = job else { return Ok(()) };
    let units: i64 = sqlx::query_scalar(UNITS)
        .bind(id)
        .bind(work::is_unfinished(&job)?)
        .fetch_one(&mut *transaction)
        .await
        .map_err(reading)?;
    sqlx::query(REMOVE)
        .bind(id)
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    // Last, because the row of units stays locked from here on.
    let at = UnixMillis(job.try_get("updated_at").map_err(reading)?);
    work::give_back(&mut transaction, &job, units, at).await?;
    transaction.commit().await.map_err(writing)
}
