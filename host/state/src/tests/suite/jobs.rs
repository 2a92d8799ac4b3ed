//! Submitting jobs, and how long they and their keys are kept.

use std::sync::Arc;

use crate::test_support::claimant;
use domesday_state::*;
use uuid::Uuid;

use super::work::{chunk_results, job_error};
use super::{NOW, Store, after, id, job_of, key, submit, used_units, wait, with_tenant};

fn expect_accepted(submission: Submission) -> Job {
    match submission {
        Submission::Accepted(job) => job,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn an_accepted_job_is_queued_and_charged<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let new = job_of("acme", 1, &[(3, 2, b"one"), (2, 2, b"two")]);
    let job = expect_accepted(submit(&state, new.clone()));
    let expected = Job {
        id: new.id,
        tenant: id("acme"),
        mode: JobMode::Standard,
        status: JobStatus::Queued,
        release_id: "release".into(),
        request_count: 5,
        created_at: NOW,
        updated_at: NOW,
        expires_at: after(JOB_RETENTION_MILLIS),
        chunks: 2,
        tally: Tally::default(),
        error: None,
    };
    assert_eq!(job, expected);
    assert_eq!(wait(state.job(id("acme"), job.id, NOW)), Some(expected));
    assert_eq!(wait(state.output(id("acme"), job.id, 0, NOW)), None);
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (4, 1));
}

pub(crate) fn a_job_is_its_tenants_alone<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let other = id("other");
    state.create_tenant(&other, &Plan::default(), NOW).unwrap();
    let job = expect_accepted(submit(&state, job_of("acme", 1, &[(1, 1, b"row")])));
    assert_eq!(wait(state.job(other.clone(), job.id, NOW)), None);
    assert_eq!(wait(state.output(other.clone(), job.id, 0, NOW)), None);
    assert_eq!(wait(state.job(id("acme"), Uuid::from_u128(9), NOW)), None);
    // The same text of a key is another tenant's own.
    let (mut mine, mut theirs) = (
        job_of("acme", 2, &[(1, 1, b"row")]),
        job_of("other", 3, &[(1, 1, b"row")]),
    );
    mine.idempotency = Some(key("k", 1));
    theirs.idempotency = Some(key("k", 2));
    expect_accepted(submit(&state, mine));
    expect_accepted(submit(&state, theirs));
    let known = |tenant: &str| wait(state.find_submission(id(tenant), key("k", 1), NOW));
    assert!(matches!(known("acme"), Some(Submission::Known(job)) if job.id.as_u128() == 2));
    assert_eq!(known("other"), Some(Submission::Conflict));
}

pub(crate) fn an_id_is_used_once_and_a_job_has_rows<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let new = job_of("acme", 1, &[(1, 1, b"row")]);
    expect_accepted(submit(&state, new.clone()));
    let again = super::outcome(state.submit(new.clone()));
    assert!(matches!(again, Err(StateError::JobIdTaken { job }) if job == new.id));
    let empty = super::outcome(state.submit(job_of("acme", 2, &[])));
    assert!(matches!(empty, Err(StateError::EmptyJob { .. })));
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (1, 1));
}

/// Each reason is looked at only when those before it have passed, and none changes anything.
pub(crate) fn a_submission_is_refused_in_order<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let mut first = job_of("acme", 1, &[(4, 4, b"four")]);
    first.idempotency = Some(key("k", 1));
    expect_accepted(submit(&state, first.clone()));

    // This one has everything against it.
    let mut bad = job_of("acme", 2, &[(4, 4, b"four")]);
    (bad.idempotency, bad.queued_jobs) = (Some(key("k", 2)), 1);
    (bad.stored_bytes, bad.allowance) = (7, 7);
    state.pause_jobs(true).unwrap();
    assert_eq!(submit(&state, bad.clone()), Submission::Conflict);
    bad.idempotency = Some(key("new", 2));
    assert_eq!(submit(&state, bad.clone()), Submission::Paused);
    // A repetition is answered although nothing new would be taken.
    let mut again = first.clone();
    (again.id, again.queued_jobs, again.allowance) = (Uuid::from_u128(9), 0, 0);
    assert!(matches!(submit(&state, again), Submission::Known(job) if job.id == first.id));
    state.pause_jobs(false).unwrap();
    assert_eq!(submit(&state, bad.clone()), Submission::QueueFull);
    bad.queued_jobs = 2;
    assert_eq!(submit(&state, bad.clone()), Submission::StoreFull);
    bad.stored_bytes = 8;
    let exhausted = Submission::Exhausted { used: 4 };
    assert_eq!(submit(&state, bad.clone()), exhausted);
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (4, 1));
    assert_eq!(
        wait(state.find_submission(id("acme"), key("new", 2), NOW)),
        None
    );
    bad.allowance = 8;
    expect_accepted(submit(&state, bad));
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (8, 2));
}

