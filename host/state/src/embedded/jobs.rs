//! Jobs in the file: submitting and reading them.

use std::ops::Bound;
use std::sync::Arc;

use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata};
use uuid::Uuid;

use super::claims::ClaimWork;
use super::counts::{StoredEntry, difference};
use super::error::{reading, writing};
use super::job_removal::{PURGED_AT_ONCE, remove_expired, remove_job};
use super::job_rows::{change_load, find, find_undamaged, load, put};
use super::records::StoredJob;
use super::switch_names::PAUSED;
use super::tables::{COUNTERS, IDEMPOTENCY, INPUTS, JOBS, OUTPUTS, QUEUE, Tables};
use super::usage::sum_within_allowance;
use super::{EmbeddedState, in_time, keys, work};
use crate::claim_delivery::ClaimDelivery;
use crate::damaged_jobs::DamagedJobs;
use crate::object_reference::chunk_bytes;
use crate::{
    ChunkResults, Claim, Claimant, Idempotency, JOB_RETENTION_MILLIS, Job, JobError, JobStatus,
    Jobs, Lease, LeaseStatus, NewJob, PassedOverJobs, PurgeCounts, Reply, StateError, Submission,
    Tally, TenantId, UnixMillis, UsageSource,
};

fn submit(tables: &mut Tables<'_>, new: NewJob) -> Result<Submission, StateError> {
    let NewJob { tenant, now, .. } = &new;
    if let Some(idempotency) = &new.idempotency {
        let (keys, jobs) = (tables.idempotency.read()?, tables.jobs.read()?);
        if let Some(answer) = keys::find_submission(keys, jobs, tenant, idempotency, *now)? {
            return Ok(answer);
        }
    }
    let switches = tables.switches.read()?;
    if switches.get(PAUSED).map_err(reading)?.is_some() {
        return Ok(Submission::Paused);
    }
    let (queued, occupied) = load(tables, tenant)?;
    if queued >= new.queued_jobs {
        return Ok(Submission::QueueFull);
    }
    let bytes: u64 = new
        .chunks
        .iter()
        .map(|chunk| chunk_bytes(&chunk.input))
        .sum();
    let occupied = occupied.saturating_add(bytes);
    if occupied > new.stored_bytes {
        return Ok(Submission::StoreFull);
    }
    let units: Vec<u32> = new.chunks.iter().map(|chunk| chunk.units).collect();
    let cost = units.iter().copied().map(u64::from).sum();
    let before = tables.used_units(tenant, new.month)?;
    let Some(after) = sum_within_allowance(before, cost, new.allowance) else {
        return Ok(Submission::Exhausted { used: before });
    };
    if new.chunks.is_empty() {
        return Err(StateError::EmptyJob { job: new.id });
    }
    if find(tables.jobs.read()?, new.id.into_bytes())?.is_some() {
        return Err(StateError::JobIdTaken { job: new.id });
    }
    accept(tables, new, units, bytes, after)
}

fn accept(
    tables: &mut Tables<'_>,
    new: NewJob,
    units: Vec<u32>,
    bytes: u64,
    used: u64,
) -> Result<Submission, StateError> {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let job = Job {
        id: new.id,
        tenant: new.tenant,
        mode: new.mode,
        status: JobStatus::Queued,
        release_id: new.release_id,
        request_count: new.chunks.iter().map(|chunk| chunk.rows).sum(),
        created_at: new.now,
        updated_at: new.now,
        expires_at: UnixMillis(new.now.0.saturating_add(JOB_RETENTION_MILLIS)),
        chunks: count(new.chunks.len()),
        tally: Tally::default(),
        error: None,
    };
    let stored = StoredJob {
        next: 0,
        attempts: 0,
        fence: 0,
        sequence: tables.next("submissions")?,
        month: new.month,
        units,
        bytes,
        key: new
            .idempotency
            .as_ref()
            .map(|idempotency| idempotency.key.clone()),
        job: job.clone(),
    };
    let id = stored.id();
    put(tables, &stored)?;
    let shared = tables.shared.edit()?;
    shared.insert(id, new.shared.as_slice()).map_err(writing)?;
    let inputs = tables.inputs.edit()?;
    for (number, chunk) in new.chunks.iter().enumerate() {
        inputs
            .insert((id, count(number)), chunk.input.as_slice())
            .map_err(writing)?;
    }
    let queue = tables.queue.edit()?;
    queue
        .insert((job.tenant.as_str(), stored.sequence), (id, 0, 0))
        .map_err(writing)?;
    let ends = tables.job_ends.edit()?;
    ends.insert((job.expires_at.0, id), ()).map_err(writing)?;
    change_load(tables, &job.tenant, |queued, occupied| {
        (queued + 1, occupied.saturating_add(bytes))
    })?;
    let units = stored.unfinished_units();
    if units > 0 {
        let source = UsageSource::job(job.id, job.created_at);
        let entry = StoredEntry::new(source, difference(units, 0));
        tables.change_used(&job.tenant, stored.month, used, entry);
    }
    if let Some(idempotency) = &new.idempotency {
        keys::insert(tables, &job, idempotency)?;
    }
    Ok(Submission::Accepted(job))
}

