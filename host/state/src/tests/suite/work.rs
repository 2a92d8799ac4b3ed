//! Working on jobs: leases, attempts, checkpoints.

use std::sync::Arc;

use crate::test_support::claimant;
use domesday_state::*;
use uuid::Uuid;

use super::{NOW, Store, after, finish, id, job_of, submit, used_units, wait, with_tenant};

pub(crate) const LEASE: i64 = 30_000;

pub(crate) fn claim(state: &impl Jobs, now: UnixMillis) -> Option<Claim> {
    wait(state.claim(claimant(), now, LEASE))
}

pub(crate) fn job(state: &impl Jobs, number: u128) -> Job {
    wait(state.job(id("acme"), Uuid::from_u128(number), NOW)).unwrap()
}

pub(crate) fn chunk_results(chunk: u32) -> ChunkResults {
    ChunkResults {
        chunk,
        output: b"result".to_vec(),
        tally: Tally {
            valued: 1,
            ..Tally::default()
        },
        refund: 0,
    }
}

pub(crate) fn job_error() -> JobError {
    JobError {
        code: "internal".into(),
        message: "it broke".into(),
        retryable: true,
    }
}

pub(crate) fn a_job_goes_from_queued_to_completed<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    assert_eq!(claim(&state, NOW), None);
    assert_eq!(wait(state.oldest_waiting()), None);
    submit(&state, job_of("acme", 1, &[(3, 3, b"one"), (2, 1, b"two")]));
    assert_eq!(wait(state.oldest_waiting()), Some(NOW));
    let begun = claim(&state, after(10)).unwrap();
    assert_eq!((begun.next, begun.attempts), (0, 1));
    assert_eq!(
        (begun.shared.as_slice(), begun.lease.job),
        (&b"shared"[..], begun.job.id)
    );
    assert_eq!(
        (begun.job.status, begun.job.updated_at),
        (JobStatus::Running, after(10))
    );
    assert_eq!(job(&state, 1), begun.job);
    assert_eq!(claim(&state, after(11)), None);
    assert_eq!(wait(state.waiting()), 1);

    let lease = begun.lease;
    assert_eq!(wait(state.input(lease, 0)), Some(b"one".to_vec()));
    assert_eq!(wait(state.input(lease, 1)), Some(b"two".to_vec()));
    assert_eq!(wait(state.input(lease, 2)), None);
    let first = ChunkResults {
        chunk: 0,
        output: b"first".to_vec(),
        tally: Tally {
            valued: 1,
            referred: 1,
            rejected: 0,
            valuation_failed: 1,
        },
        refund: 1,
    };
    assert_eq!(
        wait(state.finish_chunk(lease, first, after(20), LEASE)),
        LeaseStatus::Held
    );
    let now = job(&state, 1);
    assert_eq!(
        (now.status, now.updated_at),
        (JobStatus::Running, after(20))
    );
    assert_eq!((now.tally.valued, now.tally.referred), (1, 1));
    assert_eq!(used_units(&state, "acme"), 3);
    // Its rows are dropped, and its results are there.
    assert_eq!(wait(state.input(lease, 0)), None);
    let output = |chunk| wait(state.output(id("acme"), lease.job, chunk, NOW));
    assert_eq!((output(0), output(1)), (Some(b"first".to_vec()), None));

    let second = ChunkResults {
        chunk: 1,
        output: b"second".to_vec(),
        tally: Tally {
            rejected: 1,
            valued: 1,
            ..Tally::default()
        },
        refund: 0,
    };
    assert_eq!(
        wait(state.finish_chunk(lease, second, after(30), LEASE)),
        LeaseStatus::Held
    );
    let end = job(&state, 1);
    assert_eq!(
        (end.status, end.updated_at),
        (JobStatus::Completed, after(30))
    );
    let tally = Tally {
        valued: 2,
        referred: 1,
        rejected: 1,
        valuation_failed: 1,
    };
    assert_eq!(end.tally, tally);
    assert_eq!(output(1), Some(b"second".to_vec()));
    // Nothing moves it any more.
    assert_eq!(
        wait(state.renew(lease, after(31), LEASE)),
        LeaseStatus::Lost
    );
    assert_eq!(
        wait(state.fail(lease, job_error(), after(31))),
        LeaseStatus::Lost
    );
    assert_eq!(wait(state.release_lease(lease)), LeaseStatus::Lost);
    assert_eq!(wait(state.claim_status(lease)), Some(JobStatus::Completed));
    assert_eq!(claim(&state, after(LEASE * 9)), None);
    assert_eq!((job(&state, 1), wait(state.waiting())), (end, 0));
}

