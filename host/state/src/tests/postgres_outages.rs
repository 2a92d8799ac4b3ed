//! A database that crashes, freezes, ends sessions, holds a lock or does not write.

use super::postgres::{Postgres, charge, new_key, opens};
use super::suite::{self, SEEN, Store, within};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::test_support::REQUEST;
use domesday_state::*;
use domesday_test_postgres::{self as cluster, Cluster, Disk};

/// Time limit within which an unreachable database is noticed.
const NOTICED: Duration = Duration::from_secs(4);

/// The database dies in the middle of charges. Answered charges are there afterwards, failed ones
/// are not, and the state comes back by itself.
#[test]
fn a_database_that_crashes_degrades_the_store_until_it_is_back() {
    let cluster = Cluster::start(Disk::Unsynced);
    let state = PostgresState::open(&cluster.database()).unwrap();
    let acme = suite::id("acme");
    state
        .create_tenant(&acme, &Plan::default(), suite::NOW)
        .unwrap();
    let key = state
        .create_key(&new_key(), KeySeed::new([1; 40]), suite::NOW)
        .unwrap();
    let granted: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut granted = 0;
                    loop {
                        match charge(&state, 1) {
                            Ok(_) => granted += 1,
                            Err(StateError::Storage { .. }) => return granted,
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(200));
        cluster.crash();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.sum()
    });
    within(NOTICED, || state.degradation().is_some());
    // Nothing times out any more, and keys are still known.
    let started = Instant::now();
    assert!(matches!(charge(&state, 1), Err(StateError::Storage { .. })));
    assert!(state.revoke_key(key.id, suite::NOW).is_err());
    assert!(started.elapsed() < Duration::from_millis(500));
    assert!(opens(&state, &key));

    cluster.restart();
    within(NOTICED, || state.degradation().is_none());
    // Failed charges that were made are given back.
    within(NOTICED, || suite::used_units(&state, "acme") == granted);
    assert_eq!(
        charge(&state, 1).unwrap(),
        ChargeOutcome::Granted { used: granted + 1 }
    );
}

#[test]
fn a_database_that_does_not_answer_degrades_the_store_until_it_does() {
    let cluster = Cluster::start(Disk::Unsynced);
    let state = PostgresState::open(&cluster.database()).unwrap();
    charge(&state, 1).unwrap();
    cluster.freeze();
    within(NOTICED, || state.degradation().is_some());
    let reason = state.degradation().unwrap();
    assert!(reason.contains("does not answer"), "{reason}");
    let started = Instant::now();
    let error = charge(&state, 1).unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_millis(500));
    assert!(error.contains("database unavailable"), "{error}");
    cluster.thaw();
    within(NOTICED, || state.degradation().is_none());
    assert_eq!(
        charge(&state, 1).unwrap(),
        ChargeOutcome::Granted { used: 2 }
    );
}

/// A statement that was sent before the database froze may run once it goes on.
#[test]
fn charges_of_unknown_outcome_are_undone_when_the_database_goes_on() {
    let cluster = Cluster::start(Disk::Unsynced);
    let state = PostgresState::open(&cluster.database()).unwrap();
    let refund =
        |units| suite::outcome(state.refund(suite::id("acme"), suite::JUNE, units, REQUEST));
    for round in 1..=2 {
        charge(&state, 20).unwrap();
        let used = suite::used_units(&state, "acme");
        cluster.freeze();
        std::thread::scope(|scope| {
            // Some are on their way to the database, and others wait for these.
            let charges = [1, 2, 3].map(|units| {
                std::thread::sleep(Duration::from_millis(50));
                let state = &state;
                scope.spawn(move || charge(state, units))
            });
            let refund = scope.spawn(|| refund(4));
            for charge in charges {
                assert!(charge.join().unwrap().is_err());
            }
            let error = refund.join().unwrap().unwrap_err().to_string();
            assert!(error.contains("as soon as the database answers"), "{error}");
        });
        assert!(refund(1).is_err());
        cluster.thaw();
        within(NOTICED, || state.degradation().is_none());
        within(NOTICED, || {
            suite::outcome(state.used_units(suite::id("acme"), suite::JUNE))
                .is_ok_and(|now| now == used - 5)
        });
        // A statement that arrives late makes nothing.
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(suite::used_units(&state, "acme"), used - 5, "round {round}");
    }
}

