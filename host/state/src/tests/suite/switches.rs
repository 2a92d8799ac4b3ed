//! The switches of operators.

use domesday_state::*;

use super::{Store, promote};

pub(crate) fn switches_are_kept<S: Store>() {
    let store = S::empty();
    let state = store.open();
    assert_eq!(
        (
            state.jobs_paused(),
            state.promoted_release(ReleaseKind::Valuation)
        ),
        (false, None)
    );
    assert_eq!(state.degradation(), None);
    state.pause_jobs(true).unwrap();
    state.pause_jobs(true).unwrap();
    promote(&state, ReleaseKind::Valuation, "first");
    promote(&state, ReleaseKind::Valuation, "second");
    promote(&state, ReleaseKind::Rates, "rates");
    let second = Some("second".to_owned());
    let by_itself = |state: &dyn State| {
        assert_eq!(state.promoted_release(ReleaseKind::Markets), None);
        assert_eq!(
            state.promoted_release(ReleaseKind::Rates).as_deref(),
            Some("rates")
        );
    };
    by_itself(&state);
    assert_eq!(
        (
            state.jobs_paused(),
            state.promoted_release(ReleaseKind::Valuation)
        ),
        (true, second.clone())
    );
    drop(state);
    let state = store.open();
    assert_eq!(
        (
            state.jobs_paused(),
            state.promoted_release(ReleaseKind::Valuation)
        ),
        (true, second.clone())
    );
    by_itself(&state);
    state.pause_jobs(false).unwrap();
    assert_eq!(
        (
            state.jobs_paused(),
            state.promoted_release(ReleaseKind::Valuation)
        ),
        (false, second)
    );
    drop(state);
    assert!(!store.open().jobs_paused());
}

pub(crate) fn secrets_of_cursors_are_begun_once_and_rotate<S: Store>() {
    let store = S::empty();
    let state = store.open();
    assert_eq!(state.cursor_secrets(), CursorSecrets::default());
    state.begin_cursors([1; 32]).unwrap();
    state.begin_cursors([2; 32]).unwrap();
    let in_force = |current, before| CursorSecrets { current, before };
    assert_eq!(state.cursor_secrets(), in_force(Some([1; 32]), None));
    state.rotate_cursors([3; 32]).unwrap();
    state.rotate_cursors([4; 32]).unwrap();
    drop(state);
    let state = store.open();
    assert_eq!(
        state.cursor_secrets(),
        in_force(Some([4; 32]), Some([3; 32]))
    );
}

pub(crate) fn keys_of_receipts_are_begun_once_and_erased_for_good<S: Store>() {
    let (store, state) = super::with_tenant::<S>();
    let (acme, other) = (super::id("acme"), super::id("other"));
    assert_eq!(state.receipt_keys().unwrap(), []);
    assert_eq!(state.receipt_key(&acme, [1; 32]).unwrap(), [1; 32]);
    assert_eq!(state.receipt_key(&acme, [2; 32]).unwrap(), [1; 32]);
    assert!(matches!(
        state.receipt_key(&other, [3; 32]),
        Err(StateError::UnknownTenant { tenant }) if tenant == other
    ));
    let plan = Plan::default();
    state.create_tenant(&other, &plan, super::NOW).unwrap();
    assert_eq!(state.receipt_key(&other, [3; 32]).unwrap(), [3; 32]);
    drop(state);
    let state = store.open();
    let kept = [(acme.clone(), [1; 32]), (other.clone(), [3; 32])];
    assert_eq!(state.receipt_keys().unwrap(), kept);
    assert!(state.erase_receipt_key(&acme).unwrap());
    assert!(!state.erase_receipt_key(&acme).unwrap());
    drop(state);
    let state = store.open();
    assert_eq!(state.receipt_keys().unwrap(), [(other, [3; 32])]);
    assert_eq!(state.receipt_key(&acme, [4; 32]).unwrap(), [4; 32]);
}

pub(crate) fn hosts_that_ask_at_once_get_one_key_of_receipts<S: Store>() {
    let (store, state) = super::with_tenant::<S>();
    let first = std::sync::Arc::new(state);
    let second = store.second(&first);
    let threads: Vec<_> = (0..8_u8)
        .map(|at| {
            let state = if at % 2 == 0 { &first } else { &second };
            let state = std::sync::Arc::clone(state);
            std::thread::spawn(move || state.receipt_key(&super::id("acme"), [at; 32]).unwrap())
        })
        .collect();
    let keys: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}
