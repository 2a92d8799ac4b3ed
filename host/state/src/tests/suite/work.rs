//! Working on jobs: claims, leases, checkpoints.

use std::sync::Arc;

use crate::test_support::claimant;
use domesday_state::*;
use uuid::Uuid;

use super::{NOW, Store, after, finish, id, job_of, submit, used_units, wait, with_tenant};

const LEASE: i64 = 30_000;

fn claim(state: &impl Jobs, now: UnixMillis) -> Option<Claim> {
    wait(state.claim(claimant(), now, LEASE))
}

fn job(state: &impl Jobs, number: u128) -> Job {
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
    assert_eq!(claim(&state, after(LEASE * 9)), None);
    assert_eq!((job(&state, 1), wait(state.waiting())), (end, 0));
}

/// Three jobs of one tenant, one of each of two others: nobody waits for a tenant's second job.
pub(crate) fn the_oldest_waiting_job_is_that_of_any_tenant<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    state
        .create_tenant(&id("bee"), &Plan::default(), NOW)
        .unwrap();
    for (tenant, number, millis) in [("acme", 1, 20), ("bee", 2, 10), ("bee", 3, 30)] {
        let mut new = job_of(tenant, number, &[(1, 1, b"row")]);
        new.now = after(millis);
        submit(&state, new);
    }
    for (number, oldest) in [(2, after(20)), (1, after(30))] {
        // A claimed job still counts until it ends.
        let begun = loop {
            let begun = claim(&state, after(40)).unwrap();
            if begun.job.id.as_u128() == number {
                break begun;
            }
            wait(state.release_lease(begun.lease));
        };
        assert!(wait(state.oldest_waiting()).unwrap() < oldest);
        finish(&state, begun.lease, 0, b"done");
        assert_eq!(wait(state.oldest_waiting()), Some(oldest));
    }
}

pub(crate) fn tenants_take_turns<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    for (tenant, number) in [
        ("acme", 1),
        ("acme", 2),
        ("acme", 3),
        ("bee", 4),
        ("cee", 5),
    ] {
        if number > 3 {
            state
                .create_tenant(&id(tenant), &Plan::default(), NOW)
                .unwrap();
        }
        submit(&state, job_of(tenant, number, &[(1, 1, b"row")]));
    }
    let order: Vec<(String, u128)> = (0..5)
        .map(|_| {
            let job = claim(&state, NOW).unwrap().job;
            (job.tenant.to_string(), job.id.as_u128())
        })
        .collect();
    let mut first: Vec<_> = order[..3]
        .iter()
        .map(|(tenant, _)| tenant.as_str())
        .collect();
    first.sort_unstable();
    assert_eq!(first, ["acme", "bee", "cee"], "{order:?}");
    // A tenant's own go in the order of their submission.
    let own: Vec<u128> = order
        .iter()
        .filter(|(t, _)| t == "acme")
        .map(|(_, n)| *n)
        .collect();
    assert_eq!(own, [1, 2, 3]);
    assert_eq!(claim(&state, NOW), None);
}

/// Counts the jobs that a claimant passes over: by release, in object storage, and since when.
fn count_passed_over(
    state: &impl Jobs,
    claimant: &Claimant,
) -> (Vec<(String, u64)>, u64, Option<i64>) {
    let passed_over = wait(state.count_passed_over(claimant.clone(), NOW));
    let by_release = passed_over.by_release.into_iter().collect();
    let oldest = passed_over.oldest.map(|at| at.0 - NOW.0);
    (by_release, passed_over.in_objects, oldest)
}

