//! Rows and results of jobs hold up nothing else on PostgreSQL.

use super::postgres::{Postgres, charge, new_key};
use super::suite::{self, SEEN, within};
use crate::test_support::claimant;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use domesday_state::*;
use domesday_test_postgres as cluster;
use uuid::Uuid;

/// More than a host has connections.
const MANY: u128 = 24;
/// An operation that waits for nothing takes less.
const PROMPT: Duration = Duration::from_secs(1);
/// Sessions of the database that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity \
     WHERE datname = current_database() AND wait_event_type = 'Lock'";
const HOLDERS: &str = "SELECT count(*) FROM pg_stat_activity \
     WHERE datname = current_database() AND wait_event = 'PgSleep'";

fn count(address: &str, statement: &str) -> u32 {
    cluster::sql(address, statement).trim().parse().unwrap()
}

/// Holds the lock of a statement for some seconds in a separate session.
fn hold(address: &str, statement: &str) -> JoinHandle<()> {
    let script = format!("BEGIN; {statement}; SELECT pg_sleep(4); COMMIT");
    let session = address.to_owned();
    let holder = std::thread::spawn(move || drop(cluster::sql(&session, &script)));
    within(SEEN * 2, || count(address, HOLDERS) == 1);
    holder
}

/// Returns the use of a pool.
fn pool(state: &PostgresState, name: &str) -> ConnectionPool {
    let pools = state.connection_pools();
    let pool = pools.into_iter().find(|pool| pool.name == name).unwrap();
    assert!(
        pool.in_use <= pool.open && pool.open <= pool.limit,
        "{pool:?}"
    );
    pool
}

fn await_waiting(address: &str) {
    within(SEEN * 2, || count(address, WAITING) > 0);
    // Time for all the others that would wait in the database too.
    std::thread::sleep(Duration::from_millis(200));
}

/// Runs an operation, which must not wait for the lock.
#[track_caller]
fn promptly<T>(what: &str, operation: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let output = operation();
    let took = started.elapsed();
    assert!(took < PROMPT, "{what} took {took:?}");
    output
}

fn assert_accepted(reply: Reply<Submission>) {
    let submission = suite::wait(reply);
    assert!(
        matches!(submission, Submission::Accepted(_)),
        "{submission:?}"
    );
}

/// Every transaction of rows waits, and there are more of them than connections.
#[test]
fn rows_that_wait_hold_up_neither_charges_nor_keys_nor_leases() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let job = suite::job_of("acme", 0, &[(1, 1, b"row")]);
    assert_accepted(state.submit(job));
    let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000)).unwrap();
    let holder = hold(&store.address, "LOCK TABLE domesday.chunks");
    let bulk_in_use = || {
        let bulk = pool(&state, "bulk");
        (bulk.in_use, bulk.limit)
    };
    let submissions: Vec<Reply<Submission>> = (1..=MANY)
        .map(|number| {
            let tenant = format!("t{number}");
            state.submit(suite::job_of(&tenant, number, &[(1, 1, b"row")]))
        })
        .collect();
    await_waiting(&store.address);
    assert_eq!(bulk_in_use(), (3, 3));
    let granted = promptly("a charge", || charge(&state, 1).unwrap());
    assert_eq!(granted, ChargeOutcome::Granted { used: 2 });
    promptly("the units", || suite::used_units(&state, "acme"));
    let seed = KeySeed::new([1; 40]);
    let made = promptly("a key", || state.create_key(&new_key(), seed, suite::NOW));
    made.unwrap();
    let renewed = || suite::wait(state.renew(claim.lease, suite::NOW, 30_000));
    assert_eq!(promptly("a renewal", renewed), LeaseStatus::Held);
    let document = || suite::wait(state.job(suite::id("acme"), claim.job.id, suite::NOW));
    assert!(promptly("a document", document).is_some());
    assert_eq!(state.degradation(), None);
    assert!(!holder.is_finished());
    holder.join().unwrap();
    submissions.into_iter().for_each(assert_accepted);
}

/// Charges keep their connection from one batch to the next. Kept for longer it would be missing
/// elsewhere, and might break unseen.
#[test]
fn the_connection_of_charges_goes_back_once_they_rest() {
    let (_store, state) = suite::with_tenant::<Postgres>();
    let in_use = || pool(&state, "requests").in_use;
    // Polls of the database have one for a moment.
    let samples = (0..30).map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        in_use()
    });
    let rested = samples.min().unwrap();
    for _ in 0..3 {
        charge(&state, 1).unwrap();
    }
    assert!(in_use() > rested);
    within(SEEN * 4, || in_use() <= rested);
    charge(&state, 1).unwrap();
    assert_eq!(state.degradation(), None);
}

