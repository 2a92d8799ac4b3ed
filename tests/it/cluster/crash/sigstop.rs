//! A host that is stopped past its lease, and woken when another one has its job.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::seed::SeededRandom;
use crate::common::server::Server;
use crate::crash::harness::{UNITS, World, lock_suite, seed};
use domesday_test_postgres::sql;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ROUNDS: u32 = 5;
const ROWS: usize = 2_500;
const TIMEOUT: Duration = Duration::from_secs(30);
const TABLES: [&str; 5] = ["jobs", "chunks", "submissions", "usage", "turns"];

/// Returns a digest of each table of jobs and units in the database.
fn table_digests(database: &str) -> Vec<String> {
    let digest = |table| {
        let rows = "md5(string_agg(t::text, '|' ORDER BY t::text))";
        sql(
            database,
            &format!("SELECT {rows} FROM domesday.{table} AS t"),
        )
    };
    TABLES.map(digest).to_vec()
}

#[track_caller]
fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Stops a host while it works on a job, whose lease it holds. Returns the job.
fn stopped_at(host: &Server, client: &Client, database: &str, pause: Duration) -> Value {
    loop {
        let body = json!({"requests": vec![house(); ROWS]});
        let job = client.post("/v3/valuation-jobs", &body).json();
        let url = job["status_url"].as_str().unwrap();
        until("it never runs", || {
            (client.get(url).ok()["status"] != "queued").then_some(())
        });
        std::thread::sleep(pause);
        host.signal(Signal::STOP);
        let query = format!(
            "SELECT count(*) FROM domesday.jobs \
             WHERE id = '{}' AND status = 'running' AND lease_until IS NOT NULL",
            job["job_id"].as_str().unwrap()
        );
        if sql(database, &query).trim() == "1" {
            return job;
        }
        // It had just released the job, or was done.
        host.signal(Signal::CONT);
        let results = job["results_url"].as_str().unwrap();
        until("it never ends", || {
            (client.get(results).status == 200).then_some(())
        });
    }
}

#[test]
fn a_host_that_slept_past_its_lease_writes_nothing() {
    let _alone = lock_suite();
    let name = "a host asleep";
    let mut random = SeededRandom::new(seed(name));
    let world = World::shared();
    let database = world.database.clone().unwrap();
    let key = world.key("jobs", UNITS);
    let sleeper = world.host(0).go();
    let client = sleeper.client(&key);
    for _ in 0..ROUNDS {
        let pause = Duration::from_millis(random.within(0..=100));
        let job = stopped_at(&sleeper, &client, &database, pause);
        let id = &job["job_id"];
        let lost = |server: &Server| {
            let log = server.log();
            let of_it = |line: &&str| line.contains(id.as_str().unwrap());
            let mut lines = log.lines().filter(of_it);
            lines.any(|line| line.contains("another host's now"))
        };

        let other = world.host(1).go();
        let url = job["results_url"].as_str().unwrap();
        let results = until("the job is not taken over", || {
            let answer = other.client(&key).get(url);
            (answer.status == 200).then_some(answer.text)
        });
        let before = table_digests(&database);
        assert!(!lost(&sleeper));

        sleeper.signal(Signal::CONT);
        until("it does not know that it lost the job", || {
            lost(&sleeper).then_some(())
        });
        assert_eq!(table_digests(&database), before);
        let answer = other.client(&key).get(url).text;
        assert_eq!(answer, results);
        other.stop();
        // It serves again, as if nothing had been.
        until("it does not serve", || {
            let answer = client.get(url);
            (answer.status == 200).then(|| assert_eq!(answer.text, results))
        });
        let rows: Value = serde_json::from_str(&results).unwrap();
        assert_eq!(rows["result"]["summary"]["valued"], ROWS);
    }
    let jobs: u64 = sql(&database, "SELECT count(*) FROM domesday.jobs")
        .trim()
        .parse()
        .unwrap();
    let used = world.used("jobs", &client);
    assert_eq!(used, jobs * ROWS as u64);
    println!("counts: {name}: stops {ROUNDS}, jobs {jobs}, units {used}");
    sleeper.stop();
}
