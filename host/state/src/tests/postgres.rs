//! PostgreSQL under the suite, and its own tests.

use super::suite::{self, SEEN, Store, within};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::test_support::{REQUEST, claimant};
use domesday_state::*;
use domesday_test_postgres as cluster;

/// A new database.
pub(super) struct Postgres {
    pub(super) address: String,
}

impl Store for Postgres {
    type State = PostgresState;

    fn empty() -> Self {
        Postgres {
            address: cluster::shared().database(),
        }
    }

    fn open(&self) -> PostgresState {
        PostgresState::open(&self.address).unwrap()
    }

    fn second(&self, _first: &Arc<PostgresState>) -> Arc<PostgresState> {
        Arc::new(self.open())
    }

    fn remove_promotion(&self, key: u32) {
        let remove = format!("DELETE FROM domesday.promotions WHERE sequence = {key}");
        cluster::sql(&self.address, &remove);
    }
}

suite::state_suite!(Postgres);

pub(super) fn new_key() -> NewKey {
    NewKey {
        tenant: suite::id("acme"),
        label: String::new(),
        scopes: Scopes::all(),
        requires_metric_selection: false,
        expires_at: None,
    }
}

pub(super) fn opens(state: &PostgresState, key: &CreatedKey) -> bool {
    let access = state.authenticate(key.secret.expose(), suite::NOW).unwrap();
    access.into_principal().is_some()
}

pub(super) fn charge(state: &PostgresState, units: u32) -> Result<ChargeOutcome, StateError> {
    suite::outcome(state.charge(Charge {
        tenant: suite::id("acme"),
        month: suite::JUNE,
        units,
        allowance: u64::MAX,
        source: REQUEST,
    }))
}

#[test]
fn one_hosts_changes_reach_the_other_within_a_second() {
    let (store, first) = suite::with_tenant::<Postgres>();
    let second = store.open();
    let key = first
        .create_key(&new_key(), KeySeed::new([1; 40]), suite::NOW)
        .unwrap();
    within(SEEN, || opens(&second, &key));
    second.set_enabled(&suite::id("acme"), false).unwrap();
    within(SEEN, || !opens(&first, &key));
    first.set_enabled(&suite::id("acme"), true).unwrap();
    within(SEEN, || opens(&second, &key));
    first.revoke_key(key.id, suite::NOW).unwrap();
    assert!(!opens(&first, &key));
    within(SEEN, || !opens(&second, &key));
    second.pause_jobs(true).unwrap();
    suite::promote(&second, ReleaseKind::Valuation, "release");
    within(SEEN, || first.jobs_paused());
    within(SEEN, || {
        first.promoted_release(ReleaseKind::Valuation).as_deref() == Some("release")
    });
}

/// A change is announced, so that no host waits for its next poll.
#[test]
fn changes_are_seen_between_polls() {
    let (store, first) = suite::with_tenant::<Postgres>();
    let second = store.open();
    let started = Instant::now();
    for number in 0..10 {
        let release = format!("release-{number}");
        suite::promote(&second, ReleaseKind::Rates, &release);
        within(SEEN, || {
            first.promoted_release(ReleaseKind::Rates).as_ref() == Some(&release)
        });
    }
    // Ten polls take five seconds.
    let took = started.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// A backup that is put back takes the place of everything that was read before.
#[test]
fn a_database_that_was_put_back_is_read_anew() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let [kept, later] = [1, 2].map(|number| {
        let seed = KeySeed::new([number; 40]);
        state.create_key(&new_key(), seed, suite::NOW).unwrap()
    });
    state.revoke_key(kept.id, suite::NOW).unwrap();
    assert!(!opens(&state, &kept) && opens(&state, &later));
    // The tenant is the first change, and the first key is the second.
    let earlier = "DELETE FROM domesday.keys WHERE version = 3; \
         UPDATE domesday.keys SET revoked_at = NULL, version = 2; \
         UPDATE domesday.service SET version = 2";
    cluster::sql(&store.address, earlier);
    within(SEEN * 2, || opens(&state, &kept) && !opens(&state, &later));
}

