//! The tests that every store of the state must pass.
//!
//! A store joins by implementing [`Store`] and naming itself in [`state_suite`].

pub(crate) mod accounts;
pub(crate) mod claims;
pub(crate) mod jobs;
pub(crate) mod model;
pub(crate) mod promotions;
pub(crate) mod switches;
pub(crate) mod usage;
pub(crate) mod withdrawals;
pub(crate) mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::test_support::TestSigner;
use domesday_state::*;
use uuid::Uuid;

/// A source of the suite's states.
pub(crate) trait Store {
    /// The implementation under test.
    type State: State + 'static;

    /// Creates a store that holds no state yet.
    fn empty() -> Self;

    /// Opens the state of this place; only after an earlier one was dropped.
    fn open(&self) -> Self::State;

    /// Opens the same state as another host does, or returns the same handle where one process
    /// alone can have it open.
    fn second(&self, first: &Arc<Self::State>) -> Arc<Self::State> {
        Arc::clone(first)
    }

    /// Removes a row of the promotion ledger, as someone does who can write the store. Only while
    /// no handle has it open.
    fn remove_promotion(&self, key: u32);
}

/// Time limit within which another host sees a change.
pub(crate) const SEEN: Duration = Duration::from_secs(1);

/// Waits until `what` holds, and fails after `bound`.
#[track_caller]
pub(crate) fn within(bound: Duration, what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < bound, "not within {bound:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs the whole suite against one store.
macro_rules! state_suite {
    ($store:ty: $($module:ident { $($test:ident)* })*) => {
        $(mod $module {
            use super::*;
            $(#[test] fn $test() { suite::$module::$test::<$store>(); })*
        })*
    };
    ($store:ty) => {
        suite::state_suite!($store:
            accounts {
                a_new_state_is_empty
                tenants_are_kept
                a_key_opens_its_own_access
                a_wrong_key_opens_nothing
                a_revoked_key_opens_nothing_ever_again
                a_key_expires_on_its_millisecond
                keys_of_a_tenant_are_independent
                a_tenant_is_disabled_and_enabled
                a_changed_plan_reaches_every_key
                failed_creation_changes_nothing
                everything_survives_a_restart
                threads_see_one_state
            }
            usage {
                charges_add_up_to_the_allowance
                no_units_are_always_granted
                months_and_tenants_are_apart
                a_refund_never_goes_below_nothing
                sixty_four_threads_use_exactly_the_allowance
                units_survive_a_restart
                the_ledger_has_an_entry_for_each_change
                entries_of_earlier_months_are_removed
                months_with_entries_are_listed_latest_first
            }
            jobs {
                an_accepted_job_is_queued_and_charged
                a_job_is_its_tenants_alone
                an_id_is_used_once_and_a_job_has_rows
                a_submission_is_refused_in_order
                a_known_key_answers_with_its_job
                a_hundred_identical_submissions_are_one_job
                a_job_is_gone_on_its_millisecond
                a_key_is_never_forgotten
                a_job_that_outlives_its_time_is_given_back
                a_job_of_no_units_fits_into_every_month
                closing_waits_for_submissions_under_way
                many_jobs_are_purged_at_once
                bytes_are_counted_exactly
                a_reference_counts_as_its_object
            }
            withdrawals {
                a_withdrawn_job_leaves_nothing_and_costs_nothing
                a_job_of_a_key_or_of_another_tenant_is_not_withdrawn
            }
            claims {
                the_oldest_waiting_job_is_that_of_any_tenant
                tenants_take_turns
                a_host_claims_only_jobs_of_its_releases
                a_host_without_object_storage_claims_no_job_in_it
                many_workers_do_each_job_once
            }
            work {
                a_job_goes_from_queued_to_completed
                a_job_is_never_updated_earlier_than_before
                a_lease_ends_on_its_millisecond
                attempts_are_counted_by_chunk
                a_job_let_go_can_be_claimed_at_once
                chunks_are_finished_once_and_in_order
                a_failed_job_refunds_unfinished_rows
                jobs_go_on_after_a_restart
            }
            model {
                random_operations_match_the_model
            }
            promotions {
                a_promotion_and_its_entry_are_kept_together
                promotions_of_two_hosts_at_once_are_one_chain
                a_promotion_after_a_missing_row_overwrites_none
            }
            switches {
                switches_are_kept
                secrets_of_cursors_are_begun_once_and_rotate
                keys_of_receipts_are_begun_once_and_erased_for_good
                hosts_that_ask_at_once_get_one_key_of_receipts
            }
        );
    };
}
pub(crate) use state_suite;

pub(crate) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
pub(crate) const LATER: UnixMillis = UnixMillis(NOW.0 + 1);

pub(crate) fn id(text: &str) -> TenantId {
    text.parse().unwrap()
}

pub(crate) fn with_tenant<S: Store>() -> (S, S::State) {
    let store = S::empty();
    let state = store.open();
    state
        .create_tenant(&id("acme"), &Plan::default(), NOW)
        .unwrap();
    (store, state)
}

pub(crate) const JUNE: Month = Month {
    year: 2031,
    month: 6,
};

/// Returns the time `millis` milliseconds after [`NOW`].
pub(crate) fn after(millis: i64) -> UnixMillis {
    UnixMillis(NOW.0 + millis)
}

/// Waits for a reply, and returns its result.
pub(crate) fn outcome<T>(reply: Reply<T>) -> Result<T, StateError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(reply)
}

/// Waits for a reply, and returns its value.
pub(crate) fn wait<T>(reply: Reply<T>) -> T {
    outcome(reply).unwrap()
}

pub(crate) fn used_units(state: &impl Usage, tenant: &str) -> u64 {
    wait(state.used_units(id(tenant), JUNE))
}

/// Makes a job of these chunks, each given by its rows, units and bytes, that no limit refuses.
pub(crate) fn job_of(tenant: &str, number: u128, chunks: &[(u32, u32, &[u8])]) -> NewJob {
    let chunk = |&(rows, units, input): &(u32, u32, &[u8])| NewChunk {
        rows,
        units,
        input: input.to_vec(),
    };
    NewJob {
        id: Uuid::from_u128(number),
        tenant: id(tenant),
        mode: JobMode::Standard,
        release_id: "release".into(),
        shared: b"shared".to_vec(),
        chunks: chunks.iter().map(chunk).collect(),
        idempotency: None,
        month: JUNE,
        allowance: u64::MAX,
        queued_jobs: u32::MAX,
        stored_bytes: u64::MAX,
        now: NOW,
    }
}

pub(crate) fn key(text: &str, digest: u8) -> Idempotency {
    Idempotency {
        key: text.into(),
        digest: [digest; 32],
    }
}

pub(crate) fn submit(state: &impl Jobs, job: NewJob) -> Submission {
    wait(state.submit(job))
}

/// Promotes a release by name alone.
pub(crate) fn promote(state: &dyn State, kind: ReleaseKind, release_id: &str) -> LedgerRecord {
    let promotion = NewPromotion {
        kind,
        release_id: release_id.to_owned(),
        manifest: format!("digest of {release_id}"),
        who: "alice@host".to_owned(),
        at: NOW,
        reason: Some("a \"better\" model: \u{e9}\n".to_owned()),
        report: None,
        approved_by: None,
    };
    state.promote(promotion, Arc::new(TestSigner)).unwrap()
}

/// Finishes a chunk whose one row was valued.
pub(crate) fn finish(state: &impl Jobs, lease: Lease, chunk: u32, output: &[u8]) {
    let done = ChunkResults {
        chunk,
        output: output.to_vec(),
        tally: Tally {
            valued: 1,
            ..Tally::default()
        },
        refund: 0,
    };
    assert_eq!(
        wait(state.finish_chunk(lease, done, NOW, 30_000)),
        LeaseStatus::Held
    );
}