pub(crate) fn a_lease_ends_on_its_millisecond<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let state = Arc::new(state);
    let other = store.second(&state);
    submit(
        &*state,
        job_of("acme", 1, &[(1, 1, b"one"), (1, 1, b"two")]),
    );
    let first = claim(&*state, NOW).unwrap();
    assert_eq!(claim(&*other, after(LEASE - 1)), None);
    assert_eq!(
        wait(state.renew(first.lease, after(LEASE - 1), LEASE)),
        LeaseStatus::Held
    );
    assert_eq!(claim(&*other, after(LEASE)), None);
    let end = after(2 * LEASE - 1);
    let second = claim(&*other, end).unwrap();
    assert!(second.lease.fence > first.lease.fence);
    assert_eq!(
        (second.next, second.attempts, second.lease.job),
        (0, 2, first.lease.job)
    );
    assert_eq!(second.job.updated_at, first.job.updated_at);

    // The first only slept, and writes nothing now.
    let before = job(&*state, 1);
    assert_eq!(wait(state.input(first.lease, 0)), None);
    assert_eq!(
        wait(state.renew(first.lease, end, LEASE)),
        LeaseStatus::Lost
    );
    assert_eq!(
        wait(state.finish_chunk(first.lease, chunk_results(0), end, LEASE)),
        LeaseStatus::Lost
    );
    assert_eq!(
        wait(state.fail(first.lease, job_error(), end)),
        LeaseStatus::Lost
    );
    assert_eq!(wait(state.release_lease(first.lease)), LeaseStatus::Lost);
    assert_eq!(wait(state.claim_status(first.lease)), None);
    assert_eq!(
        wait(state.claim_status(second.lease)),
        Some(JobStatus::Running)
    );
    assert_eq!(job(&*state, 1), before);
    assert_eq!(
        wait(state.output(id("acme"), first.lease.job, 0, NOW)),
        None
    );
    assert_eq!((used_units(&*state, "acme"), wait(other.waiting())), (2, 1));
    assert_eq!(
        wait(other.finish_chunk(second.lease, chunk_results(0), end, LEASE)),
        LeaseStatus::Held
    );
    // Its checkpoint renewed the lease.
    assert_eq!(claim(&*state, UnixMillis(end.0 + LEASE - 1)), None);
    let third = claim(&*state, UnixMillis(end.0 + LEASE)).unwrap();
    assert_eq!((third.next, third.attempts), (1, 2));
}

/// A claim takes its time before it waits for a connection, and clocks of hosts differ.
pub(crate) fn a_job_is_never_updated_earlier_than_before<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    submit(&state, job_of("acme", 1, &[(1, 1, b"one"), (1, 1, b"two")]));
    let updated = job(&state, 1).updated_at;
    let begun = claim(&state, UnixMillis(NOW.0 - 10)).unwrap();
    assert_eq!(begun.job.updated_at, updated);
    let error = job_error();
    let failed = wait(state.fail(begun.lease, error, UnixMillis(NOW.0 - 5)));
    assert_eq!(failed, LeaseStatus::Held);
    let failed = job(&state, 1);
    assert_eq!(
        (failed.status, failed.updated_at),
        (JobStatus::Failed, updated)
    );
}

pub(crate) fn attempts_are_counted_by_chunk<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    submit(&state, job_of("acme", 1, &[(1, 1, b"one"), (1, 1, b"two")]));
    let mut last = NOW;
    let mut next_claim = || {
        let begun = claim(&state, last).unwrap();
        last = UnixMillis(last.0 + LEASE);
        begun
    };
    assert_eq!(next_claim().attempts, 1);
    assert_eq!(next_claim().attempts, 2);
    let third = next_claim();
    assert_eq!((third.next, third.attempts), (0, 3));
    finish(&state, third.lease, 0, b"result");
    let fourth = next_claim();
    assert_eq!((fourth.next, fourth.attempts), (1, 2));
}

pub(crate) fn a_job_let_go_can_be_claimed_at_once<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    submit(&state, job_of("acme", 1, &[(1, 1, b"one"), (1, 1, b"two")]));
    let first = claim(&state, NOW).unwrap();
    assert_eq!(wait(state.release_lease(first.lease)), LeaseStatus::Held);
    assert_eq!(wait(state.claim_status(first.lease)), None);
    // A host that released its lease holds nothing any more.
    assert_eq!(wait(state.input(first.lease, 0)), None);
    assert_eq!(
        wait(state.renew(first.lease, NOW, LEASE)),
        LeaseStatus::Lost
    );
    assert_eq!(
        wait(state.finish_chunk(first.lease, chunk_results(0), NOW, LEASE)),
        LeaseStatus::Lost
    );
    let second = claim(&state, NOW).unwrap();
    assert_eq!((second.next, second.attempts), (0, 1));
    assert!(second.lease.fence > first.lease.fence);
    finish(&state, second.lease, 0, b"result");
    assert_eq!(wait(state.release_lease(second.lease)), LeaseStatus::Held);
    let third = claim(&state, NOW).unwrap();
    assert_eq!((third.next, third.attempts), (1, 1));
}