pub(crate) fn a_known_key_answers_with_its_job<S: Store>() {
    let (store, state) = with_tenant::<S>();
    assert_eq!(
        wait(state.find_submission(id("acme"), key("k", 1), NOW)),
        None
    );
    let mut new = job_of("acme", 1, &[(1, 1, b"row")]);
    new.idempotency = Some(key("k", 1));
    let job = expect_accepted(submit(&state, new.clone()));
    new.id = Uuid::from_u128(2);
    let known = Some(Submission::Known(job));
    assert_eq!(Some(submit(&state, new.clone())), known);
    assert_eq!(
        wait(state.find_submission(id("acme"), key("k", 1), NOW)),
        known
    );
    assert_eq!(
        wait(state.find_submission(id("acme"), key("k", 2), NOW)),
        Some(Submission::Conflict)
    );
    drop(state);
    let state = store.open();
    assert_eq!(Some(submit(&state, new)), known);
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (1, 1));
    // Without a key, the same rows are another job.
    expect_accepted(submit(&state, job_of("acme", 3, &[(1, 1, b"row")])));
    expect_accepted(submit(&state, job_of("acme", 4, &[(1, 1, b"row")])));
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (3, 3));
}

/// Of a hundred submissions at once, over two handles, one is accepted, and all others receive its
/// job.
pub(crate) fn a_hundred_identical_submissions_are_one_job<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let state = Arc::new(state);
    let second = store.second(&state);
    let replies: Vec<_> = (0..100_u8)
        .map(|number| {
            let mut new = job_of("acme", number.into(), &[(5, 5, b"rows")]);
            (new.idempotency, new.queued_jobs, new.allowance) = (Some(key("k", 1)), 1, 5);
            let state = if number % 2 == 0 { &state } else { &second };
            state.submit(new)
        })
        .collect();
    let mut accepted = Vec::new();
    let mut known = Vec::new();
    for reply in replies {
        match wait(reply) {
            Submission::Accepted(job) => accepted.push(job.id),
            Submission::Known(job) => known.push(job.id),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((accepted.len(), known.len()), (1, 99));
    assert!(known.iter().all(|id| *id == accepted[0]));
    assert_eq!(
        (used_units(&*second, "acme"), wait(state.waiting())),
        (5, 1)
    );
}

pub(crate) fn a_job_is_gone_on_its_millisecond<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let job = expect_accepted(submit(&state, job_of("acme", 1, &[(1, 1, b"row")])));
    let claim = wait(state.claim(claimant(), NOW, 1_000)).unwrap();
    super::finish(&state, claim.lease, 0, b"result");
    let end = job.expires_at;
    let before = UnixMillis(end.0 - 1);
    let seen = |now| {
        let job_seen = wait(state.job(id("acme"), job.id, now)).is_some();
        (
            job_seen,
            wait(state.output(id("acme"), job.id, 0, now)).is_some(),
        )
    };
    assert_eq!(wait(state.purge(before)), PurgeCounts::default());
    assert_eq!((seen(before), seen(end)), ((true, true), (false, false)));
    let purged = PurgeCounts {
        jobs: 1,
        documents: 0,
        more: false,
    };
    assert_eq!(wait(state.purge(end)), purged);
    assert_eq!(seen(before), (false, false));
    assert_eq!(wait(state.purge(end)), PurgeCounts::default());
    assert_eq!(used_units(&state, "acme"), 1);
}

