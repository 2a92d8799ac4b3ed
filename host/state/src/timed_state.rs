//! A state whose operations are timed, and are spans of the requests' traces.
//!
//! The operations that requests and jobs wait for, and the rare ones of operators, are timed. Those
//! that answer from memory are not.

use crate::{
    Access, Accounts, Backup, Charge, ChargeOutcome, ChunkResults, Claim, Claimant, ConnectionPool,
    CreatedKey, CursorSecret, CursorSecrets, Cursors, Idempotency, Job, JobError, JobStatus, Jobs,
    KeyId, KeyRecord, KeySeed, Lease, LeaseStatus, LedgerRecord, LedgerSigner, Month, NewJob,
    NewKey, NewPromotion, PassedOverJobs, Plan, Promotions, PurgeCounts, ReceiptKey, ReceiptKeys,
    ReleaseKind, RemovedEntries, Reply, State, StateCopy, StateError, Submission, Switches, Tenant,
    TenantId, UnixMillis, Usage, UsagePage, UsageQuery, UsageSource,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{Instrument, Span};
use uuid::Uuid;

/// Hears of the operations of a state.
pub trait StateObserver: Send + Sync {
    /// Returns the span of an operation that a request or a job waits for.
    fn begin(&self, operation: &'static str) -> Span;

    /// Receives an operation that ended.
    fn record_operation(&self, operation: &'static str, took: Duration, failed: bool);
}

/// Times the operations of another state.
pub struct TimedState {
    state: Arc<dyn State>,
    observer: Arc<dyn StateObserver>,
}

impl TimedState {
    /// Returns the state, which reports its operations to `observer` from now on.
    pub fn new(state: Arc<dyn State>, observer: Arc<dyn StateObserver>) -> TimedState {
        TimedState { state, observer }
    }

    /// Times an operation that a reply answers. One whose reply is dropped is not recorded.
    fn reply<T: 'static>(&self, operation: &'static str, reply: Reply<T>) -> Reply<T> {
        let (begun, observer) = (Instant::now(), self.observer.clone());
        let span = observer.begin(operation);
        let timed = async move {
            let outcome = reply.await;
            observer.record_operation(operation, begun.elapsed(), outcome.is_err());
            outcome
        };
        Box::pin(timed.instrument(span))
    }

    /// Times an operation that blocks.
    fn block<T>(
        &self,
        operation: &'static str,
        run: impl FnOnce(&dyn State) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let begun = Instant::now();
        let outcome = run(&*self.state);
        self.observer
            .record_operation(operation, begun.elapsed(), outcome.is_err());
        outcome
    }
}

impl Usage for TimedState {
    fn charge(&self, charge: Charge) -> Reply<ChargeOutcome> {
        self.reply("charge", self.state.charge(charge))
    }

    fn refund(&self, tenant: TenantId, month: Month, units: u32, source: UsageSource) -> Reply<()> {
        let refunded = self.state.refund(tenant, month, units, source);
        self.reply("refund", refunded)
    }

    fn usage_months(&self, limit: usize) -> Reply<Vec<Month>> {
        self.reply("usage_months", self.state.usage_months(limit))
    }

    fn used_units(&self, tenant: TenantId, month: Month) -> Reply<u64> {
        self.reply("used_units", self.state.used_units(tenant, month))
    }

    fn usage_entries(&self, query: UsageQuery) -> Reply<UsagePage> {
        self.reply("usage_entries", self.state.usage_entries(query))
    }

    fn remove_usage_entries(&self, before: Month) -> Reply<RemovedEntries> {
        let removed = self.state.remove_usage_entries(before);
        self.reply("remove_usage_entries", removed)
    }
}

impl Backup for TimedState {
    fn copy_to(&self, path: &Path, must_stop: &dyn Fn() -> bool) -> Result<StateCopy, StateError> {
        self.block("copy_to", |state| state.copy_to(path, must_stop))
    }
}

impl Jobs for TimedState {
    fn submit(&self, job: NewJob) -> Reply<Submission> {
        self.reply("submit", self.state.submit(job))
    }

    fn withdraw(&self, tenant: TenantId, id: Uuid) -> Reply<()> {
        self.reply("withdraw", self.state.withdraw(tenant, id))
    }

    fn find_submission(
        &self,
        tenant: TenantId,
        key: Idempotency,
        now: UnixMillis,
    ) -> Reply<Option<Submission>> {
        let found = self.state.find_submission(tenant, key, now);
        self.reply("find_submission", found)
    }

    fn job(&self, tenant: TenantId, id: Uuid, now: UnixMillis) -> Reply<Option<Job>> {
        self.reply("job", self.state.job(tenant, id, now))
    }

    fn output(
        &self,
        tenant: TenantId,
        id: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Reply<Option<Vec<u8>>> {
        self.reply("output", self.state.output(tenant, id, chunk, now))
    }

    fn claim(
        &self,
        claimant: Claimant,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<Option<Claim>> {
        self.reply("claim", self.state.claim(claimant, now, lease_millis))
    }

    fn input(&self, lease: Lease, chunk: u32) -> Reply<Option<Vec<u8>>> {
        self.reply("input", self.state.input(lease, chunk))
    }

    fn renew(&self, lease: Lease, now: UnixMillis, lease_millis: i64) -> Reply<LeaseStatus> {
        self.reply("renew", self.state.renew(lease, now, lease_millis))
    }

    fn finish_chunk(
        &self,
        lease: Lease,
        results: ChunkResults,
        now: UnixMillis,
        lease_millis: i64,
    ) -> Reply<LeaseStatus> {
        let finished = self.state.finish_chunk(lease, results, now, lease_millis);
        self.reply("finish_chunk", finished)
    }

    fn fail(&self, lease: Lease, error: JobError, now: UnixMillis) -> Reply<LeaseStatus> {
        self.reply("fail", self.state.fail(lease, error, now))
    }

    fn release_lease(&self, lease: Lease) -> Reply<LeaseStatus> {
        self.reply("release_lease", self.state.release_lease(lease))
    }

    fn claim_status(&self, lease: Lease) -> Reply<Option<JobStatus>> {
        self.reply("claim_status", self.state.claim_status(lease))
    }

    fn waiting(&self) -> Reply<u64> {
        self.reply("waiting", self.state.waiting())
    }

    fn oldest_waiting(&self) -> Reply<Option<UnixMillis>> {
        self.reply("oldest_waiting", self.state.oldest_waiting())
    }

    fn count_passed_over(&self, claimant: Claimant, now: UnixMillis) -> Reply<PassedOverJobs> {
        self.reply(
            "count_passed_over",
            self.state.count_passed_over(claimant, now),
        )
    }

    fn purge(&self, now: UnixMillis) -> Reply<PurgeCounts> {
        self.reply("purge", self.state.purge(now))
    }

    fn damaged_jobs(&self) -> u64 {
        self.state.damaged_jobs()
    }

    fn job_time(&self, now: UnixMillis) -> UnixMillis {
        self.state.job_time(now)
    }
}

impl Accounts for TimedState {
    fn create_tenant(
        &self,
        id: &TenantId,
        plan: &Plan,
        now: UnixMillis,
    ) -> Result<Tenant, StateError> {
        self.block("create_tenant", |state| state.create_tenant(id, plan, now))
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StateError> {
        self.block("tenants", |state| state.tenants())
    }

    fn set_plan(&self, tenant: &TenantId, plan: &Plan) -> Result<Tenant, StateError> {
        self.block("set_plan", |state| state.set_plan(tenant, plan))
    }

    fn set_enabled(&self, tenant: &TenantId, enabled: bool) -> Result<Tenant, StateError> {
        self.block("set_enabled", |state| state.set_enabled(tenant, enabled))
    }

    fn create_key(
        &self,
        key: &NewKey,
        seed: KeySeed,
        now: UnixMillis,
    ) -> Result<CreatedKey, StateError> {
        self.block("create_key", |state| state.create_key(key, seed, now))
    }

    fn keys(&self, tenant: Option<&TenantId>) -> Result<Vec<KeyRecord>, StateError> {
        self.block("keys", |state| state.keys(tenant))
    }

    fn revoke_key(&self, key: KeyId, now: UnixMillis) -> Result<KeyRecord, StateError> {
        self.block("revoke_key", |state| state.revoke_key(key, now))
    }

    fn authenticate(&self, presented: &str, now: UnixMillis) -> Result<Access, StateError> {
        self.state.authenticate(presented, now)
    }
}

impl Switches for TimedState {
    fn pause_jobs(&self, paused: bool) -> Result<(), StateError> {
        self.block("pause_jobs", |state| state.pause_jobs(paused))
    }

    fn jobs_paused(&self) -> bool {
        self.state.jobs_paused()
    }

    fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.state.promoted_release(what)
    }

    fn degradation(&self) -> Option<String> {
        self.state.degradation()
    }

    fn connection_pools(&self) -> Vec<ConnectionPool> {
        self.state.connection_pools()
    }
}

impl Cursors for TimedState {
    fn begin_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.block("begin_cursors", |state| state.begin_cursors(fresh))
    }

    fn rotate_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.block("rotate_cursors", |state| state.rotate_cursors(fresh))
    }

    fn cursor_secrets(&self) -> CursorSecrets {
        self.state.cursor_secrets()
    }
}

impl ReceiptKeys for TimedState {
    fn receipt_key(&self, tenant: &TenantId, fresh: ReceiptKey) -> Result<ReceiptKey, StateError> {
        self.block("receipt_key", |state| state.receipt_key(tenant, fresh))
    }

    fn receipt_keys(&self) -> Result<Vec<(TenantId, ReceiptKey)>, StateError> {
        self.block("receipt_keys", |state| state.receipt_keys())
    }

    fn erase_receipt_key(&self, tenant: &TenantId) -> Result<bool, StateError> {
        self.block("erase_receipt_key", |state| state.erase_receipt_key(tenant))
    }
}

impl Promotions for TimedState {
    fn promote(
        &self,
        promotion: NewPromotion,
        signer: Arc<dyn LedgerSigner>,
    ) -> Result<LedgerRecord, StateError> {
        self.block("promote", |state| state.promote(promotion, signer))
    }

    fn promotions(&self) -> Result<Vec<LedgerRecord>, StateError> {
        self.block("promotions", |state| state.promotions())
    }
}
