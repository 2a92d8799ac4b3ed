//! Rows of the tables, decoded into the types of the crate.

use std::error::Error;

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::error::{reading, storage};
use crate::key::KeyDigest;
use crate::switches::PromotedReleases;
use crate::{
    CursorSecret, CursorSecrets, Job, JobError, JobMode, JobStatus, KeyId, KeyRecord, Plan,
    ReleaseKind, Scopes, StateError, Tally, Tenant, TenantId, UnixMillis,
};

fn damage_error(record: &str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> StateError {
    StateError::Damaged {
        record: record.to_owned(),
        reason: reason.into(),
    }
}

/// Reads the promoted releases from the service's row.
pub(super) fn read_promoted_releases(row: &PgRow) -> Result<PromotedReleases, StateError> {
    let mut promoted = PromotedReleases::default();
    for (what, column) in [
        (ReleaseKind::Valuation, "promoted"),
        (ReleaseKind::Markets, "promoted_markets"),
        (ReleaseKind::Rates, "promoted_rates"),
    ] {
        promoted.set(what, row.try_get(column).map_err(reading)?);
    }
    Ok(promoted)
}

/// Reads the secrets of cursors from the service's row.
pub(super) fn cursor_secrets(row: &PgRow) -> Result<CursorSecrets, StateError> {
    let secret = |column| -> Result<Option<CursorSecret>, StateError> {
        let bytes: Option<Vec<u8>> = row.try_get(column).map_err(reading)?;
        bytes
            .map(|bytes| CursorSecret::try_from(bytes.as_slice()))
            .transpose()
            .map_err(|error| damage_error(column, error))
    };
    Ok(CursorSecrets {
        current: secret("cursor_secret")?,
        before: secret("cursor_secret_before")?,
    })
}

/// Converts a count that is small by its meaning.
pub(super) fn small(record: &str, number: i64) -> Result<u32, StateError> {
    u32::try_from(number).map_err(|error| damage_error(record, error))
}

/// Converts a count that cannot be negative.
pub(super) fn count(record: &str, number: i64) -> Result<u64, StateError> {
    u64::try_from(number).map_err(|error| damage_error(record, error))
}

/// Converts a count to PostgreSQL's signed form, and caps it at the largest number.
pub(super) fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a tenant's id from the column `tenant`.
pub(super) fn tenant_id(row: &PgRow) -> Result<TenantId, StateError> {
    let id: &str = row.try_get("tenant").map_err(reading)?;
    id.parse()
        .map_err(|error| damage_error(&format!("tenants/{id}"), Box::new(error)))
}

pub(super) fn plan_text(plan: &Plan) -> Result<String, StateError> {
    serde_json::to_string(plan).map_err(|error| storage("written", error))
}

/// Reads a tenant from the columns id, plan (as text), enabled and created_at.
pub(super) fn tenant(row: &PgRow) -> Result<Tenant, StateError> {
    let id: &str = row.try_get("id").map_err(reading)?;
    let name = || format!("tenants/{id}");
    let plan: &str = row.try_get("plan").map_err(reading)?;
    Ok(Tenant {
        id: id.parse().map_err(|error| damage_error(&name(), error))?,
        plan: Plan::read_stored(plan).map_err(|error| damage_error(&name(), error))?,
        enabled: row.try_get("enabled").map_err(reading)?,
        created_at: UnixMillis(row.try_get("created_at").map_err(reading)?),
    })
}

/// Reads a key and its digest from the columns of a key.
pub(super) fn key(row: &PgRow) -> Result<(KeyRecord, KeyDigest), StateError> {
    let bytes: &[u8] = row.try_get("id").map_err(reading)?;
    let id = bytes
        .try_into()
        .map(KeyId::from_bytes)
        .map_err(|error| damage_error("keys", error))?;
    let name = || format!("keys/{id}");
    let digest: &[u8] = row.try_get("digest").map_err(reading)?;
    let digest = digest
        .try_into()
        .map(KeyDigest)
        .map_err(|error| damage_error(&name(), error))?;
    let tenant: &str = row.try_get("tenant").map_err(reading)?;
    let scopes: Vec<String> = row.try_get("scopes").map_err(reading)?;
    let time = |column| -> Result<Option<UnixMillis>, StateError> {
        let time: Option<i64> = row.try_get(column).map_err(reading)?;
        Ok(time.map(UnixMillis))
    };
    let record = KeyRecord {
        id,
        tenant: tenant
            .parse()
            .map_err(|error| damage_error(&name(), error))?,
        label: row.try_get("label").map_err(reading)?,
        scopes: Scopes::parse(&scopes).map_err(|error| damage_error(&name(), error))?,
        requires_metric_selection: row.try_get("requires_metric_selection").map_err(reading)?,
        created_at: UnixMillis(row.try_get("created_at").map_err(reading)?),
        expires_at: time("expires_at")?,
        revoked_at: time("revoked_at")?,
    };
    Ok((record, digest))
}

pub(super) fn mode_text(mode: JobMode) -> &'static str {
    match mode {
        JobMode::Simple => "simple",
        JobMode::Standard => "standard",
        JobMode::Development => "development",
    }
}

fn mode(text: &str) -> Option<JobMode> {
    [JobMode::Simple, JobMode::Standard, JobMode::Development]
        .into_iter()
        .find(|mode| mode_text(*mode) == text)
}

fn status(text: &str) -> Option<JobStatus> {
    match text {
        "queued" => Some(JobStatus::Queued),
        "running" => Some(JobStatus::Running),
        "completed" => Some(JobStatus::Completed),
        "failed" => Some(JobStatus::Failed),
        _ => None,
    }
}

/// Reads a job from the columns of the table that a tenant may see.
pub(super) fn job(row: &PgRow) -> Result<Job, StateError> {
    let id: uuid::Uuid = row.try_get("id").map_err(reading)?;
    let name = format!("jobs/{id}");
    let text = |column| -> Result<&str, StateError> { row.try_get(column).map_err(reading) };
    let number =
        |column| -> Result<u32, StateError> { small(&name, row.try_get(column).map_err(reading)?) };
    let time = |column| -> Result<UnixMillis, StateError> {
        Ok(UnixMillis(row.try_get(column).map_err(reading)?))
    };
    let code: Option<String> = row.try_get("error_code").map_err(reading)?;
    let error = match code {
        Some(code) => Some(JobError {
            code,
            message: row.try_get("error_message").map_err(reading)?,
            retryable: row.try_get("error_retryable").map_err(reading)?,
        }),
        None => None,
    };
    let tenant: TenantId = text("tenant")?
        .parse()
        .map_err(|error| damage_error(&name, error))?;
    Ok(Job {
        id,
        tenant,
        mode: mode(text("mode")?).ok_or_else(|| damage_error(&name, "its mode is unknown"))?,
        status: status(text("status")?)
            .ok_or_else(|| damage_error(&name, "its status is unknown"))?,
        release_id: text("release_id")?.to_owned(),
        request_count: number("request_count")?,
        created_at: time("created_at")?,
        updated_at: time("updated_at")?,
        expires_at: time("expires_at")?,
        chunks: number("chunks")?,
        tally: Tally {
            valued: number("valued")?,
            referred: number("referred")?,
            rejected: number("rejected")?,
            valuation_failed: number("valuation_failed")?,
        },
        error,
    })
}
