//! What operators switch.

use domesday_state::*;

use super::Store;

pub(crate) fn switches_are_kept<S: Store>() {
    let store = S::empty();
    let state = store.open();
    assert_eq!((state.jobs_paused(), state.promoted()), (false, None));
    assert_eq!(state.trouble(), None);
    state.pause_jobs(true).unwrap();
    state.pause_jobs(true).unwrap();
    state.promote("first").unwrap();
    state.promote("second").unwrap();
    let second = Some("second".to_owned());
    assert_eq!(
        (state.jobs_paused(), state.promoted()),
        (true, second.clone())
    );
    drop(state);
    let state = store.open();
    assert_eq!(
        (state.jobs_paused(), state.promoted()),
        (true, second.clone())
    );
    state.pause_jobs(false).unwrap();
    assert_eq!((state.jobs_paused(), state.promoted()), (false, second));
    drop(state);
    assert!(!store.open().jobs_paused());
}
