//! A PostgreSQL whose commits hang while its reads work.

use super::postgres::charge;
use super::suite::{self, within};
use std::time::{Duration, Instant};

use crate::test_support::{REQUEST, claimant};
use domesday_state::*;
use domesday_test_postgres::{Cluster, Disk, sql};

/// Longer than an operation may take, so that the first writes are given up.
const HELD: Duration = Duration::from_secs(16);
/// Time limit within which a stall is noticed, and its end.
const NOTICED: Duration = Duration::from_secs(5);
/// Counts the commits that wait for a standby.
const COMMITTING: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
/// A read that waits for nothing takes less.
const PROMPT: Duration = Duration::from_secs(1);

/// Each write that is given up leaves its session in the server, and none of the host's
/// connections.
#[test]
fn commits_that_hang_degrade_the_store_until_they_end_and_delay_no_read() {
    let cluster = Cluster::start(Disk::Unsynced);
    let state = PostgresState::open(&cluster.database()).unwrap();
    let acme = suite::id("acme");
    state
        .create_tenant(&acme, &Plan::default(), suite::NOW)
        .unwrap();
    let jobs = [1, 2].map(|number| suite::job_of("acme", number, &[(1, 1, b"row")]));
    for job in &jobs {
        suite::submit(&state, job.clone());
    }
    charge(&state, 20).unwrap();
    cluster.hold_commits();
    let held = Instant::now();
    // The job is of another tenant, since the charge would wait for a job of its own tenant.
    let job = suite::job_of("other", 3, &[(1, 1, b"row")]);
    let late = job.id;
    std::thread::scope(|scope| {
        // A batch on its way, another behind it, a claim and a submission.
        let writes = [
            scope.spawn(|| charge(&state, 1).map(drop)),
            scope.spawn(|| suite::outcome(state.claim(claimant(), suite::NOW, 1_000)).map(drop)),
            scope.spawn(|| suite::outcome(state.submit(job)).map(drop)),
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                suite::outcome(state.refund(suite::id("acme"), suite::JUNE, 4, REQUEST))
            }),
        ];
        within(NOTICED, || state.degradation().is_some());
        let (mut reads, mut late) = (0, Vec::new());
        while held.elapsed() < HELD {
            let reason = state.degradation();
            assert!(reason.is_some(), "after {:?}", held.elapsed());
            let began = Instant::now();
            suite::used_units(&state, "acme");
            let document = suite::wait(state.job(suite::id("acme"), jobs[0].id, suite::NOW));
            assert!(document.is_some());
            reads += 1;
            late.extend(Some(began.elapsed()).filter(|took| *took >= PROMPT));
            std::thread::sleep(Duration::from_millis(20));
        }
        // A busy machine delays one now and then, and a wait for a commit each of them.
        assert!(late.len() * 10 <= reads, "{late:?} of {reads}");
        for write in writes {
            assert!(write.join().unwrap().is_err());
        }
        // A write that would time out is refused at once.
        let began = Instant::now();
        assert!(suite::outcome(state.claim(claimant(), suite::NOW, 1_000)).is_err());
        assert!(charge(&state, 1).is_err());
        assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    });
    cluster.release_commits();
    within(NOTICED, || state.degradation().is_none());
    // The claim that was refused was made and is given back, before its lease ends.
    let attempts = jobs.each_ref().map(|_| {
        let claim = suite::wait(state.claim(claimant(), suite::NOW, 1_000));
        claim.map(|claim| claim.attempts)
    });
    assert_eq!(attempts, [Some(1); 2]);
    // The refused charge was made and is given back, and so is the refund.
    within(NOTICED, || suite::used_units(&state, "acme") == 2 + 20 - 4);
    let granted = charge(&state, 1).unwrap();
    assert_eq!(granted, ChargeOutcome::Granted { used: 19 });
    // The late job is there, too.
    assert_eq!(suite::used_units(&state, "other"), 1);
    suite::wait(state.withdraw(suite::id("other"), late));
    assert_eq!(suite::used_units(&state, "other"), 0);
}

/// The commit of a submission is under way, and lands while the withdrawal waits for it.
#[test]
fn a_withdrawal_waits_for_a_commit_under_way() {
    let cluster = Cluster::start(Disk::Unsynced);
    let address = cluster.database();
    let state = PostgresState::open(&address).unwrap();
    // It acts as another host, whose submissions share no queue with those of the first.
    let second = PostgresState::open(&address).unwrap();
    let acme = || suite::id("acme");
    let job = suite::job_of("acme", 1, &[(3, 3, b"row")]);
    let id = job.id;
    cluster.hold_commits();
    let submitted = state.submit(job);
    within(NOTICED, || sql(&address, COMMITTING).trim() == "1");
    let withdrawn = second.withdraw(acme(), id);
    std::thread::sleep(Duration::from_millis(500));
    cluster.release_commits();
    let submitted = suite::wait(submitted);
    assert!(
        matches!(submitted, Submission::Accepted(_)),
        "{submitted:?}"
    );
    suite::wait(withdrawn);
    assert_eq!(suite::wait(state.job(acme(), id, suite::NOW)), None);
    assert_eq!(suite::wait(state.waiting()), 0);
    assert_eq!(suite::used_units(&state, "acme"), 0);
}

/// Its caller is gone when the commit of the claim ends.
#[test]
fn a_claim_that_commits_after_its_caller_gave_up_is_given_back() {
    let cluster = Cluster::start(Disk::Unsynced);
    let address = cluster.database();
    let state = PostgresState::open(&address).unwrap();
    suite::submit(&state, suite::job_of("acme", 1, &[(1, 1, b"row")]));
    cluster.hold_commits();
    let claimed = state.claim(claimant(), suite::NOW, 30_000);
    within(NOTICED, || sql(&address, COMMITTING).trim() == "1");
    drop(claimed);
    cluster.release_commits();
    let attempts = std::cell::Cell::new(None);
    within(NOTICED, || {
        let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000));
        attempts.set(claim.map(|claim| claim.attempts));
        attempts.get().is_some()
    });
    assert_eq!(attempts.get(), Some(1));
}
