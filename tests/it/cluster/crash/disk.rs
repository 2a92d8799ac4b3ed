//! A full disk and failed syncs. A library between the program and the files of its state injects
//! them, under both files or under the log of units alone.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::faults::library;
use crate::common::seed::SeededRandom;
use crate::crash::clients::{Hosts, customers};
use crate::crash::expected::{Ledger, read};
use crate::crash::harness::{UNITS, World, kill, lock_suite, seed};
use crate::crash::verify::prove;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 5;
/// The longest time until a fault is noticed, and until the service has recovered from it.
const MAX_DELAY: Duration = Duration::from_secs(5);

#[track_caller]
fn await_condition(what: &str, look: impl Fn() -> bool) {
    let started = Instant::now();
    while !look() {
        assert!(started.elapsed() < MAX_DELAY, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Asserts that a host is alive and not ready while the fault lasts. It refuses everything that
/// needs a write.
fn assert_refusing(client: &Client) {
    let ready = || client.get("/readyz").status;
    await_condition("the fault is not noticed", || {
        client.post("/v3/simple-value", &house()).status == 503 && ready() == 503
    });
    // Reads are answered: the host knows from the file that there is no such job.
    await_condition("jobs cannot be read", || {
        client
            .get(&format!("/v3/valuation-jobs/{}", uuid::Uuid::nil()))
            .status
            == 404
    });
    for _ in 0..20 {
        assert_eq!(client.get("/healthz").status, 200);
        let ready = client.get("/readyz");
        assert_eq!(
            (ready.status, ready.header("retry-after")),
            (503, Some("1"))
        );
        let refused = client.post("/v3/simple-value", &house());
        assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
        assert!(refused.header("retry-after").is_some());
        assert_eq!(refused.json()["error"]["retryable"], true);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The files of the state: its database, and the log of units in front of it.
const FILES: [&str; 2] = ["state.redb", "state.usage"];

/// Makes faults of these files come and go under mixed load, and then kills the host.
fn failing(name: &str, fault: &str, files: &[&str]) -> (World, Ledger, u64) {
    let _alone = lock_suite();
    let mut random = SeededRandom::new(seed(name));
    let world = World::embedded();
    let keys = ["values", "jobs", "prober"].map(|tenant| world.key(tenant, UNITS));
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = files
        .iter()
        .map(|file| world.data(0).join(file).to_str().unwrap().to_owned())
        .collect();
    let server = world
        .host(0)
        .environment("LD_PRELOAD", &library(folder.path()))
        .environment("DOMESDAY_FAULT_FILES", Path::new(&paths.join(":")))
        .environment("DOMESDAY_FAULTS", folder.path())
        .go();
    let (hosts, ledger) = (Hosts::new(1), Ledger::default());
    hosts.set(0, Some(server.address));
    let prober = server.client(&keys[2]);
    let trigger = folder.path().join(fault);
    let mut chance = random.fork();
    customers(
        &hosts,
        &ledger,
        &keys[0],
        &keys[1],
        true,
        &mut random,
        || {
            for _ in 0..ROUNDS {
                std::thread::sleep(Duration::from_millis(chance.within(50..=250)));
                std::fs::write(&trigger, "").unwrap();
                assert_refusing(&prober);
                std::fs::remove_file(&trigger).unwrap();
                await_condition("it is not well again", || {
                    prober.get("/readyz").status == 200
                        && prober.post("/v3/simple-value", &house()).status == 200
                });
            }
        },
    );
    assert!(read(&ledger.not_kept) > 0, "no fault met a request");
    let client = server.client(&keys[1]);
    prove(&ledger, std::slice::from_ref(&client));
    kill(server);

    let server = world.host(0).go();
    let client = server.client(&keys[1]);
    prove(&ledger, std::slice::from_ref(&client));
    assert_eq!(world.used("jobs", &client), ledger.units_of_jobs());
    let used = world.used("values", &client.with_key(&keys[0]));
    ledger.print(name, &format!("faults {ROUNDS}, kills 1"), used);
    server.stop();
    (world, ledger, used)
}

/// Asserts that a charge that could not be written was not made.
fn assert_full_disk(name: &str, files: &[&str]) {
    let (_world, ledger, used) = failing(name, "full", files);
    assert_eq!(used, read(&ledger.units));
}

#[test]
fn a_full_disk_stops_admission_and_nothing_else() {
    assert_full_disk("a full disk", &FILES);
}

#[test]
fn a_log_of_units_that_is_full_stops_admission_and_nothing_else() {
    assert_full_disk("a full disk under the log", &FILES[1..]);
}

/// The log accepts units that the file cannot take over for one second at most.
#[test]
fn a_state_that_is_full_under_a_log_that_is_not_stops_admission_and_nothing_else() {
    assert_full_disk("a full disk under the file", &FILES[..1]);
}

/// Asserts that every answered charge outlived a failed sync. Nobody knows whether a refused one
/// did.
fn assert_unsynced_disk(name: &str, files: &[&str]) {
    let (_world, ledger, used) = failing(name, "sync", files);
    let (answered, not_kept) = (read(&ledger.units), read(&ledger.not_kept));
    assert!(
        (answered..=answered + not_kept).contains(&used),
        "{used} units, of which {answered} answered and {not_kept} refused"
    );
}

#[test]
fn a_failed_sync_loses_nothing_that_was_acknowledged() {
    assert_unsynced_disk("failed syncs", &FILES);
}

#[test]
fn a_failed_sync_of_the_log_of_units_loses_nothing_that_was_acknowledged() {
    assert_unsynced_disk("failed syncs of the log", &FILES[1..]);
}

#[test]
fn a_failed_sync_under_a_sound_log_loses_nothing_that_was_acknowledged() {
    assert_unsynced_disk("failed syncs of the file", &FILES[..1]);
}