/// Two jobs of one tenant's that another host can run, before one that this host can.
pub(crate) fn a_host_claims_only_jobs_of_its_releases<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    for (number, release) in [(1, "old"), (2, "old"), (3, "release"), (4, "other")] {
        let mut new = job_of("acme", number, &[(1, 1, b"row")]);
        new.release_id = release.into();
        new.now = UnixMillis(NOW.0 - 10 + i64::try_from(number).unwrap());
        submit(&state, new);
    }
    let claim_by = |claimant: &Claimant| {
        let claim = wait(state.claim(claimant.clone(), NOW, LEASE))?;
        Some(claim.job.id.as_u128())
    };
    let (mine, others) = (
        Claimant::of_releases(["release"]),
        Claimant::of_releases(["other", "old"]),
    );
    assert_eq!(claim_by(&Claimant::default()), None);
    assert_eq!(claim_by(&mine), Some(3));
    assert_eq!(claim_by(&mine), None);
    // Jobs that a host passes over are as they were.
    assert_eq!(job(&state, 1).status, JobStatus::Queued);
    let waiting = vec![("old".to_owned(), 2), ("other".to_owned(), 1)];
    assert_eq!(count_passed_over(&state, &mine), (waiting, 0, Some(-9)));
    assert_eq!(count_passed_over(&state, &others), (vec![], 0, None));
    assert_eq!(claim_by(&others), Some(1));
    // Somebody works on it now.
    let waiting = vec![("old".to_owned(), 1), ("other".to_owned(), 1)];
    assert_eq!(count_passed_over(&state, &mine), (waiting, 0, Some(-8)));
    let leaving = Claimant {
        excluded_jobs: vec![Uuid::from_u128(2)],
        ..others.clone()
    };
    assert_eq!(claim_by(&leaving), Some(4));
    assert_eq!(claim_by(&leaving), None);
    assert_eq!(count_passed_over(&state, &leaving), (vec![], 0, None));
    assert_eq!(claim_by(&others), Some(2));
}

/// The next chunk decides: rows that have results need not be read.
pub(crate) fn a_host_without_object_storage_claims_no_job_in_it<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let reference = ObjectReference {
        bytes: 9_000,
        digest: [1; 32],
        key: [2; 32],
    };
    let object = reference.to_bytes();
    submit(
        &state,
        job_of("acme", 1, &[(1, 1, &object), (1, 1, b"two")]),
    );
    submit(
        &state,
        job_of("acme", 2, &[(1, 1, b"one"), (1, 1, &object)]),
    );
    let without = Claimant {
        reads_objects: false,
        ..claimant()
    };
    let claim_by = |claimant: &Claimant| wait(state.claim(claimant.clone(), NOW, LEASE));
    assert_eq!(count_passed_over(&state, &without), (vec![], 1, Some(0)));
    let second = claim_by(&without).unwrap();
    assert_eq!(second.job.id.as_u128(), 2);
    finish(&state, second.lease, 0, b"result");
    wait(state.release_lease(second.lease));
    // Now both need object storage.
    assert_eq!(claim_by(&without), None);
    assert_eq!(count_passed_over(&state, &without), (vec![], 2, Some(0)));
    let first = claim_by(&claimant()).unwrap();
    assert_eq!(first.job.id.as_u128(), 1);
    finish(&state, first.lease, 0, b"result");
    wait(state.release_lease(first.lease));
    assert_eq!(claim_by(&without).unwrap().job.id.as_u128(), 1);
    assert_eq!(count_passed_over(&state, &claimant()), (vec![], 0, None));
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

/// Eight threads claim and finish forty jobs over two handles: each job is done once.
pub(crate) fn many_workers_do_each_job_once<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let state = Arc::new(state);
    let other = store.second(&state);
    for number in 0..40 {
        submit(
            &*state,
            job_of("acme", number, &[(1, 1, b"one"), (1, 1, b"two")]),
        );
    }
    let mut finished: Vec<u128> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let state = if thread % 2 == 0 { &state } else { &other };
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    while let Some(begun) = claim(&**state, NOW) {
                        finish(&**state, begun.lease, 0, b"first");
                        finish(&**state, begun.lease, 1, b"second");
                        mine.push(begun.job.id.as_u128());
                    }
                    mine
                })
            })
            .collect();
        let each = threads.into_iter().map(|thread| thread.join().unwrap());
        each.flatten().collect()
    });
    finished.sort_unstable();
    assert_eq!(finished, (0..40).collect::<Vec<u128>>());
    assert_eq!(wait(state.waiting()), 0);
}
