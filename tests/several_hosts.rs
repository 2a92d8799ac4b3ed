//! Two servers on one PostgreSQL database are one service.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod common;

use common::demo::house;
use common::program::run;
use common::server::{Server, start};
use domesday_test_cluster as cluster;
use std::time::{Duration, Instant};

/// How long another host may take to see a change.
const SEEN: Duration = Duration::from_secs(1);

fn host(database: &str) -> Server {
    start().with(&["--state", database]).go()
}

fn key(database: &str, arguments: &[&str]) -> String {
    // Nobody's data folder: the command is on none of the hosts.
    let place = ["--state", database, "--data", "/nonexistent"];
    let all = [&["key"], arguments, &place].concat();
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
        within(SEEN, || values(host, &secret) == 200);
    }
    let listed = key(&database, &["list"]);
    let id = listed.split('\t').next().unwrap();
    key(&database, &["revoke", id]);
    for host in &hosts {
        within(SEEN, || values(host, &secret) == 401);
    }
    for host in hosts {
        assert!(!host.stop().contains("sesame"));
    }
}
