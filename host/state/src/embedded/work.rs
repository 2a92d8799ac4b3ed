//! Working on jobs: claims, leases and checkpoints.
//!
//! A lease is of one opening of the file by one process. A process that ended holds nothing, so
//! at the next opening every running job can be claimed at once.

use std::ops::Bound;

use redb::ReadableTable;

use super::error::{reading, writing};
use super::job_rows::{change_load, find, find_undamaged, leave_queue, put};
use super::records::StoredJob;
use super::tables::{JobKey, Tables};
use crate::damaged_jobs::DamagedJobs;
use crate::object_reference::chunk_bytes;
use crate::{
    ChunkResults, Claim, Claimant, Job, JobError, JobStatus, Lease, LeaseStatus, ObjectReference,
    StateError, UnixMillis, UsageSource,
};

/// The entry that holds the tenant whose job was claimed last.
const TURN: &str = "turn";
/// The counter of openings of the file.
pub(super) const OPENINGS: &str = "openings";
/// The counter of fencing numbers.
const FENCES: &str = "fences";

/// Finds the first job that can be claimed. Tenants after the last claim's tenant come first.
fn next_claimable_job(
    tables: &mut Tables<'_>,
    claimant: &Claimant,
    now: UnixMillis,
    damaged_jobs: &DamagedJobs,
) -> Result<Option<StoredJob>, StateError> {
    let turn = tables.switches.read()?.get(TURN).map_err(reading)?;
    let turn = turn.map_or_else(String::new, |turn| turn.value().to_owned());
    let last = (turn.as_str(), u64::MAX);
    let queue = tables.queue.read()?;
    let jobs = tables.jobs.read()?;
    let inputs = tables.inputs.read()?;
    for range in [
        (Bound::Excluded(last), Bound::Unbounded),
        (Bound::Unbounded, Bound::Included(last)),
    ] {
        for row in queue.range::<(&str, u64)>(range).map_err(reading)? {
            let (_, value) = row.map_err(reading)?;
            let (id, opening, leased_until) = value.value();
            if opening == tables.opening && now.0 < leased_until {
                continue;
            }
            if let Some(stored) = find_undamaged(jobs, id, damaged_jobs)?
                && now < stored.job.expires_at
                && !claimant.excludes(stored.job.id)
                && can_work_on(claimant, &stored, inputs)?
            {
                return Ok(Some(stored));
            }
        }
    }
    Ok(None)
}

/// Reports whether the claimant has the release of a job, and reads the rows of its next chunk.
pub(super) fn can_work_on(
    claimant: &Claimant,
    stored: &StoredJob,
    inputs: &impl ReadableTable<(JobKey, u32), &'static [u8]>,
) -> Result<bool, StateError> {
    if !claimant.runs(&stored.job.release_id) {
        return Ok(false);
    }
    if claimant.reads_objects {
        return Ok(true);
    }
    let input = inputs.get((stored.id(), stored.next)).map_err(reading)?;
    Ok(input.is_none_or(|input| ObjectReference::from_bytes(input.value()).is_none()))
}

pub(super) fn claim(
    tables: &mut Tables<'_>,
    claimant: &Claimant,
    (now, lease_millis): (UnixMillis, i64),
    damaged_jobs: &DamagedJobs,
) -> Result<Option<Claim>, StateError> {
    let Some(mut stored) = next_claimable_job(tables, claimant, now, damaged_jobs)? else {
        return Ok(None);
    };
    let shared = tables.shared.read()?.get(stored.id()).map_err(reading)?;
    let shared = shared.map_or_else(Vec::new, |shared| shared.value().to_vec());
    stored.fence = tables.next(FENCES)?;
    stored.attempts = stored.attempts.saturating_add(1);
    if stored.job.status == JobStatus::Queued {
        stored.job.status = JobStatus::Running;
        mark_updated(&mut stored.job, now);
    }
    put(tables, &stored)?;
    set_lease_end(tables, &stored, now.0.saturating_add(lease_millis))?;
    let switches = tables.switches.edit()?;
    switches
        .insert(TURN, stored.job.tenant.as_str())
        .map_err(writing)?;
    Ok(Some(Claim {
        lease: Lease {
            job: stored.job.id,
            fence: stored.fence,
        },
        shared,
        next: stored.next,
        attempts: stored.attempts,
        job: stored.job,
    }))
}

/// Records until when this opening of the file has the job.
fn set_lease_end(
    tables: &mut Tables<'_>,
    stored: &StoredJob,
    until: i64,
) -> Result<(), StateError> {
    let value: (JobKey, u64, i64) = (stored.id(), tables.opening, until);
    let row_key = (stored.job.tenant.as_str(), stored.sequence);
    tables
        .queue
        .edit()?
        .insert(row_key, value)
        .map_err(writing)?;
    Ok(())
}

/// Returns the job, if this is still its last claim.
fn claimed_job(tables: &mut Tables<'_>, lease: Lease) -> Result<Option<StoredJob>, StateError> {
    let found = find(tables.jobs.read()?, lease.job.into_bytes())?;
    Ok(found.filter(|stored| stored.fence == lease.fence))
}

/// Returns the job, if this is still its last claim and the job is running.
fn running_job(tables: &mut Tables<'_>, lease: Lease) -> Result<Option<StoredJob>, StateError> {
    Ok(claimed_job(tables, lease)?.filter(|stored| stored.job.status == JobStatus::Running))
}

