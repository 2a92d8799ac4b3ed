//! Two servers on one PostgreSQL database are one service.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::{Server, start};
use domesday_test_postgres as cluster;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The longest delay until another host sees a change.
const MAX_PROPAGATION: Duration = Duration::from_secs(1);

const JOBS: &str = "/v3/valuation-jobs";
const CURRENT: &str = "/v3/releases/current";

fn host(database: &str) -> Server {
    start()
        .with(&["--state", database, "--job-lease", "1"])
        .go()
}

/// Creates a tenant that may use this many units without a rate limit, and returns its key.
fn tenant_key(database: &str, units: u64) -> String {
    let plan = format!(
        "requests_per_second = 1000000\nburst = 1000000\nconcurrency = 1000000\n\
         queued_jobs = 1000000\nmonthly_units = {units}\n"
    );
    key_with_plan(database, &plan)
}

fn key_with_plan(database: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, text).unwrap();
    let plan = plan.display().to_string();
    key(
        database,
        &[
            "create",
            "--tenant",
            "customer",
            "--scope",
            "avm:value",
            "--plan",
            &plan,
        ],
    )
}

/// Returns the units used, from the database.
fn used_units(database: &str) -> u64 {
    let all = "SELECT coalesce(sum(used), 0) FROM domesday.used_units";
    cluster::sql(database, all).trim().parse().unwrap()
}

/// Starts two hosts of a database, and a client of each that may use this many units.
fn pair(units: u64) -> (String, [Server; 2], [Client; 2]) {
    let database = cluster::shared().database();
    let hosts = [host(&database), host(&database)];
    let secret = tenant_key(&database, units);
    for host in &hosts {
        within(MAX_PROPAGATION, || {
            host.client(&secret).get(CURRENT).status == 200
        });
    }
    let clients = [hosts[0].client(&secret), hosts[1].client(&secret)];
    (database, hosts, clients)
}

fn key(database: &str, arguments: &[&str]) -> String {
    // Nobody's data folder: the command is on none of the hosts.
    let store = ["--state", database, "--data", "/nonexistent"];
    let all = [&["key"], arguments, &store].concat();
    run(all).ok().stdout.trim().to_owned()
}

fn values(server: &Server, key: &str) -> u16 {
    let client = server.client(key);
    client.post("/v3/simple-value", &house()).status
}

#[track_caller]
fn within(bound: Duration, what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < bound, "not within {bound:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Keys made and revoked anywhere, no demo tenant, and no password in sight.
#[test]
fn a_key_is_the_same_on_both_hosts() {
    let database = format!("{}&password=sesame", cluster::shared().database());
    let hosts = [host(&database), host(&database)];
    for host in &hosts {
        assert_eq!(host.printed.lines().count(), 1, "{}", host.printed);
        assert!(!host.data.join("demo.key").exists());
        assert!(!host.data.join("state.redb").exists());
    }
    let secret = key(
        &database,
        &["create", "--tenant", "customer", "--scope", "avm:value"],
    );
    for host in &hosts {
        within(MAX_PROPAGATION, || values(host, &secret) == 200);
    }
    let listed = key(&database, &["list"]);
    let id = listed.split('\t').next().unwrap();
    key(&database, &["revoke", id]);
    for host in &hosts {
        within(MAX_PROPAGATION, || values(host, &secret) == 401);
    }
    for host in hosts {
        assert!(!host.stop().contains("sesame"));
    }
}

/// A plan's burst is granted once where each host has its place, and not once a host.
#[test]
fn the_shares_of_two_hosts_add_up_to_the_plan() {
    let database = cluster::shared().database();
    let hosts = ["1/2", "2/2"].map(|share| {
        let arguments = ["--state", &database, "--host-share", share];
        start().with(&arguments).go()
    });
    let secret = key_with_plan(&database, "requests_per_second = 1\nburst = 20\n");
    let started = Instant::now();
    let mut granted = 0;
    for host in &hosts {
        let client = host.client(&secret);
        within(MAX_PROPAGATION, || client.get(CURRENT).status == 200);
        granted += 1;
        for _ in 0..20 {
            let answer = client.get(CURRENT);
            granted += u64::from(answer.status == 200);
            assert_eq!(
                answer.header("ratelimit-policy"),
                Some("\"requests\";q=10;w=10")
            );
        }
    }
    // Each host grants one more a second.
    let refilled = 2 * (started.elapsed().as_secs() + 1);
    assert!((20..=20 + refilled).contains(&granted), "{granted} granted");
}

/// Eight customers on two hosts use an allowance up to the last unit, and not one more.
#[test]
fn an_allowance_is_used_up_exactly_over_both_hosts() {
    const ALLOWANCE: u64 = 1_000;
    const WORKERS: usize = 8;
    let (database, _hosts, clients) = pair(ALLOWANCE);
    let (granted, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let client = clients[worker % 2].clone();
            let (granted, refused) = (&granted, &refused);
            scope.spawn(move || {
                // Each begins with other sizes, and goes down to one when its size is refused.
                let mut rows = 7 + worker;
                for turn in 0.. {
                    let body = json!({"requests": vec![house(); rows]});
                    let path = match turn % 3 {
                        0 => JOBS,
                        _ => "/v3/simple-batch-value",
                    };
                    let answer = client.post(path, &body);
                    if answer.status < 300 {
                        granted.fetch_add(rows as u64, Ordering::Relaxed);
                        continue;
                    }
                    let refusal = answer.refusal();
                    assert_eq!(
                        (refusal.0, &*refusal.1),
                        (429, "monthly_valuation_quota_exceeded")
                    );
                    refused.fetch_add(1, Ordering::Relaxed);
                    if rows == 1 {
                        return;
                    }
                    rows = 1;
                }
            });
        }
    });
    let (granted, refused) = (granted.into_inner(), refused.into_inner());
    assert_eq!((granted, used_units(&database)), (ALLOWANCE, ALLOWANCE));
    println!("counts: an allowance over two hosts: granted {granted}, requests refused {refused}");
}