pub(crate) fn chunks_are_finished_once_and_in_order<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    submit(
        &state,
        job_of("acme", 1, &[(1, 1, b"one"), (1, 1, b"two"), (1, 1, b"tri")]),
    );
    let lease = claim(&state, NOW).unwrap().lease;
    assert_eq!(
        wait(state.finish_chunk(lease, chunk_results(1), NOW, LEASE)),
        LeaseStatus::Lost
    );
    assert_eq!(job(&state, 1).tally, Tally::default());
    finish(&state, lease, 0, b"first");
    let after_first = job(&state, 1);
    // A repetition by the same claim, whose answer was lost, changes nothing.
    let mut again = chunk_results(0);
    (again.refund, again.output) = (1, b"other".to_vec());
    assert_eq!(
        wait(state.finish_chunk(lease, again, after(9), LEASE)),
        LeaseStatus::Held
    );
    assert_eq!(
        (job(&state, 1), used_units(&state, "acme")),
        (after_first, 3)
    );
    let output = wait(state.output(id("acme"), lease.job, 0, NOW));
    assert_eq!(output, Some(b"first".to_vec()));
    // A refund is never more than the chunk cost.
    let mut greedy = chunk_results(1);
    greedy.refund = 100;
    assert_eq!(
        wait(state.finish_chunk(lease, greedy, NOW, LEASE)),
        LeaseStatus::Held
    );
    assert_eq!(used_units(&state, "acme"), 2);
}

pub(crate) fn a_failed_job_refunds_unfinished_rows<S: Store>() {
    let (store, state) = with_tenant::<S>();
    submit(
        &state,
        job_of("acme", 1, &[(3, 2, b"one"), (3, 3, b"two"), (2, 2, b"tri")]),
    );
    submit(&state, job_of("acme", 2, &[(1, 1, b"row")]));
    let lease = claim(&state, NOW).unwrap().lease;
    finish(&state, lease, 0, b"result");
    assert_eq!(used_units(&state, "acme"), 8);
    assert_eq!(
        wait(state.fail(lease, job_error(), after(5))),
        LeaseStatus::Held
    );
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (3, 1));
    let failed = job(&state, 1);
    assert_eq!(
        (failed.status, failed.updated_at),
        (JobStatus::Failed, after(5))
    );
    assert_eq!(failed.error, Some(job_error()));
    assert_eq!(wait(state.input(lease, 1)), None);
    // The finished chunk is kept, and the job is never begun again.
    assert!(wait(state.output(id("acme"), lease.job, 0, NOW)).is_some());
    assert_eq!(
        wait(state.fail(lease, job_error(), after(6))),
        LeaseStatus::Lost
    );
    assert_eq!(
        wait(state.finish_chunk(lease, chunk_results(1), NOW, LEASE)),
        LeaseStatus::Lost
    );
    assert_eq!(claim(&state, after(LEASE * 9)).unwrap().job.id.as_u128(), 2);
    drop(state);
    assert_eq!(job(&store.open(), 1), failed);
}

/// A job that was submitted, claimed or half done goes on after a restart, once its lease is over.
pub(crate) fn jobs_go_on_after_a_restart<S: Store>() {
    let (store, state) = with_tenant::<S>();
    submit(&state, job_of("acme", 1, &[(1, 1, b"one"), (1, 1, b"two")]));
    let queued = job(&state, 1);
    drop(state);
    let state = store.open();
    assert_eq!((job(&state, 1), wait(state.waiting())), (queued, 1));
    let first = claim(&state, NOW).unwrap();
    drop(state);
    let state = store.open();
    let second = claim(&state, after(LEASE)).unwrap();
    assert_eq!((second.next, second.attempts), (0, 2));
    assert!(second.lease.fence > first.lease.fence);
    assert_eq!(second.shared, first.shared);
    assert_eq!(wait(state.input(second.lease, 0)), Some(b"one".to_vec()));
    finish(&state, second.lease, 0, b"first");
    drop(state);
    let state = store.open();
    let third = claim(&state, after(LEASE * 2)).unwrap();
    assert_eq!((third.next, third.attempts), (1, 2));
    assert_eq!(
        wait(state.finish_chunk(second.lease, chunk_results(1), NOW, LEASE)),
        LeaseStatus::Lost
    );
    finish(&state, third.lease, 1, b"second");
    drop(state);
    let state = store.open();
    let completed = job(&state, 1);
    assert_eq!(
        (completed.status, completed.tally.valued),
        (JobStatus::Completed, 2)
    );
    for (chunk, output) in [(0, b"first".to_vec()), (1, b"second".to_vec())] {
        assert_eq!(
            wait(state.output(id("acme"), first.job.id, chunk, NOW)),
            Some(output)
        );
    }
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (2, 0));
}
