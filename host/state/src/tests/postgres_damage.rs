//! Rows of one tenant that PostgreSQL cannot read or change. No other tenant notices.

use super::postgres::{Postgres, charge, new_key, opens};
use super::suite::{self, SEEN, Store, used_units, within};

use crate::test_support::{REQUEST, claimant};
use domesday_state::*;
use domesday_test_postgres as cluster;

/// Makes each read of a chunk meet a damaged page.
const DAMAGED_CHUNKS: &str = "CREATE FUNCTION public.damaged() RETURNS boolean LANGUAGE plpgsql AS \
     $$ BEGIN RAISE EXCEPTION 'invalid page' USING ERRCODE = 'XX001'; END $$; \
     ALTER TABLE domesday.chunks RENAME TO sound_chunks; \
     CREATE VIEW domesday.chunks AS SELECT * FROM domesday.sound_chunks WHERE public.damaged()";

/// Changes rows as a command does, so that hosts read them.
fn change(store: &Postgres, statement: &str) {
    let version = "(SELECT version FROM domesday.service)";
    let statement = statement.replace("VERSION", version);
    let script = format!("UPDATE domesday.service SET version = version + 1; {statement}");
    cluster::sql(&store.address, &script);
}

fn charge_of_other(state: &PostgresState) -> ChargeOutcome {
    suite::wait(state.charge(Charge {
        tenant: suite::id("other"),
        month: suite::JUNE,
        units: 1,
        allowance: 10,
        source: REQUEST,
    }))
}

#[test]
fn results_that_cannot_be_read_keep_nobody_from_charging() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let job = suite::job_of("acme", 1, &[(1, 1, b"row")]);
    let id = job.id;
    suite::submit(&state, job);
    let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000)).unwrap();
    suite::finish(&state, claim.lease, 0, b"result");
    let read = || suite::outcome(state.output(suite::id("acme"), id, 0, suite::NOW));
    assert!(read().unwrap().is_some());
    cluster::sql(&store.address, DAMAGED_CHUNKS);
    for _ in 0..10 {
        assert!(matches!(read(), Err(StateError::Storage { .. })));
        assert_eq!(state.degradation(), None);
        charge(&state, 1).unwrap();
    }
}

#[test]
fn units_that_cannot_be_given_back_keep_no_other_charge_waiting() {
    let (store, first) = suite::with_tenant::<Postgres>();
    let second = store.open();
    charge(&first, 10).unwrap();
    let usage = "SELECT used FROM domesday.usage WHERE tenant = 'acme'";
    let used = cluster::sql(&store.address, usage);
    let set = |used: &str| {
        let used = used.trim();
        let set = format!("UPDATE domesday.usage SET used = {used}, entered = {used}");
        cluster::sql(&store.address, &set);
    };
    // Fewer than the shards hold, as after a correction by hand.
    set("0");
    let refund = second.refund(suite::id("acme"), suite::JUNE, 10, REQUEST);
    let refused = suite::outcome(refund).unwrap_err();
    assert!(refused.to_string().contains("given back"), "{refused}");
    for used in 1..=5 {
        assert_eq!(charge_of_other(&second), ChargeOutcome::Granted { used });
    }
    assert_eq!(second.degradation(), None);
    cluster::sql(
        &store.address,
        "DELETE FROM domesday.usage WHERE tenant = 'other'",
    );
    set(&used);
    within(SEEN * 2, || used_units(&second, "acme") == 0);
}

/// An operator credits a customer while a shard holds free units.
#[test]
fn a_count_below_the_free_units_of_its_shards_fails_no_charge() {
    let (store, state) = suite::with_tenant::<Postgres>();
    charge(&state, 10).unwrap();
    let credit = "UPDATE domesday.usage SET used = used - 20 WHERE tenant = 'acme'";
    cluster::sql(&store.address, credit);
    assert_eq!(used_units(&state, "acme"), 0);
    for used in 1..=3 {
        let outcome = charge(&state, 1).unwrap();
        assert_eq!(outcome, ChargeOutcome::Granted { used: 0 });
        assert_eq!(charge_of_other(&state), ChargeOutcome::Granted { used });
    }
    suite::wait(state.refund(suite::id("acme"), suite::JUNE, 2, REQUEST));
    assert_eq!(charge_of_other(&state), ChargeOutcome::Granted { used: 4 });
    // 10 + 3 - 2 + 30 units, less the credit of 20.
    let outcome = charge(&state, 30).unwrap();
    assert_eq!(outcome, ChargeOutcome::Granted { used: 21 });
    assert_eq!(used_units(&state, "acme"), 21);
    assert_eq!(state.degradation(), None);
}

