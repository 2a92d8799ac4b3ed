//! The order of claims, and the jobs that a host leaves to others.

use std::sync::Arc;

use crate::test_support::claimant;
use domesday_state::*;
use uuid::Uuid;

use super::work::{LEASE, claim, job};
use super::{NOW, Store, after, finish, id, job_of, submit, wait, with_tenant};

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
