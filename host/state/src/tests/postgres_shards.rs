//! Units of a tenant's month in the shards of several hosts.

use super::postgres::Postgres;
use super::suite::{self, Store, used_units};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::test_support::{REQUEST, read_ledger};
use domesday_state::*;
use domesday_test_postgres as cluster;

const HOSTS: usize = 4;

fn charge(state: &PostgresState, units: u32, allowance: u64) -> ChargeOutcome {
    suite::wait(state.charge(Charge {
        tenant: suite::id("acme"),
        month: suite::JUNE,
        units,
        allowance,
        source: REQUEST,
    }))
}

fn refund(state: &PostgresState, units: u32) {
    suite::wait(state.refund(suite::id("acme"), suite::JUNE, units, REQUEST));
}

fn is_granted(outcome: ChargeOutcome) -> bool {
    matches!(outcome, ChargeOutcome::Granted { .. })
}

/// Opens hosts of one database.
fn hosts() -> (Postgres, Vec<PostgresState>) {
    let (store, first) = suite::with_tenant::<Postgres>();
    let mut hosts = vec![first];
    hosts.extend((1..HOSTS).map(|_| store.open()));
    (store, hosts)
}

/// Runs a function on each host at the same time, and sums up what it returns.
fn sum_over(hosts: &[PostgresState], work: impl Fn(usize, &PostgresState) -> i64 + Sync) -> i64 {
    let together = Barrier::new(hosts.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = hosts
            .iter()
            .enumerate()
            .map(|(number, host)| {
                let (together, work) = (&together, &work);
                scope.spawn(move || {
                    together.wait();
                    work(number, host)
                })
            })
            .collect();
        let sums = threads.into_iter().map(|thread| thread.join().unwrap());
        sums.sum()
    })
}

/// Checks that the count is this, by each host and by the entries of the ledger.
fn check_used(hosts: &[PostgresState], used: i64) {
    for host in hosts {
        assert_eq!(i64::try_from(used_units(host, "acme")), Ok(used));
    }
    let entries = read_ledger(&hosts[0], &suite::id("acme"), suite::JUNE);
    assert_eq!(entries.iter().map(|entry| entry.units).sum::<i64>(), used);
}

/// Charges of one unit: exactly as many are granted as there are. Some allowances leave free units
/// to the shards until the end, and others do so never.
#[test]
fn hosts_use_an_allowance_to_its_last_unit_and_no_further() {
    for allowance in [1, 7, 63, 64, 65, 130, 400, 1_000] {
        let (_store, hosts) = hosts();
        let granted = sum_over(&hosts, |_, host| {
            let grants = (0..=allowance).take_while(|_| is_granted(charge(host, 1, allowance)));
            i64::try_from(grants.count()).unwrap()
        });
        assert_eq!(Ok(granted), i64::try_from(allowance));
        check_used(&hosts, granted);
    }
}

/// A large charge comes while every shard has free units, and fits only with all of them.
#[test]
fn free_units_of_other_shards_are_used_before_a_charge_is_refused() {
    const ALLOWANCE: u64 = 100_000;
    let (_store, hosts) = hosts();
    for host in &hosts {
        assert!(is_granted(charge(host, 1, ALLOWANCE)));
    }
    let rest = u32::try_from(ALLOWANCE).unwrap() - 4;
    assert!(!is_granted(charge(&hosts[0], rest + 1, ALLOWANCE)));
    check_used(&hosts, 4);
    assert!(is_granted(charge(&hosts[0], rest, ALLOWANCE)));
    assert!(!is_granted(charge(&hosts[1], 1, ALLOWANCE)));
    // A host gives back what another one charged, and no more than there is.
    refund(&hosts[1], 2 * u32::try_from(ALLOWANCE).unwrap());
    check_used(&hosts, 0);
    assert!(is_granted(charge(&hosts[2], 3, 3)));
    assert!(!is_granted(charge(&hosts[3], 1, 3)));
}