/// Removes a job without a key, and gives back all of its units.
fn withdraw(tables: &mut Tables<'_>, tenant: &TenantId, id: Uuid) -> Result<(), StateError> {
    let found = find(tables.jobs.read()?, id.into_bytes())?;
    let Some(stored) = found.filter(|stored| stored.job.tenant == *tenant && stored.key.is_none())
    else {
        return Ok(());
    };
    let source = UsageSource::job(id, stored.job.updated_at);
    tables.give_back(tenant, stored.month, stored.finished_units(), source)?;
    let end = (stored.job.expires_at.0, stored.id());
    tables.job_ends.edit()?.remove(end).map_err(writing)?;
    let now = stored.job.updated_at;
    remove_job(tables, stored, now)
}

/// Returns a job that this tenant may see at this moment.
fn visible_job(
    transaction: &ReadTransaction,
    tenant: &TenantId,
    id: Uuid,
    now: UnixMillis,
) -> Result<Option<Job>, StateError> {
    let jobs = transaction.open_table(JOBS).map_err(reading)?;
    let found = find(&jobs, id.into_bytes())?;
    Ok(found
        .map(|stored| stored.job)
        .filter(|job| job.tenant == *tenant)
        .filter(|job| now < job.expires_at))
}

/// Returns the earliest acceptance of the first jobs in the tenants' queues.
fn oldest_waiting(
    transaction: &ReadTransaction,
    damaged_jobs: &DamagedJobs,
) -> Result<Option<UnixMillis>, StateError> {
    let queue = transaction.open_table(QUEUE).map_err(reading)?;
    let jobs = transaction.open_table(JOBS).map_err(reading)?;
    let mut oldest: Option<UnixMillis> = None;
    let mut after = Bound::Unbounded;
    loop {
        let from = after
            .as_ref()
            .map(|(tenant, sequence): &(String, u64)| (tenant.as_str(), *sequence));
        let mut rest = queue.range((from, Bound::Unbounded)).map_err(reading)?;
        let Some(first) = rest.next() else {
            return Ok(oldest);
        };
        let (key, entry) = first.map_err(reading)?;
        let (tenant, sequence) = key.value();
        let passed = match find_undamaged(&jobs, entry.value().0, damaged_jobs)? {
            Some(stored) => {
                let accepted = stored.job.created_at;
                oldest = Some(oldest.map_or(accepted, |known| known.min(accepted)));
                u64::MAX
            }
            None => sequence,
        };
        after = Bound::Excluded((tenant.to_owned(), passed));
    }
}

/// Counts the jobs that nobody works on and the claimant cannot work on.
fn count_passed_over(
    transaction: &ReadTransaction,
    claimant: &Claimant,
    now: UnixMillis,
    damaged_jobs: &DamagedJobs,
) -> Result<PassedOverJobs, StateError> {
    let queue = transaction.open_table(QUEUE).map_err(reading)?;
    let jobs = transaction.open_table(JOBS).map_err(reading)?;
    let inputs = transaction.open_table(INPUTS).map_err(reading)?;
    let counters = transaction.open_table(COUNTERS).map_err(reading)?;
    let current = counters.get(work::OPENINGS).map_err(reading)?;
    let current = current.map_or(0, |number| number.value());
    let mut passed_over = PassedOverJobs::default();
    for row in queue.iter().map_err(reading)? {
        let (_, entry) = row.map_err(reading)?;
        let (id, opening, leased_until) = entry.value();
        if (opening != current || leased_until <= now.0)
            && let Some(stored) = find_undamaged(&jobs, id, damaged_jobs)?
            && now < stored.job.expires_at
            && !claimant.excludes(stored.job.id)
            && !work::can_work_on(claimant, &stored, &inputs)?
        {
            passed_over.add(claimant, &stored.job);
        }
    }
    Ok(passed_over)
}

impl Jobs for EmbeddedState {
    fn submit(&self, job: NewJob) -> Reply<Submission> {
        self.durable(move |tables| submit(tables, job))
    }

    fn withdraw(&self, tenant: TenantId, id: Uuid) -> Reply<()> {
        // The submission was begun before, so that it is done or refused before this is.
        self.durable_at_last(move |tables| withdraw(tables, &tenant, id))
    }

