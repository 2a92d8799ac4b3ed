//! What operators switch.

use domesday_state::*;

use super::Store;

pub(crate) fn switches_are_kept<S: Store>() {
    let store = S::empty();
    let state = store.open();
    assert_eq!(
        (state.jobs_paused(), state.promoted(Released::Valuation)),
        (false, None)
    );
    assert_eq!(state.trouble(), None);
    state.pause_jobs(true).unwrap();
    state.pause_jobs(true).unwrap();
    state.promote(Released::Valuation, "first").unwrap();
    state.promote(Released::Valuation, "second").unwrap();
    state.promote(Released::Rates, "rates").unwrap();
    let second = Some("second".to_owned());
    let by_itself = |state: &dyn State| {
        assert_eq!(state.promoted(Released::Markets), None);
        assert_eq!(state.promoted(Released::Rates).as_deref(), Some("rates"));
    };
    by_itself(&state);
    assert_eq!(
        (state.jobs_paused(), state.promoted(Released::Valuation)),
        (true, second.clone())
    );
    drop(state);
    let state = store.open();
    assert_eq!(
        (state.jobs_paused(), state.promoted(Released::Valuation)),
        (true, second.clone())
    );
    by_itself(&state);
    state.pause_jobs(false).unwrap();
    assert_eq!(
        (state.jobs_paused(), state.promoted(Released::Valuation)),
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
