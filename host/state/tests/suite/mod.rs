//! What every store of the state must do, whatever it keeps the state in.
//!
//! A store joins by implementing [`Store`] and naming itself in [`state_suite`].

pub(crate) mod accounts;
pub(crate) mod usage;

use std::sync::Arc;

use domesday_state::*;

/// Where the suite gets its states from.
pub(crate) trait Store {
    /// The implementation under test.
    type State: State + 'static;

    /// A place that holds no state yet.
    fn empty() -> Self;

    /// Opens the state of this place; only after an earlier one was dropped.
    fn open(&self) -> Self::State;

    /// The same state as another host has it, or the same handle where one process alone can
    /// have it open.
    fn second(&self, first: &Arc<Self::State>) -> Arc<Self::State> {
        Arc::clone(first)
    }
}

/// Runs the whole suite against one store.
macro_rules! state_suite {
    ($store:ty: $($room:ident { $($test:ident)* })*) => {
        $(mod $room {
            use super::*;
            $(#[test] fn $test() { suite::$room::$test::<$store>(); })*
        })*
    };
    ($store:ty) => {
        suite::state_suite!($store:
            accounts {
                a_new_state_is_empty
                tenants_are_kept
                a_key_opens_what_it_was_made_for
                a_wrong_key_opens_nothing
                a_revoked_key_opens_nothing_ever_again
                a_key_expires_on_its_millisecond
                keys_of_a_tenant_are_independent
                a_tenant_is_disabled_and_enabled
                a_changed_plan_reaches_every_key
                what_cannot_be_made_changes_nothing
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

/// What a reply comes to.
pub(crate) fn wait<T>(reply: Reply<T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(reply).unwrap()
}