/// A pooler or an administrator ends sessions. The store reconnects and stays healthy.
#[test]
fn sessions_that_are_ended_do_not_degrade_the_store() {
    let store = Postgres::empty();
    let state = Arc::new(store.open());
    // As many threads as keep all connections in use, so that none has rested.
    let busy = |state: &Arc<PostgresState>| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                let state = Arc::clone(state);
                std::thread::spawn(move || {
                    suite::outcome(state.used_units(suite::id("acme"), suite::JUNE))
                })
            })
            .collect();
        for thread in threads {
            // Operations under way are lost.
            let _ = thread.join().unwrap();
        }
    };
    for _ in 0..3 {
        busy(&state);
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()";
        assert!(
            cluster::sql(&store.address, end)
                .trim()
                .parse::<u32>()
                .unwrap()
                > 1
        );
        let ended = Instant::now();
        while ended.elapsed() < SEEN {
            assert_eq!(state.degradation(), None);
            std::thread::sleep(Duration::from_millis(5));
        }
        charge(&state, 1).unwrap();
    }
}

/// Another session locks the row that every command changes. The command ends, and nothing else
/// waits.
#[test]
fn a_lock_of_another_session_does_not_hang_a_command() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let key = state
        .create_key(&new_key(), KeySeed::new([1; 40]), suite::NOW)
        .unwrap();
    let address = store.address.clone();
    let holder = std::thread::spawn(move || {
        cluster::sql(
            &address,
            "BEGIN; SELECT version FROM domesday.service FOR UPDATE; SELECT pg_sleep(4); COMMIT",
        )
    });
    let free = "SELECT count(*) FROM (SELECT FROM domesday.service FOR UPDATE SKIP LOCKED) AS free";
    within(SEEN * 2, || {
        cluster::sql(&store.address, free).trim() == "0"
    });
    let started = Instant::now();
    let error = state.revoke_key(key.id, suite::NOW).unwrap_err();
    let took = started.elapsed();
    assert!(took < Duration::from_millis(2_500), "{took:?}");
    assert!(
        error.to_string().contains("another session holds a lock"),
        "{error}"
    );
    // It changed nothing, and operations without the lock go on.
    assert!(opens(&state, &key));
    charge(&state, 1).unwrap();
    while !holder.is_finished() {
        assert_eq!(state.degradation(), None);
        std::thread::sleep(Duration::from_millis(10));
    }
    state.revoke_key(key.id, suite::NOW).unwrap();
    assert!(!opens(&state, &key));
}

/// A server turned read-only, as a replaced one does: it answers, and stores nothing.
#[test]
fn a_database_that_does_not_write_degrades_the_store_until_it_does() {
    let store = Postgres::empty();
    let name = store.address.split(['/', '?']).nth(3).unwrap().to_owned();
    let set = |to: &str| {
        let statement = format!("ALTER DATABASE {name} SET default_transaction_read_only = {to}");
        cluster::sql(
            &store.address,
            &format!("BEGIN READ WRITE; {statement}; COMMIT"),
        );
        // Sessions have it from their beginning.
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()";
        cluster::sql(&store.address, end);
    };
    let state = store.open();
    charge(&state, 1).unwrap();
    set("on");
    within(NOTICED, || {
        charge(&state, 1).is_err() && state.degradation().is_some()
    });
    let used = || suite::outcome(state.used_units(suite::id("acme"), suite::JUNE));
    within(NOTICED, || used().is_ok_and(|used| used == 1));
    // A command names the database's own reason.
    let is_read_only = |error: StateError| error.to_string().contains("read-only");
    within(NOTICED, || state.pause_jobs(true).is_err_and(is_read_only));
    set("off");
    within(NOTICED * 2, || state.degradation().is_none());
    charge(&state, 1).unwrap();
}
