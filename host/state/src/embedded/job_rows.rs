//! The rows of a job, which submitting it and working on it both change.

use redb::ReadableTable;
use uuid::Uuid;

use super::error::{reading, writing};
use super::records::{StoredJob, decode_job, encode_job};
use super::tables::{JobKey, Tables};
use crate::damaged_jobs::DamagedJobs;
use crate::{StateError, TenantId};

/// Returns a job by its id.
pub(super) fn find(
    jobs: &impl ReadableTable<JobKey, &'static [u8]>,
    id: JobKey,
) -> Result<Option<StoredJob>, StateError> {
    let found = jobs.get(id).map_err(reading)?;
    found
        .map(|found| decode_job(&id, found.value()))
        .transpose()
}

/// Returns a job by its id. One whose row is damaged is logged, and passed over like one that is
/// not there: it must not keep others from being found.
pub(super) fn find_undamaged(
    jobs: &impl ReadableTable<JobKey, &'static [u8]>,
    id: JobKey,
    damaged_jobs: &DamagedJobs,
) -> Result<Option<StoredJob>, StateError> {
    match find(jobs, id) {
        Err(damage @ StateError::Damaged { .. }) => {
            damaged_jobs.record(Uuid::from_bytes(id), &damage);
            Ok(None)
        }
        found => found,
    }
}

/// Stores a job in its row.
pub(super) fn put(tables: &mut Tables<'_>, job: &StoredJob) -> Result<(), StateError> {
    let bytes = encode_job(job)?;
    let jobs = tables.jobs.edit()?;
    jobs.insert(job.id(), bytes.as_slice()).map_err(writing)?;
    Ok(())
}

/// Counts a tenant's jobs that are queued or running, and its bytes.
pub(super) fn load(tables: &mut Tables<'_>, tenant: &TenantId) -> Result<(u32, u64), StateError> {
    let loads = tables.loads.read()?;
    let found = loads.get(tenant.as_str()).map_err(reading)?;
    Ok(found.map_or((0, 0), |load| load.value()))
}

/// Changes a tenant's load by `change`, which takes and returns jobs and bytes.
pub(super) fn change_load(
    tables: &mut Tables<'_>,
    tenant: &TenantId,
    change: impl FnOnce(u32, u64) -> (u32, u64),
) -> Result<(), StateError> {
    let (queued, bytes) = load(tables, tenant)?;
    let loads = tables.loads.edit()?;
    match change(queued, bytes) {
        (0, 0) => loads.remove(tenant.as_str()).map_err(writing)?,
        load => loads.insert(tenant.as_str(), load).map_err(writing)?,
    };
    Ok(())
}

/// Removes a job from its tenant's queue.
pub(super) fn leave_queue(tables: &mut Tables<'_>, stored: &StoredJob) -> Result<(), StateError> {
    let row_key = (stored.job.tenant.as_str(), stored.sequence);
    tables.queue.edit()?.remove(row_key).map_err(writing)?;
    Ok(())
}