/// A key answers for seven days with its job, then with its document alone, and from thirty days on
/// with a refusal.
pub(crate) fn a_key_is_never_forgotten<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let mut new = job_of("acme", 1, &[(1, 1, b"row")]);
    new.idempotency = Some(key("k", 1));
    expect_accepted(submit(&state, new.clone()));
    let claim = wait(state.claim(claimant(), NOW, 1_000)).unwrap();
    super::finish(&state, claim.lease, 0, b"result");
    let done = wait(state.job(id("acme"), new.id, NOW)).unwrap();
    assert_eq!(done.status, JobStatus::Completed);

    let mut again = new.clone();
    again.id = Uuid::from_u128(2);
    let mut at = |state: &S::State, millis: i64, digest: u8| {
        (again.now, again.idempotency) = (after(millis), Some(key("k", digest)));
        let answer = submit(state, again.clone());
        let known = wait(state.find_submission(id("acme"), key("k", digest), again.now));
        assert_eq!(known, Some(answer.clone()), "at {millis}");
        answer
    };
    let known = Submission::Known(done);
    let month = IDEMPOTENCY_RETENTION_MILLIS;
    assert_eq!(at(&state, JOB_RETENTION_MILLIS, 1), known);
    wait(state.purge(after(JOB_RETENTION_MILLIS)));
    assert_eq!(at(&state, JOB_RETENTION_MILLIS, 1), known);
    assert_eq!(at(&state, month - 1, 1), known);
    assert_eq!(at(&state, month - 1, 2), Submission::Conflict);
    for digest in [1, 2] {
        assert_eq!(at(&state, month, digest), Submission::KeyExpired);
    }
    assert_eq!(wait(state.purge(after(month - 1))), PurgeCounts::default());
    let purged = PurgeCounts {
        jobs: 0,
        documents: 1,
        more: false,
    };
    assert_eq!(wait(state.purge(after(month))), purged);
    assert_eq!(wait(state.purge(after(month * 2))), PurgeCounts::default());
    drop(state);
    let state = store.open();
    for digest in [1, 2] {
        assert_eq!(at(&state, month * 100, digest), Submission::KeyExpired);
    }
}

/// A job that nobody finished in its time costs nothing, and its key reports that it failed.
pub(crate) fn a_job_that_outlives_its_time_is_given_back<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let mut new = job_of("acme", 1, &[(3, 2, b"one"), (3, 3, b"two"), (3, 3, b"tri")]);
    new.idempotency = Some(key("k", 1));
    let job = expect_accepted(submit(&state, new));
    let claim = wait(state.claim(claimant(), NOW, 1_000)).unwrap();
    super::finish(&state, claim.lease, 0, b"result");
    assert_eq!(wait(state.claim(claimant(), job.expires_at, 1_000)), None);
    let end = job.expires_at;
    assert_eq!(
        wait(state.renew(claim.lease, end, 1_000)),
        LeaseStatus::Lost
    );
    let finished = wait(state.finish_chunk(claim.lease, chunk_results(1), end, 1_000));
    let failed = wait(state.fail(claim.lease, job_error(), end));
    assert_eq!((finished, failed), (LeaseStatus::Lost, LeaseStatus::Lost));
    wait(state.purge(end));
    assert_eq!(
        wait(state.renew(claim.lease, NOW, 1_000)),
        LeaseStatus::Lost
    );
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (2, 0));
    let known = wait(state.find_submission(id("acme"), key("k", 1), end));
    let Some(Submission::Known(known)) = known else {
        panic!("{known:?}");
    };
    assert_eq!((known.id, known.status), (job.id, JobStatus::Failed));
    assert!(known.error.is_some());
    let mut next = job_of("acme", 2, &[(1, 1, b"x")]);
    (next.queued_jobs, next.stored_bytes) = (1, 1);
    expect_accepted(submit(&state, next));
}

/// The allowance is looked at before the id, and a job of no units needs none.
pub(crate) fn a_job_of_no_units_fits_into_every_month<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let mut again = job_of("acme", 1, &[(2, 2, b"row")]);
    expect_accepted(submit(&state, again.clone()));
    again.allowance = 3;
    let exhausted = Submission::Exhausted { used: 2 };
    assert_eq!(submit(&state, again), exhausted);
    let mut free = job_of("acme", 2, &[(1, 0, b"row")]);
    free.allowance = 1;
    expect_accepted(submit(&state, free));
    assert_eq!((used_units(&state, "acme"), wait(state.waiting())), (2, 2));
}

/// Nobody waits for the replies, and the jobs are accepted all the same.
pub(crate) fn closing_waits_for_submissions_under_way<S: Store>() {
    let (store, state) = with_tenant::<S>();
    for number in 0..20 {
        drop(state.submit(job_of("acme", number, &[(1, 1, b"row")])));
    }
    drop(state);
    assert_eq!(wait(store.open().waiting()), 20);
}

