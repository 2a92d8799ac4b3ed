//! The promotion ledger.

use std::sync::Arc;

use domesday_state::*;

use super::{SEEN, Store, promote, within};
use crate::test_support::TestSigner;

pub(crate) fn a_promotion_and_its_entry_are_kept_together<S: Store>() {
    let store = S::empty();
    let state = store.open();
    assert_eq!(state.promotions().unwrap(), []);
    let first = promote(&state, ReleaseKind::Valuation, "first");
    promote(&state, ReleaseKind::Rates, "first");
    let back = promote(&state, ReleaseKind::Valuation, "first");
    drop(state);
    let state = store.open();
    let ledger = state.promotions().unwrap();
    assert_eq!((&ledger[0], &ledger[2]), (&first, &back));
    let entries = verify_ledger(&ledger, TestSigner::is_signed).unwrap();
    // It was current all the time.
    assert!(entries.iter().all(|entry| !entry.went_back));
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["valuation", "rates", "valuation"]);
    let promoted = state.promoted_release(ReleaseKind::Rates);
    assert_eq!(promoted.as_deref(), Some("first"));
    // The chain goes on after a restart.
    promote(&state, ReleaseKind::Markets, "later");
    let ledger = state.promotions().unwrap();
    assert_eq!(
        verify_ledger(&ledger, TestSigner::is_signed).unwrap().len(),
        4
    );
}

pub(crate) fn promotions_of_two_hosts_at_once_are_one_chain<S: Store>() {
    let store = S::empty();
    let first = Arc::new(store.open());
    let second = store.second(&first);
    std::thread::scope(|scope| {
        for at in 0..8 {
            let state = if at % 2 == 0 { &first } else { &second };
            scope.spawn(move || promote(&**state, ReleaseKind::Valuation, &format!("r-{at}")));
        }
    });
    let ledger = first.promotions().unwrap();
    let entries = verify_ledger(&ledger, TestSigner::is_signed).unwrap();
    assert_eq!(entries.len(), 8);
    let last = entries.last().map(|entry| entry.release_id.clone());
    // The other host's promotion may be on its way.
    within(SEEN, || {
        first.promoted_release(ReleaseKind::Valuation) == last
    });
}

pub(crate) fn a_promotion_after_a_missing_row_overwrites_none<S: Store>() {
    let store = S::empty();
    let state = store.open();
    let first = promote(&state, ReleaseKind::Valuation, "first");
    promote(&state, ReleaseKind::Valuation, "second");
    let third = promote(&state, ReleaseKind::Valuation, "third");
    drop(state);
    store.remove_promotion(2);
    let state = store.open();
    let next = ["fourth", "fifth"].map(|id| promote(&state, ReleaseKind::Valuation, id));
    let [fourth, fifth] = next;
    assert_eq!(state.promotions().unwrap(), [first, third, fourth, fifth]);
    // The gap stays, so that who verifies the ledger finds it.
    let flaw = verify_ledger(&state.promotions().unwrap(), TestSigner::is_signed).unwrap_err();
    assert_eq!((flaw.sequence, flaw.problem), (2, LedgerProblem::Place));
}
