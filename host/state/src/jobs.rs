//! The queue of asynchronous jobs: what every store promises of it.

use uuid::Uuid;

use crate::{
    ChunkResults, Claim, Claimant, Job, JobError, JobStatus, Lease, LeaseStatus, NewJob,
    PassedOverJobs, PurgeCounts, Reply, Submission, TenantId, UnixMillis,
};

/// Jobs, their rows and results, and the keys that they may be repeated by.
///
/// A job is shown only to its tenant and only before its `expires_at`. For everybody else, and
/// after that, it does not exist.
pub trait Jobs: Send + Sync {
    /// Accepts a job in one durable transaction: its rows, its key and its units.
    ///
    /// It checks, in this order: the key, whether jobs are paused, the tenant's queue, its bytes,
    /// its units. Of many identical submissions at once, over all hosts, one is accepted and the
    /// others find it. A job whose id is taken, or which has no chunk, is an error.
    fn submit(&self, job: NewJob) -> Reply<Submission>;

    /// Withdraws a submission without a key whose outcome is unknown: removes its job, with rows
    /// and results, and gives back all of its units. It first waits for the submission, where that
    /// is still under way. So the job does not appear after an answer. It may be repeated.
    ///
    /// A job that is another tenant's, or has a key, stays as it is.
    fn withdraw(&self, tenant: TenantId, id: Uuid) -> Reply<()>;

    /// Looks up a repeated submission by its key. Returns the outcome of [`Jobs::submit`] that the
    /// key alone decides, or none where it decides none.
    fn find_submission(
        &self,
        tenant: TenantId,
        key: crate::Idempotency,
        now: UnixMillis,
    ) -> Reply<Option<Submission>>;

    /// Returns a job.
    fn job(&self, tenant: TenantId, id: Uuid, now: UnixMillis) -> Reply<Option<Job>>;

    /// Returns the results of a finished chunk.
    fn output(
        &self,
        tenant: TenantId,
        id: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Reply<Option<Vec<u8>>>;

    /// Claims a job that nobody works on and the claimant can work on, until `lease_millis` from
    /// now, or returns none. Tenants take turns, and a tenant's jobs go in the order of their
    /// submission. A queued job becomes running. The claim counts one more attempt of the job's
    /// next chunk.
    ///
    /// A claim that does not reach its caller is given back before the next one, and its attempt
    /// does not count.
    fn claim(&self, claimant: Claimant, now: UnixMillis, lease_millis: i64)
    -> Reply<Option<Claim>>;

    /// Returns the rows of a chunk without results, or none where the lease is lost.
    fn input(&self, lease: Lease, chunk: u32) -> Reply<Option<Vec<u8>>>;

    /// Renews the lease of a job.
    fn renew(&self, lease: Lease, now: UnixMillis, lease_millis: i64) -> Reply<LeaseStatus>;

    /// Finishes the job's next chunk in one transaction: stores its results, drops its rows, and
    /// gives units back. It also counts the first attempt of the chunk after it, and renews the
    /// lease. After the last chunk, the job is completed.
    ///
    /// A chunk that the same claim has finished already is [`LeaseStatus::Held`] and changes
    /// nothing. So a host may repeat this after an error. No more units are given back than the
    /// chunk cost. A store that refuses the rows refuses a repetition too, and says so by
    /// [`RefusedRows`](crate::StateError::RefusedRows).
    fn finish_chunk(
        &self,
        lease: Lease,
        results: ChunkResults,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<LeaseStatus>;

    /// Ends a job that cannot be finished. The units of chunks without results are given back;
    /// finished results stay charged.
    fn fail(&self, lease: Lease, error: JobError, now: UnixMillis) -> Reply<LeaseStatus>;

    /// Releases a job: it can be claimed at once, and the attempt does not count. The claim is
    /// over, and its holder can write nothing any more.
    fn release_lease(&self, lease: Lease) -> Reply<LeaseStatus>;

    /// Returns the status of a job whose last claim this is. There is none where the job was
    /// released or claimed since, or is gone. So a job that ended did so under this claim.
    fn claim_status(&self, lease: Lease) -> Reply<Option<JobStatus>>;

    /// Counts the jobs of all tenants that are queued or running.
    fn waiting(&self) -> Reply<u64>;

    /// Returns the time at which the oldest of these jobs was accepted, if there is one.
    fn oldest_waiting(&self) -> Reply<Option<UnixMillis>>;

    /// Counts the jobs that nobody works on and that the claimant cannot work on. Those that it
    /// excludes do not count.
    fn count_passed_over(&self, claimant: Claimant, now: UnixMillis) -> Reply<PassedOverJobs>;

    /// Removes expired rows: jobs with their rows and results, and then the documents of old keys.
    /// Of a job that nobody finished, the units of the chunks without results are given back, and
    /// its key tells that it failed.
    ///
    /// A job whose rows the store cannot read or change stays. It keeps no other from being
    /// removed.
    ///
    /// A call removes a bounded number, so that it ends in the time of one operation. The counts
    /// say whether to call again.
    ///
    /// `now` is taken as it is, unlike by other operations. The caller guards the clock that
    /// [`Jobs::job_time`] returns, since a clock that is set ahead must not empty the store.
    fn purge(&self, now: UnixMillis) -> Reply<PurgeCounts>;

    /// Counts the jobs whose rows this process found damaged, each once and at most 10,000 of them.
    /// Reads memory alone.
    fn damaged_jobs(&self) -> u64;

    /// Returns the time that jobs go by: the caller's, or that of the store's own clock where the
    /// caller's is far from it. Reads memory alone.
    fn job_time(&self, now: UnixMillis) -> UnixMillis {
        now
    }
}