/// A plan that became smaller counts for units that a shard had free before.
#[test]
fn a_smaller_allowance_counts_at_once() {
    let (_store, hosts) = hosts();
    assert!(is_granted(charge(&hosts[0], 10, 1_000_000)));
    assert!(!is_granted(charge(&hosts[0], 1, 10)));
    assert!(is_granted(charge(&hosts[0], 1, 11)));
    check_used(&hosts, 11);
}

/// Charges and refunds of random sizes, in jobs too. The count is what was granted and not given
/// back, it never passes the allowance, and what is left fits to the unit.
#[test]
fn charges_and_refunds_of_hosts_and_jobs_add_up_at_the_limit() {
    for seed in 0..6_u32 {
        let allowance = [150, 900, 6_000][seed as usize % 3];
        let (_store, hosts) = hosts();
        let used = sum_over(&hosts, |number, host| {
            let mut random = 1 + seed * 31 + u32::try_from(number).unwrap();
            let (mut mine, mut done) = (0_u32, 0);
            for round in 0..120_u32 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let units = 1 + (random >> 16) % (u32::try_from(allowance).unwrap() / 60 + 1);
                if random >> 30 == 0 && mine > 0 {
                    let units = units.min(mine);
                    refund(host, units);
                    mine -= units;
                } else if round % 40 == 39 {
                    let id = seed * 1_000 + u32::try_from(number).unwrap() * 100 + round;
                    let mut job = suite::job_of("acme", id.into(), &[(1, 2, b"row")]);
                    job.allowance = allowance;
                    match suite::submit(host, job) {
                        Submission::Accepted(_) => done += 2,
                        Submission::Exhausted { .. } => {}
                        other => panic!("{other:?}"),
                    }
                } else {
                    match charge(host, units, allowance) {
                        ChargeOutcome::Granted { used } => {
                            assert!(used <= allowance, "{used}");
                            mine += units;
                        }
                        ChargeOutcome::Exhausted { used } => {
                            assert!(used + u64::from(units) > allowance, "{used} {units}");
                        }
                    }
                }
            }
            i64::from(mine) + done
        });
        check_used(&hosts, used);
        let rest = u32::try_from(i64::try_from(allowance).unwrap() - used).unwrap();
        assert!(!is_granted(charge(&hosts[1], rest + 1, allowance)));
        assert!(rest == 0 || is_granted(charge(&hosts[2], rest, allowance)));
        check_used(&hosts, i64::try_from(allowance).unwrap());
    }
}

/// Another host's transaction of the same tenant is under way, as while its disk is slow.
#[test]
fn a_charge_waits_for_no_commit_of_another_host() {
    const HELD: Duration = Duration::from_secs(3);
    let (store, state) = suite::with_tenant::<Postgres>();
    let batch = |number: u32| {
        format!(
            "SELECT granted FROM domesday.charge_batch_with_entries(\
             '00000000-0000-0000-0000-000000000009', {number}, '{{acme}}', '{{{}}}', '{{1}}', \
             '{{1000000}}', '{{1}}', '{{1}}', '{{1}}', \
             '{{00000000-0000-0000-0000-000000000001}}', '{{1}}')",
            suite::JUNE.year * 12 + i32::try_from(suite::JUNE.month).unwrap() - 1
        )
    };
    // Both hosts have free units by then.
    assert!(is_granted(charge(&state, 1, 1_000_000)));
    assert_eq!(cluster::sql(&store.address, &batch(1)).trim(), "t");
    assert_eq!(used_units(&state, "acme"), 2);
    std::thread::scope(|scope| {
        let held = format!(
            "BEGIN; {}; SELECT pg_sleep({}); COMMIT",
            batch(2),
            HELD.as_secs()
        );
        let address = &store.address;
        scope.spawn(move || cluster::sql(address, &held));
        let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' \
             AND datname = current_database()";
        suite::within(HELD, || cluster::sql(address, sleeping).trim() == "1");
        let begun = Instant::now();
        for _ in 0..20 {
            assert!(is_granted(charge(&state, 1, 1_000_000)));
        }
        assert!(begun.elapsed() < HELD / 2, "{:?}", begun.elapsed());
    });
    assert_eq!(used_units(&state, "acme"), 23);
}
