//! Hosts of one database that are replaced one after the other, under load.
//!
//! Both versions are the program under test, since no test can build an earlier one. The second
//! test stands for a later version: it brings the schema forward under hosts that run.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::{Server, start};
use domesday_test_postgres as cluster;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const VALUE: &str = "/v3/simple-value";
/// Time for which each pair of hosts serves.
const PHASE: Duration = Duration::from_secs(1);

fn host(database: &str) -> Server {
    start().with(&["--state", database]).go()
}

fn customer_key(database: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let text = "requests_per_second = 1000000\nburst = 1000000\nconcurrency = 1000000\n\
        monthly_units = 1000000000\n";
    std::fs::write(&plan, text).unwrap();
    let plan = plan.to_str().unwrap();
    let create = [
        "key",
        "create",
        "--tenant",
        "customer",
        "--scope",
        "avm:value",
    ];
    let more = [
        "--plan",
        plan,
        "--state",
        database,
        "--data",
        "/nonexistent",
    ];
    let created = run([&create[..], &more].concat()).ok();
    created.stdout.trim().to_owned()
}

fn await_known(server: &Server, key: &str) {
    let begun = Instant::now();
    while server.client(key).get("/v3/releases/current").status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Clients that ask the hosts of a list in turn, as a proxy would.
struct Load {
    targets: Mutex<Vec<Client>>,
    answered: AtomicU64,
    stop: AtomicBool,
}

impl Load {
    /// Sends values until the stop. A refused connection goes to the next host, which loses and
    /// repeats nothing. Anything else but a value is a failure.
    fn run(&self, worker: usize) {
        let mut turn = worker;
        while !self.stop.load(Ordering::SeqCst) {
            turn += 1;
            let targets = self.targets.lock().unwrap().clone();
            let client = &targets[turn % targets.len()];
            match client.try_post(VALUE, &house().to_string()) {
                Ok(answer) => {
                    assert_eq!(answer.status, 200, "{}", answer.text);
                    self.answered.fetch_add(1, Ordering::SeqCst);
                }
                Err(error) => assert!(error.is_connect(), "{error:?}"),
            }
        }
    }

    /// Runs actions while four clients send values, and returns the number of values.
    fn during(targets: Vec<Client>, actions: impl FnOnce(&Load)) -> u64 {
        let load = Load {
            targets: Mutex::new(targets),
            answered: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        };
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let load = &load;
                scope.spawn(move || load.run(worker));
            }
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| actions(&load)));
            load.stop.store(true, Ordering::SeqCst);
            outcome.unwrap();
        });
        load.answered.into_inner()
    }
}

fn used_units(database: &str) -> u64 {
    let all = "SELECT coalesce(sum(used), 0) FROM domesday.used_units";
    cluster::sql(database, all).trim().parse().unwrap()
}

#[test]
fn two_hosts_are_replaced_under_load_without_a_failed_request() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let mut hosts = vec![host(&database), host(&database)];
    for server in &hosts {
        await_known(server, &key);
    }
    let clients =
        |hosts: &[Server]| -> Vec<Client> { hosts.iter().map(|host| host.client(&key)).collect() };
    let answered = Load::during(clients(&hosts), |load| {
        for _ in 0..2 {
            std::thread::sleep(PHASE);
            let new = host(&database);
            await_known(&new, &key);
            hosts.push(new);
            let old = hosts.remove(0);
            // The proxy sends no new request to a host that is about to stop.
            *load.targets.lock().unwrap() = clients(&hosts);
            old.stop();
        }
        std::thread::sleep(PHASE);
    });
    println!("{answered} values, none failed, while two hosts were replaced");
    assert_eq!(used_units(&database), answered);
}

/// A later version adds a table and a column at its start. Hosts that run serve on, and a host of
/// this version that starts then is refused with the number of the schema.
#[test]
fn a_running_host_serves_on_while_a_later_version_brings_the_schema_forward() {
    let database = cluster::shared().database();
    let key = customer_key(&database);
    let server = host(&database);
    await_known(&server, &key);
    let answered = Load::during(vec![server.client(&key)], |_| {
        std::thread::sleep(PHASE);
        cluster::sql(
            &database,
            "ALTER TABLE domesday.tenants ADD COLUMN later text; \
             CREATE TABLE domesday.later (id bigint PRIMARY KEY); \
             INSERT INTO domesday.migrations (version, description, success, checksum, execution_time) \
             VALUES (1000, 'later', true, '', 0)",
        );
        std::thread::sleep(PHASE);
    });
    println!("{answered} values, none failed, while the schema went forward");
    assert_eq!(used_units(&database), answered);
    let refused = start().with(&["--state", &database]).refused();
    assert!(refused.contains("the state has schema 1000"), "{refused}");
    assert!(refused.contains("Start the later version"), "{refused}");
}