/// One statement changes all of them, so that several pages have one number of a change.
#[test]
fn many_tenants_are_listed_and_followed_page_by_page() {
    const ADDED: usize = 2_500;
    let (store, state) = suite::with_tenant::<Postgres>();
    let ends = [suite::id("acme"), suite::id("zz")];
    state
        .create_tenant(&ends[1], &Plan::default(), suite::NOW)
        .unwrap();
    let keys = [1, 2].map(|number| {
        let new = NewKey {
            tenant: ends[usize::from(number) - 1].clone(),
            ..new_key()
        };
        let seed = KeySeed::new([number; 40]);
        state.create_key(&new, seed, suite::NOW).unwrap()
    });
    let fill = format!(
        "INSERT INTO domesday.tenants (id, plan, enabled, created_at, version) \
         SELECT 't' || n, plan, true, 0, 5 \
         FROM domesday.tenants, generate_series(1, {ADDED}) AS n WHERE id = 'acme'; \
         INSERT INTO domesday.keys (id, tenant, label, scopes, requires_metric_selection, \
         created_at, digest, version) \
         SELECT decode(lpad(to_hex(n), 16, '0'), 'hex'), 't' || n, '', scopes, false, 0, digest, 5 \
         FROM domesday.keys, generate_series(1, {ADDED}) AS n WHERE tenant = 'acme'; \
         UPDATE domesday.service SET version = 5"
    );
    cluster::sql(&store.address, &fill);
    let tenants = state.tenants().unwrap();
    assert_eq!(tenants.len(), ADDED + 2);
    assert!(tenants.is_sorted_by(|one, next| one.id.as_str() < next.id.as_str()));
    assert_eq!(state.keys(None).unwrap().len(), ADDED + 2);
    let second = store.open();
    for (version, enabled) in [(6, false), (7, true)] {
        let change = format!(
            "UPDATE domesday.tenants SET enabled = {enabled}, version = {version}; \
             UPDATE domesday.service SET version = {version}"
        );
        cluster::sql(&store.address, &change);
        for host in [&state, &second] {
            within(SEEN * 2, || {
                keys.iter().all(|key| opens(host, key) == enabled)
            });
        }
    }
}

/// Two hosts make tenants at the same time: each ends with all of them in its memory.
#[test]
fn changes_of_two_hosts_at_once_are_all_seen_by_both() {
    let store = Postgres::empty();
    let hosts = [store.open(), store.open()];
    let keys: Vec<CreatedKey> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u8)
            .map(|thread| {
                let host = &hosts[usize::from(thread % 2)];
                scope.spawn(move || {
                    let each = (0..8_u8).map(|round| {
                        let number = thread * 8 + round;
                        let tenant = suite::id(&format!("t{number}"));
                        host.create_tenant(&tenant, &Plan::default(), suite::NOW)
                            .unwrap();
                        let new = NewKey {
                            tenant,
                            ..new_key()
                        };
                        host.create_key(&new, KeySeed::new([number; 40]), suite::NOW)
                            .unwrap()
                    });
                    each.collect::<Vec<_>>()
                })
            })
            .collect();
        let made = threads.into_iter().map(|thread| thread.join().unwrap());
        made.flatten().collect()
    });
    assert_eq!(keys.len(), 32);
    for host in &hosts {
        within(SEEN, || keys.iter().all(|key| opens(host, key)));
    }
}

#[test]
fn a_database_that_is_not_there_is_an_error_without_its_password() {
    let error = PostgresState::open("postgres://me:sesame@127.0.0.1:1/none").unwrap_err();
    assert!(matches!(
        error,
        StateError::Storage {
            doing: "opened",
            ..
        }
    ));
    assert!(
        !format!("{error} {error:?}").contains("sesame"),
        "{error:?}"
    );
}

/// A runtime may be neither waited for nor dropped on a thread of another one.
#[test]
fn a_state_is_opened_and_closed_on_a_thread_of_a_runtime() {
    let store = Postgres::empty();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let malformed = PostgresState::open("mysql://host/name");
        assert!(matches!(malformed, Err(StateError::MalformedAddress)));
        drop(store.open());
    });
}

#[test]
fn the_debug_text_of_a_state_holds_no_address() {
    let state = Postgres::empty().open();
    assert_eq!(format!("{state:?}"), "PostgresState(..)");
}

#[test]
fn a_job_of_no_units_leaves_the_table_of_units_alone() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let free = suite::job_of("acme", 1, &[(1, 0, b"row")]);
    assert!(matches!(
        suite::submit(&state, free),
        Submission::Accepted(_)
    ));
    let rows = cluster::sql(&store.address, "SELECT count(*) FROM domesday.usage");
    assert_eq!(rows.trim(), "0");
}

/// Several hosts begin a month at once, and each of its first charges has room.
#[test]
fn the_first_charges_of_a_month_are_granted_on_every_host() {
    const MONTHS: i32 = 100;
    let (store, first) = suite::with_tenant::<Postgres>();
    let hosts = [first, store.open(), store.open(), store.open()];
    let together = std::sync::Barrier::new(hosts.len());
    let first_charges = |host: &PostgresState| -> Vec<(i32, ChargeOutcome)> {
        let months = (2100..2100 + MONTHS).map(|year| {
            together.wait();
            let charge = Charge {
                tenant: suite::id("acme"),
                month: Month { year, month: 1 },
                units: 1,
                allowance: 4,
                source: REQUEST,
            };
            (year, suite::wait(host.charge(charge)))
        });
        months.collect()
    };
    let outcomes = std::thread::scope(|scope| {
        let hosts = hosts
            .iter()
            .map(|host| scope.spawn(|| first_charges(host)))
            .collect::<Vec<_>>();
        let outcomes = hosts.into_iter().map(|host| host.join().unwrap());
        outcomes.collect::<Vec<_>>()
    });
    for (year, outcome) in outcomes.into_iter().flatten() {
        assert!(
            matches!(outcome, ChargeOutcome::Granted { .. }),
            "{year}: {outcome:?}"
        );
    }
}