/// Calls the purge until nothing is left, and returns the numbers of jobs and documents.
pub(super) fn purge_all(state: &impl State, now: UnixMillis) -> (u32, u32) {
    let (mut jobs, mut documents) = (0, 0);
    loop {
        let purged = wait(state.purge(now));
        jobs += purged.jobs;
        documents += purged.documents;
        if !purged.more {
            return (jobs, documents);
        }
    }
}

pub(crate) fn many_jobs_are_purged_at_once<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let replies: Vec<_> = (0..100)
        .map(|number| {
            let mut new = job_of("acme", number, &[(1, 0, b"row")]);
            new.idempotency = Some(key(&format!("k{number}"), 1));
            state.submit(new)
        })
        .collect();
    for reply in replies {
        expect_accepted(wait(reply));
    }
    let purged = purge_all(&state, after(IDEMPOTENCY_RETENTION_MILLIS));
    assert_eq!(purged, (100, 100));
    assert_eq!(wait(state.waiting()), 0);
}

/// A tenant's bytes are its inputs, less those of finished chunks, and its results.
pub(crate) fn bytes_are_counted_exactly<S: Store>() {
    let (store, state) = with_tenant::<S>();
    // Tests whether a job of `bytes` fits below `limit`; it is not accepted in any case.
    let fits = |state: &S::State, bytes: usize, limit: u64| {
        let mut new = job_of("acme", 99, &[(1, 1, vec![0; bytes].as_slice())]);
        (new.stored_bytes, new.allowance) = (limit, 0);
        match submit(state, new) {
            Submission::Exhausted { .. } => true,
            Submission::StoreFull => false,
            other => panic!("{other:?}"),
        }
    };
    let occupied = |state: &S::State, bytes: u64| {
        assert!(fits(state, 10, bytes + 10), "more than {bytes} are counted");
        assert!(
            !fits(state, 10, bytes + 9),
            "fewer than {bytes} are counted"
        );
    };
    occupied(&state, 0);
    let job = expect_accepted(submit(
        &state,
        job_of(
            "acme",
            1,
            &[(1, 1, &[1; 100]), (1, 1, &[2; 200]), (1, 1, &[3; 50])],
        ),
    ));
    occupied(&state, 350);
    let claim = wait(state.claim(claimant(), NOW, 1_000)).unwrap();
    super::finish(&state, claim.lease, 0, &[7; 30]);
    occupied(&state, 280);
    drop(state);
    let state = store.open();
    occupied(&state, 280);
    let claim = wait(state.claim(claimant(), after(31_000), 1_000)).unwrap();
    super::finish(&state, claim.lease, 1, &[7; 500]);
    occupied(&state, 580);
    let error = JobError {
        code: "internal".into(),
        message: "it broke".into(),
        retryable: false,
    };
    assert_eq!(wait(state.fail(claim.lease, error, NOW)), LeaseStatus::Held);
    occupied(&state, 530);
    wait(state.purge(job.expires_at));
    occupied(&state, 0);
    assert_eq!(used_units(&state, "acme"), 2);
}

/// A chunk in object storage occupies the bytes of its object.
pub(crate) fn a_reference_counts_as_its_object<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let reference = |bytes| {
        let reference = ObjectReference {
            bytes,
            digest: [1; 32],
            key: [2; 32],
        };
        reference.to_bytes()
    };
    let (first, second) = (reference(50_000), reference(7));
    let occupied = |bytes: u64| {
        let mut new = job_of("acme", 99, &[(1, 1, b"x")]);
        (new.stored_bytes, new.allowance) = (bytes, 0);
        assert_eq!(submit(&state, new.clone()), Submission::StoreFull);
        new.stored_bytes = bytes + 1;
        let fits = submit(&state, new);
        assert!(matches!(fits, Submission::Exhausted { .. }), "{fits:?}");
    };
    let chunks = [(1, 1, first.as_slice()), (1, 1, second.as_slice())];
    let job = expect_accepted(submit(&state, job_of("acme", 1, &chunks)));
    occupied(50_007);
    let claim = wait(state.claim(claimant(), NOW, 1_000)).unwrap();
    assert_eq!(wait(state.input(claim.lease, 0)), Some(first));
    super::finish(&state, claim.lease, 0, &reference(600_000));
    occupied(600_007);
    let error = JobError {
        code: "internal".into(),
        message: "it broke".into(),
        retryable: false,
    };
    assert_eq!(wait(state.fail(claim.lease, error, NOW)), LeaseStatus::Held);
    occupied(600_000);
    wait(state.purge(job.expires_at));
    occupied(0);
}
