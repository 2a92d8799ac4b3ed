//! Removal of jobs in the file: those that are past their time, and those that are withdrawn.

use redb::ReadableTable;
use uuid::Uuid;

use super::error::{reading, writing};
use super::job_rows::{change_load, find, leave_queue};
use super::keys;
use super::records::StoredJob;
use super::tables::{JobKey, Tables};
use crate::damaged_jobs::DamagedJobs;
use crate::{StateError, UnixMillis, UsageSource};

/// Jobs or keys that one transaction removes, so that a purge never holds up a request for long.
pub(super) const PURGED_AT_ONCE: u32 = 32;

/// The expired jobs that a transaction removed.
pub(super) struct RemovedJobs {
    pub(super) removed: u32,
    /// True if there may be more.
    pub(super) more: bool,
}

/// Removes jobs that are past their time, at most [`PURGED_AT_ONCE`] of them. A damaged row stays:
/// nothing says whose units belong to it. Its rows and results go at the end that its key states.
pub(super) fn remove_expired(
    tables: &mut Tables<'_>,
    now: UnixMillis,
    damaged_jobs: &DamagedJobs,
) -> Result<RemovedJobs, StateError> {
    let (mut over, mut damaged) = (Vec::new(), Vec::new());
    let (ends, jobs) = (tables.job_ends.read()?, tables.jobs.read()?);
    let until = (now.0.saturating_add(1), [0; 16]);
    for row in ends.range(..until).map_err(reading)? {
        let (at, id) = row.map_err(reading)?.0.value();
        match find(jobs, id) {
            Err(damage @ StateError::Damaged { .. }) => {
                damaged_jobs.record(Uuid::from_bytes(id), &damage);
                damaged.push(id);
            }
            found => over.push((at, id, found?)),
        }
        if over.len() >= PURGED_AT_ONCE as usize {
            break;
        }
    }
    let (mut removed, mut emptied) = (0, 0);
    for (at, id, found) in over {
        if let Some(stored) = found {
            remove_job(tables, stored, now)?;
        }
        tables.job_ends.edit()?.remove((at, id)).map_err(writing)?;
        removed += 1;
    }
    for id in damaged {
        emptied += u32::from(empty_damaged_job(tables, id)?);
        if emptied >= PURGED_AT_ONCE {
            break;
        }
    }
    Ok(RemovedJobs {
        removed,
        more: removed.max(emptied) >= PURGED_AT_ONCE,
    })
}

/// Removes the rows and results of a job whose own row is damaged, and reports whether it had any.
fn empty_damaged_job(tables: &mut Tables<'_>, id: JobKey) -> Result<bool, StateError> {
    let chunks = (id, 0)..=(id, u32::MAX);
    let mut had_any = false;
    for table in [&mut tables.inputs, &mut tables.outputs] {
        let mut found = table.read()?.range(chunks.clone()).map_err(reading)?;
        if found.next().is_some() {
            drop(found);
            let table = table.edit()?;
            let removed = table.retain_in(chunks.clone(), |_, _| false);
            removed.map_err(writing)?;
            had_any = true;
        }
    }
    let shared = tables.shared.read()?.get(id).map_err(reading)?;
    if shared.is_some() {
        drop(shared);
        tables.shared.edit()?.remove(id).map_err(writing)?;
        had_any = true;
    }
    Ok(had_any)
}

/// Removes a job, and gives back the units that it has not finished.
pub(super) fn remove_job(
    tables: &mut Tables<'_>,
    stored: StoredJob,
    now: UnixMillis,
) -> Result<(), StateError> {
    let id = stored.id();
    let unfinished = stored.is_unfinished();
    if unfinished {
        let unfinished_units = stored.unfinished_units();
        let source = UsageSource::job(stored.job.id, now);
        tables.give_back(&stored.job.tenant, stored.month, unfinished_units, source)?;
        leave_queue(tables, &stored)?;
    }
    for chunk in 0..stored.job.chunks {
        if chunk < stored.next {
            let outputs = tables.outputs.edit()?;
            outputs.remove((id, chunk)).map_err(writing)?;
        } else {
            let inputs = tables.inputs.edit()?;
            inputs.remove((id, chunk)).map_err(writing)?;
        }
    }
    tables.shared.edit()?.remove(id).map_err(writing)?;
    tables.jobs.edit()?.remove(id).map_err(writing)?;
    change_load(tables, &stored.job.tenant, |queued, occupied| {
        let occupied = occupied.saturating_sub(stored.bytes);
        (queued.saturating_sub(unfinished.into()), occupied)
    })?;
    match stored.key {
        Some(key) => keys::keep_document(tables, stored.job, &key, now),
        None => Ok(()),
    }
}