/// A month may have units of before the ledger. They are an entry that the ledger has no row for.
#[test]
fn units_without_an_entry_leave_the_ledger_with_the_entries_of_their_month() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let months = [suite::JUNE.minus(13), suite::JUNE];
    for month in months {
        let charge = Charge {
            tenant: suite::id("acme"),
            month,
            units: 6,
            allowance: 100,
            source: REQUEST,
        };
        suite::wait(state.charge(charge));
    }
    cluster::sql(&store.address, "UPDATE domesday.usage SET used = used + 4");
    let list_units = |month| -> Vec<i64> {
        let query = UsageQuery {
            month,
            tenant: None,
            after: None,
            limit: 9,
        };
        let page = suite::wait(state.usage_entries(query));
        page.entries.iter().map(|entry| entry.units).collect()
    };
    assert_eq!(months.map(list_units), [[4, 6], [4, 6]]);
    for rows in [2, 0] {
        let removed = suite::wait(state.remove_usage_entries(suite::JUNE));
        assert_eq!(removed, RemovedEntries { rows, more: false });
    }
    assert_eq!(months.map(list_units), [vec![], vec![4, 6]]);
    for month in months {
        let used = suite::wait(state.used_units(suite::id("acme"), month));
        assert_eq!(used, 10, "{month}");
    }
}

#[test]
fn a_newer_schema_is_refused() {
    // One file each, numbered from 1 on.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    let migrations = u32::try_from(std::fs::read_dir(folder).unwrap().count()).unwrap();
    let store = Postgres::empty();
    drop(store.open());
    cluster::sql(
        &store.address,
        "INSERT INTO domesday.migrations (version, description, success, checksum, execution_time) \
         VALUES (98, 'later', true, '', 0), (99, 'latest', true, '', 0)",
    );
    let error = PostgresState::open(&store.address).unwrap_err();
    assert!(
        matches!(
            error,
            StateError::NewerSchema {
                found: 99,
                known
            } if known == migrations
        ),
        "{error:?}"
    );
}

/// A host of the version before has prepared its statements when a later step adds columns.
#[test]
fn columns_that_a_later_step_adds_disturb_no_host_of_the_version_before() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let other = store.open();
    let create = |byte| {
        let seed = KeySeed::new([byte; 40]);
        other.create_key(&new_key(), seed, suite::NOW).unwrap()
    };
    for byte in 1..4 {
        let key = create(byte);
        within(SEEN, || opens(&state, &key));
    }
    // A connection keeps a statement from its first use on, and the pool has several.
    let work = |number: u128| {
        let mut job = suite::job_of("acme", number, &[(1, 1, b"a")]);
        job.idempotency = Some(suite::key(&number.to_string(), 1));
        let (id, again) = (job.id, job.clone());
        suite::submit(&state, job);
        assert!(matches!(suite::submit(&state, again), Submission::Known(_)));
        let claim = suite::wait(state.claim(claimant(), suite::NOW, 30_000)).unwrap();
        assert_eq!(claim.job.id, id);
        suite::finish(&state, claim.lease, 0, b"A");
        let job = suite::wait(state.job(suite::id("acme"), id, suite::NOW));
        assert_eq!(job.unwrap().tally.valued, 1);
        let keyless = suite::job_of("acme", number + 100, &[(1, 1, b"a")]);
        let id = keyless.id;
        suite::submit(&state, keyless);
        suite::wait(state.withdraw(suite::id("acme"), id));
        suite::wait(state.purge(suite::NOW));
    };
    (1..20).for_each(work);
    for table in ["service", "tenants", "keys", "jobs"] {
        let add = format!("ALTER TABLE domesday.{table} ADD COLUMN later text");
        cluster::sql(&store.address, &add);
    }
    (20..40).for_each(work);
    let key = create(9);
    let started = Instant::now();
    while started.elapsed() < SEEN * 2 {
        assert_eq!(state.degradation(), None);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(opens(&state, &key));
    let keys = state.keys(Some(&suite::id("acme"))).unwrap();
    assert_eq!(keys.len(), 4);
}

/// Neither a key nor its secret part is in a dump of the database.
#[test]
fn the_database_holds_no_key() {
    let (store, state) = suite::with_tenant::<Postgres>();
    let bytes: [u8; 40] = std::array::from_fn(|i| 200 - u8::try_from(i).unwrap());
    let key = state
        .create_key(&new_key(), KeySeed::new(bytes), suite::NOW)
        .unwrap();
    let kept = cluster::sql(&store.address, "SELECT * FROM domesday.keys");
    assert!(kept.contains(&key.id.to_string()), "{kept}");
    let secret = key.secret.expose().rsplit('_').next().unwrap();
    assert!(!kept.contains(secret));
}