/// Reads the count of a tenant, which holds the free units of its shards too.
fn read_used(store: &Postgres) -> i64 {
    let used = "SELECT used FROM domesday.usage WHERE tenant = 'acme'";
    cluster::sql(&store.address, used).trim().parse().unwrap()
}

/// Corrects the count of a tenant by hand.
fn add_used(store: &Postgres, units: i64) {
    let add = format!(
        "UPDATE domesday.usage SET used = used + {units}, entered = entered + {units} \
         WHERE tenant = 'acme'"
    );
    cluster::sql(&store.address, &add);
}

/// The runner repeats the operation after other errors.
#[test]
fn results_whose_units_cannot_be_given_back_are_refused_for_their_rows() {
    let (store, state) = suite::with_tenant::<Postgres>();
    charge(&state, 10).unwrap();
    suite::submit(&state, suite::job_of("acme", 1, &[(1, 1, b"row")]));
    let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000)).unwrap();
    let finish = || {
        let results = ChunkResults {
            chunk: 0,
            output: b"result".to_vec(),
            tally: Tally::default(),
            refund: 1,
        };
        suite::outcome(state.finish_chunk(claim.lease, results, suite::NOW, 30_000))
    };
    let used = read_used(&store);
    add_used(&store, -used);
    let refused = finish();
    assert!(
        matches!(refused, Err(StateError::RefusedRows { .. })),
        "{refused:?}"
    );
    assert_eq!(state.degradation(), None);
    add_used(&store, used);
    assert_eq!(finish().unwrap(), LeaseStatus::Held);
    assert_eq!(used_units(&state, "acme"), 10);
}

fn purge_counts(jobs: u32, documents: u32) -> PurgeCounts {
    PurgeCounts {
        jobs,
        documents,
        more: false,
    }
}

/// An operator credits a customer, so that its count is below the free units of its shards.
#[test]
fn an_expired_job_whose_units_cannot_be_given_back_keeps_no_other_from_being_removed() {
    let (store, state) = suite::with_tenant::<Postgres>();
    charge(&state, 10).unwrap();
    suite::submit(&state, suite::job_of("acme", 1, &[(1, 1, b"row")]));
    let mut other = suite::job_of("other", 2, &[(1, 1, b"row")]);
    other.idempotency = Some(suite::key("k", 1));
    suite::submit(&state, other);
    let used = read_used(&store);
    add_used(&store, -used);
    let end = suite::after(IDEMPOTENCY_RETENTION_MILLIS);
    assert_eq!(suite::wait(state.purge(end)), purge_counts(1, 1));
    assert_eq!(used_units(&state, "other"), 0);
    // The job that stays is left out.
    assert_eq!(suite::wait(state.purge(end)), purge_counts(0, 0));
    assert_eq!(state.degradation(), None);
    add_used(&store, used);
    assert_eq!(used_units(&state, "acme"), 11);
    let started = store.open();
    assert_eq!(suite::wait(started.purge(end)), purge_counts(1, 0));
    assert_eq!(used_units(&started, "acme"), 10);
}

#[test]
fn an_expired_job_whose_results_are_damaged_keeps_no_other_from_being_removed() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let damaged = suite::job_of("acme", 1, &[(1, 1, b"row")]);
    let sound = format!("WHERE job <> '{}' OR", damaged.id);
    suite::submit(&state, damaged);
    let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000)).unwrap();
    suite::finish(&state, claim.lease, 0, b"result");
    suite::submit(&state, suite::job_of("other", 2, &[(1, 1, b"row")]));
    cluster::sql(&store.address, &DAMAGED_CHUNKS.replace("WHERE", &sound));
    let end = suite::after(JOB_RETENTION_MILLIS);
    assert_eq!(suite::wait(state.purge(end)), purge_counts(1, 0));
    assert_eq!(used_units(&state, "other"), 0);
    assert_eq!(suite::wait(state.purge(end)), purge_counts(0, 0));
    assert_eq!(state.degradation(), None);
}

