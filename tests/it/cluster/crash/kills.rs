//! `kill -9` at random moments under mixed load.

use crate::common::seed::SeededRandom;
use crate::common::server::Server;
use crate::crash::clients::{Hosts, JOBS, customers, row};
use crate::crash::expected::{Ledger, read};
use crate::crash::harness::{UNITS, World, errors, kill, lock_suite, seed, setting};
use crate::crash::verify::prove;
use serde_json::json;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// The rows of a chunk.
const CHUNK_ROWS: usize = 64;
/// Kills where `DOMESDAY_CRASH_KILLS` says nothing; `scripts/test full` says a hundred.
const KILLS: u64 = 20;
/// The shortest lifetime of a host, in milliseconds.
const MIN_LIFETIME_MS: u64 = 20;
/// The longest lifetime on a fast machine, in milliseconds.
const MAX_LIFETIME_MS: u64 = 250;

/// Returns lifetimes in milliseconds. A host begins a chunk three times at most, and then fails its
/// job. So the longest lifetime is some times what a new host takes for a chunk on this machine.
fn lifetimes(world: &World) -> RangeInclusive<u64> {
    let server = world.host(0).go();
    let client = server.client(&world.key("first", UNITS));
    let began = Instant::now();
    let rows = vec![row("first", true); CHUNK_ROWS];
    let body = json!({"idempotency_key": "first", "requests": rows});
    let job = client.post(JOBS, &body).json();
    let status = format!("{JOBS}/{}", job["job_id"].as_str().unwrap());
    while client.get(&status).ok()["status"] != "completed" {
        assert!(began.elapsed() < Duration::from_secs(60), "no chunk ends");
        std::thread::sleep(Duration::from_millis(2));
    }
    let chunk = u64::try_from(began.elapsed().as_millis()).unwrap();
    server.stop();
    MIN_LIFETIME_MS..=MAX_LIFETIME_MS.max(12 * chunk)
}

/// Kills hosts until there were this many kills. All of them are up in the end.
fn killed(
    world: &World,
    hosts: &Hosts,
    kills: u64,
    lifetimes: &RangeInclusive<u64>,
    random: &mut SeededRandom,
) -> Vec<Server> {
    let start_host = |host: usize| {
        let server = world.host(host).go();
        hosts.set(host, Some(server.address));
        server
    };
    let mut servers: Vec<Option<Server>> =
        (0..hosts.count()).map(|it| Some(start_host(it))).collect();
    let mut kill_count = 0;
    while kill_count < kills && !hosts.given_up() {
        std::thread::sleep(Duration::from_millis(random.within(lifetimes.clone())));
        let mut victims = vec![random.count(servers.len()) - 1];
        // Now and then all at once.
        if random.once_in(8) && kill_count + servers.len() as u64 <= kills {
            victims = (0..servers.len()).collect();
        }
        for &host in &victims {
            let log = kill(servers[host].take().unwrap());
            hosts.set(host, None);
            assert_eq!(errors(&log), Vec::<&str>::new());
            kill_count += 1;
        }
        for &host in &victims {
            servers[host] = Some(start_host(host));
        }
    }
    servers.into_iter().flatten().collect()
}

/// Kills hosts under load, and asserts that each answer is stored once and nothing else is charged.
fn crash(name: &str, world: &World, count: usize) {
    let _alone = lock_suite();
    let kills = setting("DOMESDAY_CRASH_KILLS").unwrap_or(KILLS);
    let seed = seed(name);
    let mut random = SeededRandom::new(seed);
    let (values, jobs) = (world.key("values", UNITS), world.key("jobs", UNITS));
    let lifetimes = lifetimes(world);
    let (hosts, ledger) = (Hosts::new(count), Ledger::default());
    let mut chance = random.fork();
    let servers = customers(&hosts, &ledger, &values, &jobs, false, &mut random, || {
        killed(world, &hosts, kills, &lifetimes, &mut chance)
    });
    let accepted = ledger.jobs.lock().unwrap().len() as u64;
    assert!(accepted > kills / 2, "{accepted} jobs only");

    let clients: Vec<_> = servers.iter().map(|server| server.client(&jobs)).collect();
    prove(&ledger, &clients);
    assert_eq!(world.used("jobs", &clients[0]), ledger.units_of_jobs());
    let used = world.used("values", &clients[0].with_key(&values));
    let (answered, unanswered) = (read(&ledger.units), read(&ledger.unanswered));
    assert!(
        (answered..=answered + unanswered).contains(&used),
        "{used} units, of which {answered} answered and {unanswered} under way"
    );
    let longest = lifetimes.end();
    let counted = format!("kills {kills}, lifetimes up to {longest} ms");
    ledger.print(name, &counted, used);
    for server in servers {
        assert_eq!(errors(&server.stop()), Vec::<&str>::new());
    }
}

#[test]
fn one_host_killed_at_random_loses_and_doubles_nothing() {
    crash("one host on redb", &World::embedded(), 1);
}

#[test]
fn two_hosts_killed_at_random_lose_and_double_nothing() {
    crash("two hosts on PostgreSQL", &World::shared(), 2);
}
