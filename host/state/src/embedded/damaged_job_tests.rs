//! A row of a job that does not decode, beside jobs and charges that are sound.

use redb::ReadableTable;
use uuid::Uuid;

use super::EmbeddedState;
use super::error::{reading, writing};
use super::fault_injection_tests::{JOB, NOW, acme, charge, new_job, open, outcome, step};
use super::test_disk::Disk;
use crate::test_support::claimant;
use crate::*;

/// The job whose row stays whole. It was accepted a second after the other.
const WHOLE: Uuid = Uuid::from_u128(2);
const LATER: UnixMillis = UnixMillis(NOW.0 + 1_000);

/// Replaces the row of [`JOB`] by bytes of no job.
fn damage_row(state: &EmbeddedState) {
    let replace = state.blocking(|tables| {
        let jobs = tables.jobs.edit()?;
        let bytes: &[u8] = &[0xff];
        jobs.insert(JOB.into_bytes(), bytes).map_err(writing)?;
        Ok(())
    });
    replace.unwrap();
}

/// Opens a state with a damaged job, and a whole one behind it.
fn open_damaged() -> EmbeddedState {
    let state = open(&Disk::new(1));
    outcome(state.submit(new_job())).unwrap();
    let whole = NewJob {
        id: WHOLE,
        idempotency: None,
        now: LATER,
        ..new_job()
    };
    outcome(state.submit(whole)).unwrap();
    damage_row(&state);
    state
}

/// Asserts that charges go on.
#[track_caller]
fn assert_sound(state: &EmbeddedState) {
    outcome(charge(state)).unwrap();
    assert_eq!(state.degradation(), None);
}

#[test]
fn a_damaged_job_keeps_no_other_job_from_being_claimed_and_fails_no_charge() {
    let state = open_damaged();
    let claim = || {
        let claimed = outcome(state.claim(claimant(), LATER, 60_000)).unwrap();
        claimed.map(|claim| claim.job.id)
    };
    assert_eq!((claim(), claim()), (Some(WHOLE), None));
    assert_sound(&state);
    assert!(matches!(
        outcome(state.job(acme(), JOB, LATER)),
        Err(StateError::Damaged { .. })
    ));
}

#[test]
fn a_lease_of_a_damaged_job_that_nobody_has_fails_no_group() {
    let state = open(&Disk::new(1));
    outcome(state.submit(new_job())).unwrap();
    let claim = outcome(state.claim(claimant(), NOW, 60_000)).unwrap();
    damage_row(&state);
    state.shared.undelivered.add(claim.unwrap().lease);
    assert_sound(&state);
    assert_eq!(state.shared.undelivered.list(), []);
}

#[test]
fn a_damaged_job_hides_no_other_job_that_waits() {
    let state = open_damaged();
    assert_eq!(outcome(state.oldest_waiting()).unwrap(), Some(LATER));
    let other = Claimant::of_releases(["another"]);
    let passed_over = outcome(state.count_passed_over(other, LATER)).unwrap();
    let by_release: Vec<_> = passed_over.by_release.into_iter().collect();
    assert_eq!(by_release, [("release".to_owned(), 1)]);
}

#[test]
fn a_damaged_job_is_left_by_the_purge_that_removes_the_others() {
    let state = open_damaged();
    let end = UnixMillis(LATER.0 + JOB_RETENTION_MILLIS);
    for jobs in [1, 0] {
        let expected = PurgeCounts {
            jobs,
            ..PurgeCounts::default()
        };
        assert_eq!(outcome(state.purge(end)).unwrap(), expected);
    }
    assert_sound(&state);
    assert_eq!(outcome(state.waiting()).unwrap(), 1);
}

/// Counts the rows, results and shared data of a job.
fn count_parts(state: &EmbeddedState, id: Uuid) -> [usize; 3] {
    let count = state.blocking(move |tables| {
        let id = id.into_bytes();
        let chunks = (id, 0)..=(id, u32::MAX);
        let inputs = tables.inputs.read()?.range(chunks.clone());
        let inputs = inputs.map_err(reading)?.count();
        let outputs = tables.outputs.read()?.range(chunks);
        let outputs = outputs.map_err(reading)?.count();
        let shared = tables.shared.read()?.get(id).map_err(reading)?;
        Ok([inputs, outputs, shared.is_some().into()])
    });
    count.unwrap()
}

#[test]
fn the_rows_and_results_of_a_damaged_job_are_removed_at_its_end() {
    let state = open(&Disk::new(1));
    let mut lease = None;
    // It is accepted and claimed, and its first chunk is finished.
    for number in [1, 3, 4] {
        step(&state, number, &mut lease).unwrap();
    }
    for id in [0, 2] {
        let whole = NewJob {
            id: Uuid::from_u128(id),
            idempotency: None,
            now: LATER,
            ..new_job()
        };
        outcome(state.submit(whole)).unwrap();
    }
    damage_row(&state);
    let end = NOW.0 + JOB_RETENTION_MILLIS;
    for (now, parts) in [(end - 1, [1, 1, 1]), (end, [0, 0, 0]), (end, [0, 0, 0])] {
        let purged = outcome(state.purge(UnixMillis(now))).unwrap();
        assert_eq!(purged, PurgeCounts::default());
        assert_eq!(count_parts(&state, JOB), parts);
    }
    for id in [0, 2] {
        assert_eq!(count_parts(&state, Uuid::from_u128(id)), [2, 0, 1]);
    }
    // Its own row stays.
    assert_sound(&state);
    assert!(matches!(
        outcome(state.job(acme(), JOB, LATER)),
        Err(StateError::Damaged { .. })
    ));
}
