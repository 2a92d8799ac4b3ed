//! The keys that submissions may be repeated by.

use redb::ReadableTable;

use super::error::{reading, writing};
use super::records::{IdempotencyRecord, decode_idempotency, decode_job, encode_idempotency};
use super::tables::{JobKey, Tables};
use crate::{
    IDEMPOTENCY_RETENTION_MILLIS, Idempotency, Job, StateError, Submission, TenantId, UnixMillis,
};

/// Returns the reply that the key alone decides, or none where the key is new.
pub(super) fn find_submission(
    keys: &impl ReadableTable<(&'static str, &'static str), &'static [u8]>,
    jobs: &impl ReadableTable<JobKey, &'static [u8]>,
    tenant: &TenantId,
    idempotency: &Idempotency,
    now: UnixMillis,
) -> Result<Option<Submission>, StateError> {
    let found = keys
        .get((owner(tenant), idempotency.key.as_str()))
        .map_err(reading)?;
    let Some(found) = found else { return Ok(None) };
    let (stored_digest, job) = match decode_idempotency(&idempotency.key, found.value())? {
        IdempotencyRecord::Tombstone => return Ok(Some(Submission::KeyExpired)),
        IdempotencyRecord::Document { digest, job } => (digest, *job),
        IdempotencyRecord::Job { digest, job: id } => {
            let stored = jobs.get(id).map_err(reading)?;
            let Some(stored) = stored else {
                return Err(StateError::Damaged {
                    record: format!("idempotency/{}", idempotency.key),
                    reason: "its job is not there".into(),
                });
            };
            (digest, decode_job(&id, stored.value())?.job)
        }
    };
    Ok(Some(if ends_at(&job) <= now {
        Submission::KeyExpired
    } else if stored_digest != idempotency.digest {
        Submission::Conflict
    } else {
        Submission::Known(job.final_document(now))
    }))
}

/// Returns the owner part of a row's key: every tenant has its own keys.
fn owner(tenant: &TenantId) -> &str {
    tenant.as_str()
}

/// Returns when a key stops answering with this job.
fn ends_at(job: &Job) -> UnixMillis {
    UnixMillis(
        job.created_at
            .0
            .saturating_add(IDEMPOTENCY_RETENTION_MILLIS),
    )
}

/// Remembers the key of a new job.
pub(super) fn insert(
    tables: &mut Tables<'_>,
    job: &Job,
    key: &Idempotency,
) -> Result<(), StateError> {
    let record = IdempotencyRecord::Job {
        digest: key.digest,
        job: job.id.into_bytes(),
    };
    put(tables, &job.tenant, &key.key, &record)?;
    let ends = tables.key_ends.edit()?;
    let end = (ends_at(job).0, job.tenant.as_str(), key.key.as_str());
    ends.insert(end, ()).map_err(writing)?;
    Ok(())
}

/// Keeps the document alone of a job that is about to be removed.
pub(super) fn keep_document(
    tables: &mut Tables<'_>,
    job: Job,
    key: &str,
    now: UnixMillis,
) -> Result<(), StateError> {
    let tenant = job.tenant.clone();
    let keys = tables.idempotency.read()?;
    let found = keys.get((tenant.as_str(), key)).map_err(reading)?;
    let record = found
        .map(|found| decode_idempotency(key, found.value()))
        .transpose()?;
    let Some(IdempotencyRecord::Job { digest, .. }) = record else {
        return Ok(());
    };
    let job = Box::new(job.final_document(now));
    put(
        tables,
        &tenant,
        key,
        &IdempotencyRecord::Document { digest, job },
    )
}

/// Turns at most `limit` expired keys into tombstones, and returns their number.
pub(super) fn expire_keys(
    tables: &mut Tables<'_>,
    now: UnixMillis,
    limit: usize,
) -> Result<u32, StateError> {
    let mut over = Vec::new();
    let ends = tables.key_ends.read()?;
    let until = (now.0.saturating_add(1), "", "");
    for row in ends.range(..until).map_err(reading)?.take(limit) {
        let (end, _) = row.map_err(reading)?;
        let (at, tenant, key) = end.value();
        over.push((at, tenant.to_owned(), key.to_owned()));
    }
    for (at, tenant, key) in &over {
        let bytes = encode_idempotency(&IdempotencyRecord::Tombstone)?;
        tables
            .idempotency
            .edit()?
            .insert((tenant.as_str(), key.as_str()), bytes.as_slice())
            .map_err(writing)?;
        tables
            .key_ends
            .edit()?
            .remove((*at, tenant.as_str(), key.as_str()))
            .map_err(writing)?;
    }
    Ok(u32::try_from(over.len()).unwrap_or(u32::MAX))
}

fn put(
    tables: &mut Tables<'_>,
    tenant: &TenantId,
    key: &str,
    record: &IdempotencyRecord,
) -> Result<(), StateError> {
    let bytes = encode_idempotency(record)?;
    let keys = tables.idempotency.edit()?;
    keys.insert((owner(tenant), key), bytes.as_slice())
        .map_err(writing)?;
    Ok(())
}