#[test]
fn a_job_whose_rows_are_damaged_keeps_no_other_from_being_claimed() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let damaged = suite::job_of("acme", 1, &[(1, 1, b"row")]);
    let sound = format!("WHERE job <> '{}' OR", damaged.id);
    suite::submit(&state, damaged);
    let other = suite::job_of("other", 2, &[(1, 1, b"row")]);
    let expected = other.id;
    suite::submit(&state, other);
    cluster::sql(&store.address, &DAMAGED_CHUNKS.replace("WHERE", &sound));
    let without_objects = || Claimant {
        reads_objects: false,
        ..claimant()
    };
    let claim = suite::wait(state.claim(without_objects(), suite::NOW, 30_000)).unwrap();
    assert_eq!(claim.job.id, expected);
    assert!(suite::wait(state.claim(without_objects(), suite::NOW, 30_000)).is_none());
    assert_eq!(state.damaged_jobs(), 1);
    assert_eq!(state.degradation(), None);
}

#[test]
fn rows_of_a_claimed_job_that_are_damaged_are_refused_for_themselves() {
    let (store, state) = suite::with_tenant::<Postgres>();
    suite::submit(&state, suite::job_of("acme", 1, &[(1, 1, b"row")]));
    let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000)).unwrap();
    cluster::sql(&store.address, DAMAGED_CHUNKS);
    let input = suite::outcome(state.input(claim.lease, 0));
    assert!(
        matches!(input, Err(StateError::RefusedRows { .. })),
        "{input:?}"
    );
}

#[test]
fn tenants_and_keys_that_cannot_be_read_open_nothing_and_others_do() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let other = suite::id("other");
    state
        .create_tenant(&other, &Plan::default(), suite::NOW)
        .unwrap();
    let create = |tenant: &TenantId, label: &str, byte| {
        let new = NewKey {
            tenant: tenant.clone(),
            label: label.to_owned(),
            ..new_key()
        };
        let seed = KeySeed::new([byte; 40]);
        state.create_key(&new, seed, suite::NOW).unwrap()
    };
    let of_acme = create(&suite::id("acme"), "", 1);
    let [sound, damaged] = [("sound", 2), ("damaged", 3)].map(|it| create(&other, it.0, it.1));
    let plan = "UPDATE domesday.tenants SET plan = PLAN, version = VERSION WHERE id = 'acme'";
    change(&store, &plan.replace("PLAN", "'{\"burst\": \"many\"}'"));
    within(SEEN, || !opens(&state, &of_acme));
    let scopes = "UPDATE domesday.keys SET scopes = SCOPES, version = VERSION \
         WHERE label = 'damaged'";
    change(&store, &scopes.replace("SCOPES", "ARRAY['avm:later']"));
    within(SEEN, || !opens(&state, &damaged));
    let started = store.open();
    for host in [&state, &started] {
        assert!(opens(host, &sound));
        assert!(!opens(host, &of_acme) && !opens(host, &damaged));
        assert_eq!(host.degradation(), None);
    }
    // Once mended they open again.
    change(&store, &plan.replace("PLAN", "'{}'"));
    change(&store, &scopes.replace("SCOPES", "ARRAY['avm:value']"));
    for host in [&state, &started] {
        within(SEEN, || opens(host, &of_acme) && opens(host, &damaged));
    }
}

#[test]
fn a_plan_with_a_limit_of_a_later_version_stays_in_force() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let seed = KeySeed::new([1; 40]);
    let key = state.create_key(&new_key(), seed, suite::NOW).unwrap();
    let plan = "plan || '{\"homes_a_day\": 7, \"burst\": 3}'";
    let plan =
        format!("UPDATE domesday.tenants SET plan = {plan}, version = VERSION WHERE id = 'acme'");
    change(&store, &plan);
    let burst = |state: &PostgresState| {
        let access = state.authenticate(key.secret.expose(), suite::NOW).unwrap();
        access.into_principal().map(|it| it.plan.burst)
    };
    within(SEEN, || burst(&state) == Some(3));
    assert_eq!(burst(&store.open()), Some(3));
}