    fn find_submission(
        &self,
        tenant: TenantId,
        key: Idempotency,
        now: UnixMillis,
    ) -> Reply<Option<Submission>> {
        self.read(move |transaction| {
            let keys = transaction.open_table(IDEMPOTENCY).map_err(reading)?;
            let jobs = transaction.open_table(JOBS).map_err(reading)?;
            keys::find_submission(&keys, &jobs, &tenant, &key, now)
        })
    }

    fn job(&self, tenant: TenantId, id: Uuid, now: UnixMillis) -> Reply<Option<Job>> {
        self.read(move |transaction| visible_job(transaction, &tenant, id, now))
    }

    fn output(
        &self,
        tenant: TenantId,
        id: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Reply<Option<Vec<u8>>> {
        self.read(move |transaction| {
            if visible_job(transaction, &tenant, id, now)?.is_none() {
                return Ok(None);
            }
            let outputs = transaction.open_table(OUTPUTS).map_err(reading)?;
            let found = outputs.get((id.into_bytes(), chunk)).map_err(reading)?;
            Ok(found.map(|output| output.value().to_vec()))
        })
    }

    fn claim(
        &self,
        claimant: Claimant,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<Option<Claim>> {
        let claim = |answer| ClaimWork::new(claimant, (now, lease_millis), &self.shared, answer);
        let delivery = in_time(self.begin(claim));
        Box::pin(async move { Ok(delivery.await?.and_then(ClaimDelivery::deliver)) })
    }

    fn input(&self, lease: Lease, chunk: u32) -> Reply<Option<Vec<u8>>> {
        self.read(move |transaction| {
            let id = lease.job.into_bytes();
            let jobs = transaction.open_table(JOBS).map_err(reading)?;
            if find(&jobs, id)?.is_none_or(|stored| stored.fence != lease.fence) {
                return Ok(None);
            }
            let inputs = transaction.open_table(INPUTS).map_err(reading)?;
            let found = inputs.get((id, chunk)).map_err(reading)?;
            Ok(found.map(|input| input.value().to_vec()))
        })
    }

    fn renew(&self, lease: Lease, now: UnixMillis, lease_millis: i64) -> Reply<LeaseStatus> {
        self.durable(move |tables| work::renew(tables, lease, now, lease_millis))
    }

    fn finish_chunk(
        &self,
        lease: Lease,
        results: ChunkResults,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<LeaseStatus> {
        self.durable(move |tables| work::finish_chunk(tables, lease, &results, now, lease_millis))
    }

    fn fail(&self, lease: Lease, error: JobError, now: UnixMillis) -> Reply<LeaseStatus> {
        self.durable(move |tables| work::fail(tables, lease, error, now))
    }

    fn release_lease(&self, lease: Lease) -> Reply<LeaseStatus> {
        self.durable(move |tables| work::release_lease(tables, lease))
    }

    fn claim_status(&self, lease: Lease) -> Reply<Option<JobStatus>> {
        self.read(move |transaction| {
            let jobs = transaction.open_table(JOBS).map_err(reading)?;
            let found = find(&jobs, lease.job.into_bytes())?;
            let claimed = found.filter(|stored| stored.fence == lease.fence);
            Ok(claimed.map(|stored| stored.job.status))
        })
    }

    fn waiting(&self) -> Reply<u64> {
        self.read(|transaction| {
            let queue = transaction.open_table(QUEUE).map_err(reading)?;
            queue.len().map_err(reading)
        })
    }

    fn oldest_waiting(&self) -> Reply<Option<UnixMillis>> {
        let damaged_jobs = Arc::clone(&self.shared.damaged_jobs);
        self.read(move |transaction| oldest_waiting(transaction, &damaged_jobs))
    }

    fn count_passed_over(&self, claimant: Claimant, now: UnixMillis) -> Reply<PassedOverJobs> {
        let damaged_jobs = Arc::clone(&self.shared.damaged_jobs);
        self.read(move |transaction| count_passed_over(transaction, &claimant, now, &damaged_jobs))
    }

    fn purge(&self, now: UnixMillis) -> Reply<PurgeCounts> {
        let damaged_jobs = Arc::clone(&self.shared.damaged_jobs);
        self.durable(move |tables| {
            let jobs = remove_expired(tables, now, &damaged_jobs)?;
            let documents = keys::expire_keys(tables, now, PURGED_AT_ONCE as usize)?;
            Ok(PurgeCounts {
                jobs: jobs.removed,
                documents,
                more: jobs.more || documents >= PURGED_AT_ONCE,
            })
        })
    }

    fn damaged_jobs(&self) -> u64 {
        self.shared.damaged_jobs.count()
    }
}