/// Another host's submission has the tenant's turn.
#[test]
fn submissions_that_wait_for_their_tenants_turn_delay_no_other_tenant() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let repeated = || NewJob {
        idempotency: Some(suite::key("once", 1)),
        ..suite::job_of("acme", 0, &[(1, 1, b"row")])
    };
    assert_accepted(state.submit(repeated()));
    let turn = "SELECT pg_advisory_xact_lock(1685024101, hashtext('acme'))";
    let holder = hold(&store.address, turn);
    let submissions: Vec<Reply<Submission>> = (1..=MANY)
        .map(|number| state.submit(suite::job_of("acme", number, &[(1, 1, b"row")])))
        .collect();
    await_waiting(&store.address);
    let other = suite::job_of("other", MANY + 1, &[(1, 1, b"row")]);
    promptly("another tenant's job", || {
        assert_accepted(state.submit(other))
    });
    let known = promptly("a repetition", || suite::submit(&state, repeated()));
    assert!(matches!(known, Submission::Known(_)), "{known:?}");
    assert!(!holder.is_finished());
    holder.join().unwrap();
    submissions.into_iter().for_each(assert_accepted);
}

/// Another host sleeps in the middle of its claim.
#[test]
fn claims_that_wait_for_another_hosts_delay_no_read_of_a_job() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let job = suite::job_of("acme", 0, &[(1, 1, b"row")]);
    let id = job.id;
    assert_accepted(state.submit(job));
    let holder = hold(
        &store.address,
        "SELECT pg_advisory_xact_lock(1685024101, 0)",
    );
    let claims: Vec<_> = (0..4)
        .map(|_| state.claim(claimant(), suite::NOW, 30_000))
        .collect();
    await_waiting(&store.address);
    for _ in 0..5 {
        let document = || suite::wait(state.job(suite::id("acme"), id, suite::NOW));
        assert!(promptly("a document", document).is_some());
    }
    assert!(!holder.is_finished());
    holder.join().unwrap();
    let claimed = claims.into_iter().filter_map(suite::wait).count();
    assert_eq!(claimed, 1);
    assert_eq!(state.degradation(), None);
}

/// A purge that took longer than an operation may would pass for a database that does not answer.
#[test]
fn a_purge_removes_a_bounded_number_of_jobs_and_says_that_there_are_more() {
    let (_store, state) = suite::with_tenant::<Postgres>();
    for number in 0..40 {
        let mut new = suite::job_of("acme", number, &[(1, 0, b"row")]);
        new.idempotency = Some(suite::key(&format!("k{number}"), 1));
        assert_accepted(state.submit(new));
    }
    let purge = || suite::wait(state.purge(suite::after(IDEMPOTENCY_RETENTION_MILLIS)));
    let purged = [(32, true), (8, false), (0, false)];
    for (number, more) in purged {
        let expected = PurgeCounts {
            jobs: number,
            documents: number,
            more,
        };
        assert_eq!(purge(), expected);
    }
}

#[test]
fn a_removal_of_entries_is_one_statement_and_says_that_there_are_more() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let rows = "INSERT INTO domesday.usage_entries (month, tenant, ats, kinds, ids, units) \
         SELECT 1, 'acme', ARRAY[0::bigint], ARRAY[1::smallint], ARRAY[gen_random_uuid()], \
         ARRAY[1::bigint] \
         FROM generate_series(1, 1100)";
    cluster::sql(&store.address, rows);
    for (rows, more) in [(1_024, true), (76, false), (0, false)] {
        let removed = suite::wait(state.remove_usage_entries(suite::JUNE));
        assert_eq!(removed, RemovedEntries { rows, more });
    }
}

/// The purge has given back the units of its first job, and waits for a row of the second.
#[test]
fn a_purge_locks_units_last() {
    let (store, state) = suite::with_tenant::<Postgres>();
    assert_accepted(state.submit(suite::job_of("acme", 1, &[(1, 1, b"row")])));
    let later = NewJob {
        month: Month {
            month: suite::JUNE.month + 1,
            ..suite::JUNE
        },
        ..suite::job_of("acme", 2, &[(1, 1, b"row")])
    };
    assert_accepted(state.submit(later));
    let row = Uuid::from_u128(2);
    let row = format!("SELECT FROM domesday.chunks WHERE job = '{row}' FOR UPDATE");
    let holder = hold(&store.address, &row);
    let purge = state.purge(suite::after(JOB_RETENTION_MILLIS + 1));
    await_waiting(&store.address);
    promptly("a charge", || charge(&state, 1).unwrap());
    assert!(!holder.is_finished());
    holder.join().unwrap();
    assert_eq!(suite::wait(purge).jobs, 2);
    assert_eq!(suite::used_units(&state, "acme"), 1);
}