pub(super) fn renew(
    tables: &mut Tables<'_>,
    lease: Lease,
    now: UnixMillis,
    lease_millis: i64,
) -> Result<LeaseStatus, StateError> {
    let Some(stored) = running_job(tables, lease)?.filter(|stored| now < stored.job.expires_at)
    else {
        return Ok(LeaseStatus::Lost);
    };
    set_lease_end(tables, &stored, now.0.saturating_add(lease_millis))?;
    Ok(LeaseStatus::Held)
}

pub(super) fn finish_chunk(
    tables: &mut Tables<'_>,
    lease: Lease,
    results: &ChunkResults,
    now: UnixMillis,
    lease_millis: i64,
) -> Result<LeaseStatus, StateError> {
    let found = claimed_job(tables, lease)?.filter(|stored| now < stored.job.expires_at);
    let Some(mut stored) = found else {
        return Ok(LeaseStatus::Lost);
    };
    if results.chunk < stored.next {
        // This claim has finished it before, and its answer was lost on the way.
        return Ok(LeaseStatus::Held);
    }
    if results.chunk != stored.next || stored.job.status != JobStatus::Running {
        return Ok(LeaseStatus::Lost);
    }
    let row_key = (stored.id(), results.chunk);
    let inputs = tables.inputs.edit()?;
    let input = inputs.remove(row_key).map_err(writing)?;
    let dropped = input.map_or(0, |input| chunk_bytes(input.value()));
    let output = results.output.as_slice();
    let outputs = tables.outputs.edit()?;
    outputs.insert(row_key, output).map_err(writing)?;
    let stored_bytes = chunk_bytes(output);
    stored.bytes = stored
        .bytes
        .saturating_sub(dropped)
        .saturating_add(stored_bytes);

    let mut refund = 0;
    if let Some(units) = stored.units.get_mut(results.chunk as usize) {
        refund = results.refund.min(*units);
        *units -= refund;
    }
    let source = UsageSource::job(stored.job.id, now);
    tables.give_back(&stored.job.tenant, stored.month, refund.into(), source)?;
    let tally = &mut stored.job.tally;
    tally.valued = tally.valued.saturating_add(results.tally.valued);
    tally.referred = tally.referred.saturating_add(results.tally.referred);
    tally.rejected = tally.rejected.saturating_add(results.tally.rejected);
    tally.valuation_failed = tally
        .valuation_failed
        .saturating_add(results.tally.valuation_failed);
    stored.next += 1;
    stored.attempts = 1;
    mark_updated(&mut stored.job, now);
    let finished = stored.next == stored.job.chunks;
    if finished {
        end_job(tables, &mut stored, JobStatus::Completed)?;
    } else {
        set_lease_end(tables, &stored, now.0.saturating_add(lease_millis))?;
    }
    change_load(tables, &stored.job.tenant, |queued, occupied| {
        let occupied = occupied
            .saturating_sub(dropped)
            .saturating_add(stored_bytes);
        (queued.saturating_sub(finished.into()), occupied)
    })?;
    put(tables, &stored)?;
    Ok(LeaseStatus::Held)
}

/// Ends a job: sets its status, and removes it from the queue.
fn end_job(
    tables: &mut Tables<'_>,
    stored: &mut StoredJob,
    status: JobStatus,
) -> Result<(), StateError> {
    stored.job.status = status;
    tables.shared.edit()?.remove(stored.id()).map_err(writing)?;
    leave_queue(tables, stored)
}

pub(super) fn fail(
    tables: &mut Tables<'_>,
    lease: Lease,
    error: JobError,
    now: UnixMillis,
) -> Result<LeaseStatus, StateError> {
    let Some(mut stored) = running_job(tables, lease)?.filter(|stored| now < stored.job.expires_at)
    else {
        return Ok(LeaseStatus::Lost);
    };
    let mut dropped = 0;
    let inputs = tables.inputs.edit()?;
    for chunk in stored.next..stored.job.chunks {
        let input = inputs.remove((stored.id(), chunk)).map_err(writing)?;
        dropped += input.map_or(0, |input| chunk_bytes(input.value()));
    }
    let unfinished = stored.unfinished_units();
    let source = UsageSource::job(stored.job.id, now);
    tables.give_back(&stored.job.tenant, stored.month, unfinished, source)?;
    end_job(tables, &mut stored, JobStatus::Failed)?;
    stored.bytes = stored.bytes.saturating_sub(dropped);
    mark_updated(&mut stored.job, now);
    stored.job.error = Some(error);
    change_load(tables, &stored.job.tenant, |queued, occupied| {
        (queued.saturating_sub(1), occupied.saturating_sub(dropped))
    })?;
    put(tables, &stored)?;
    Ok(LeaseStatus::Held)
}

pub(super) fn release_lease(
    tables: &mut Tables<'_>,
    lease: Lease,
) -> Result<LeaseStatus, StateError> {
    let Some(mut stored) = running_job(tables, lease)? else {
        return Ok(LeaseStatus::Lost);
    };
    // A new number, so that the earlier holder can no longer write.
    stored.fence = tables.next(FENCES)?;
    stored.attempts = stored.attempts.saturating_sub(1);
    put(tables, &stored)?;
    set_lease_end(tables, &stored, i64::MIN)?;
    Ok(LeaseStatus::Held)
}

/// Dates the last change of a job. It never goes back, although a claim takes its time before it
/// waits.
fn mark_updated(job: &mut Job, now: UnixMillis) {
    job.updated_at = job.updated_at.max(now);
}