/// A hundred submissions of one body at once, half on each host, give one job and one charge.
#[test]
fn a_hundred_identical_submissions_at_once_are_one_job() {
    const AT_ONCE: usize = 100;
    const ROWS: usize = 10;
    let (database, _hosts, clients) = pair(1_000_000);
    let body = json!({"idempotency_key": "once", "requests": vec![house(); ROWS]});
    let (start, body) = (Barrier::new(AT_ONCE), &body);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let submit = |number: usize| {
            // A connection each, so that none waits for another's.
            let client = Client::new(clients[number % 2].address, &clients[0].key);
            let start = &start;
            scope.spawn(move || {
                start.wait();
                let answer = client.post(JOBS, body);
                assert_eq!(answer.status, 202, "{answer:?}");
                answer.json()
            })
        };
        let all: Vec<_> = (0..AT_ONCE).map(submit).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let ids: BTreeSet<&str> = answers
        .iter()
        .map(|job| job["job_id"].as_str().unwrap())
        .collect();
    let jobs = cluster::sql(&database, "SELECT count(*) FROM domesday.jobs");
    assert_eq!((ids.len(), jobs.trim()), (1, "1"));
    assert_eq!(used_units(&database), ROWS as u64);
    println!(
        "counts: identical submissions: sent {AT_ONCE}, accepted {}, jobs 1, units {ROWS}",
        answers.len()
    );
}

/// When the lease of a dead host expires, the other host continues its job.
#[test]
fn a_killed_hosts_job_is_taken_over() {
    const ROWS: usize = 2_500;
    let (database, [first, second], [one, other]) = pair(1_000_000);
    let body = json!({"requests": vec![house(); ROWS]});
    let job = one.post(JOBS, &body).json();
    let url = job["status_url"].as_str().unwrap();
    within(Duration::from_secs(10), || {
        one.get(url).ok()["status"] == "running"
    });
    // It was accepted here, so that it was begun here.
    drop(first);
    let is_completed = other.get(url).ok()["status"] == "completed";
    assert!(!is_completed, "it was too quick to be killed at");
    let results = job["results_url"].as_str().unwrap();
    within(Duration::from_secs(30), || other.get(results).status == 200);
    let results = other.get(results).json();
    assert_eq!(results["result"]["summary"]["valued"], ROWS);
    let rows = results["result"]["results"].as_array().unwrap();
    let ids: BTreeSet<&str> = rows
        .iter()
        .map(|row| row["valuation_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), ROWS);
    assert_eq!(used_units(&database), ROWS as u64);
    println!("counts: a job taken over: kills 1, jobs 1, units {ROWS}");
    second.stop();
}

/// A host that has lost its database accepts its cached keys for a minute. Then it cannot verify
/// any key: every key gets 503, a wrong one too, and none gets a 401 that would be a guess.
#[test]
fn without_the_database_keys_are_trusted_for_a_minute() {
    let (cluster, host, secret) = alone();
    let known = |key: &str| host.client(key).get(CURRENT).status;
    assert_eq!(known("wrong"), 401);
    cluster.crash();
    let lost = Instant::now();
    // Meanwhile nothing can be charged.
    within(Duration::from_secs(5), || values(&host, &secret) == 503);
    while lost.elapsed() < Duration::from_secs(55) {
        assert_eq!((known(&secret), known("wrong")), (200, 401));
        std::thread::sleep(Duration::from_millis(500));
    }
    within(Duration::from_secs(10), || known(&secret) == 503);
    assert!(lost.elapsed() >= Duration::from_secs(59));
    for key in [secret.as_str(), "wrong"] {
        assert_unverifiable(&host, key);
    }
    cluster.restart();
    within(Duration::from_secs(10), || known(&secret) == 200);
    assert_eq!(known("wrong"), 401);
    host.stop();
}

/// A host that slept does not know which keys were revoked meanwhile. It accepts no key before it
/// has tried to read the database again.
#[test]
fn a_host_that_slept_trusts_no_key_before_a_fresh_read() {
    let (cluster, host, secret) = alone();
    host.signal(rustix::process::Signal::STOP);
    // It hangs, so that looking takes a while.
    cluster.freeze();
    std::thread::sleep(Duration::from_secs(7));
    host.signal(rustix::process::Signal::CONT);
    assert_unverifiable(&host, &secret);
    cluster.thaw();
    within(Duration::from_secs(10), || {
        host.client(&secret).get(CURRENT).status == 200
    });
    host.stop();
}

/// Starts a host and a database for it, which the test can take away. Returns them and a key.
fn alone() -> (cluster::Cluster, Server, String) {
    let cluster = cluster::Cluster::start(cluster::Disk::Unsynced);
    let database = cluster.database();
    let host = host(&database);
    let secret = key(
        &database,
        &["create", "--tenant", "customer", "--scope", "avm:value"],
    );
    within(MAX_PROPAGATION, || values(&host, &secret) == 200);
    (cluster, host, secret)
}

/// Asserts that a host answers 503 because it cannot verify a key.
#[track_caller]
fn assert_unverifiable(host: &Server, key: &str) {
    let answer = host.client(key).get(CURRENT);
    assert_eq!(answer.refusal(), (503, "overloaded".to_owned(), None));
    assert_eq!(answer.header("retry-after"), Some("1"));
}
