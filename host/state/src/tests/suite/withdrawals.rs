//! Withdrawing submissions without a key.

use crate::test_support::claimant;
use domesday_state::*;
use uuid::Uuid;

use super::work::{chunk_results, job_error};
use super::{NOW, Store, after, id, job_of, key, submit, used_units, wait, with_tenant};

/// The progress of a host with a job of two chunks before it is withdrawn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WorkPhase {
    Queued,
    Claimed,
    HalfDone,
    Completed,
    Failed,
}

const ALL: [WorkPhase; 5] = [
    WorkPhase::Queued,
    WorkPhase::Claimed,
    WorkPhase::HalfDone,
    WorkPhase::Completed,
    WorkPhase::Failed,
];

/// Works on the only job that can be claimed, and gives a unit of its first chunk back.
fn work_off(state: &impl State, phase: WorkPhase) -> Option<Lease> {
    if phase == WorkPhase::Queued {
        return None;
    }
    let lease = wait(state.claim(claimant(), NOW, 30_000)).unwrap().lease;
    let finish = |chunk, refund| {
        let results = ChunkResults {
            refund,
            ..chunk_results(chunk)
        };
        let status = wait(state.finish_chunk(lease, results, NOW, 30_000));
        assert_eq!(status, LeaseStatus::Held);
    };
    if phase != WorkPhase::Claimed {
        finish(0, 1);
    }
    match phase {
        WorkPhase::Completed => finish(1, 0),
        WorkPhase::Failed => {
            let status = wait(state.fail(lease, job_error(), NOW));
            assert_eq!(status, LeaseStatus::Held);
        }
        WorkPhase::Queued | WorkPhase::Claimed | WorkPhase::HalfDone => {}
    }
    Some(lease)
}

/// However far it is. Its host can write nothing more.
pub(crate) fn a_withdrawn_job_leaves_nothing_and_costs_nothing<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    for (number, phase) in (1..).zip(ALL) {
        submit(&state, job_of("acme", 100 + number, &[(1, 1, b"other")]));
        let other = wait(state.claim(claimant(), NOW, 30_000)).unwrap().lease;
        let before = used_units(&state, "acme");
        let new = job_of("acme", number, &[(3, 3, b"one"), (2, 2, b"two")]);
        submit(&state, new.clone());
        let lease = work_off(&state, phase);
        for _ in 0..2 {
            wait(state.withdraw(id("acme"), new.id));
            assert_eq!(used_units(&state, "acme"), before, "{phase:?}");
        }
        assert_eq!(wait(state.job(id("acme"), new.id, NOW)), None);
        assert_eq!(wait(state.output(id("acme"), new.id, 0, NOW)), None);
        assert_eq!(
            wait(state.claim(claimant(), NOW, 30_000)),
            None,
            "{phase:?}"
        );
        if let Some(lease) = lease {
            let renewed = wait(state.renew(lease, NOW, 30_000));
            let finished = wait(state.finish_chunk(lease, chunk_results(1), NOW, 30_000));
            assert_eq!((renewed, finished), (LeaseStatus::Lost, LeaseStatus::Lost));
        }
        // The other job alone is in the queue and occupies bytes.
        assert_eq!(wait(state.waiting()), 1, "{phase:?}");
        let mut full = job_of("acme", 200, &[(1, 1, b"next")]);
        full.stored_bytes = 4 + 5 + 6 * u64::try_from(number - 1).unwrap();
        full.allowance = 0;
        let exhausted = Submission::Exhausted { used: before };
        assert_eq!(submit(&state, full.clone()), exhausted, "{phase:?}");
        full.stored_bytes -= 1;
        assert_eq!(submit(&state, full), Submission::StoreFull, "{phase:?}");
        super::finish(&state, other, 0, b"result");
    }
    let purged = wait(state.purge(after(JOB_RETENTION_MILLIS)));
    assert_eq!(purged.jobs, 5);
}

/// A job with a key is found by it, so that it stays.
pub(crate) fn a_job_of_a_key_or_of_another_tenant_is_not_withdrawn<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let mut new = job_of("acme", 1, &[(1, 1, b"row")]);
    new.idempotency = Some(key("k", 1));
    submit(&state, new);
    submit(&state, job_of("acme", 2, &[(1, 1, b"row")]));
    wait(state.withdraw(id("acme"), Uuid::from_u128(1)));
    wait(state.withdraw(id("other"), Uuid::from_u128(2)));
    wait(state.withdraw(id("acme"), Uuid::from_u128(3)));
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (2, 2));
    let known = wait(state.find_submission(id("acme"), key("k", 1), NOW));
    assert!(matches!(known, Some(Submission::Known(_))), "{known:?}");
}
