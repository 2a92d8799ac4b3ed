//! A disk or a database that stalls under a host without requests. Readiness turns before a
//! customer has to wait, and recovers.

use crate::common::server::Server;
use crate::crash::harness::World;
use crate::stalls::disk::{RECEIPTS, freezable, journal_files, stall, state_files};
use crate::stalls::run::{RECOVERED, TURNED, host};
use domesday_test_postgres::{Cluster, Disk};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time without a request before the stall, in which all that was begun is written.
const IDLE: Duration = Duration::from_secs(3);

/// Asserts that a host without requests turns, goes on answering probes, and recovers.
fn assert_noticed(server: &Server, freeze: &dyn Fn(bool)) {
    let client = server.client("none");
    let await_ready = |ready: bool, limit: Duration| {
        let since = Instant::now();
        while (client.get("/readyz").status == 200) != ready {
            assert!(since.elapsed() < limit, "ready is not {ready}");
            assert_eq!(client.get("/healthz").status, 200);
            std::thread::sleep(Duration::from_millis(20));
        }
        since.elapsed()
    };
    await_ready(true, RECOVERED);
    std::thread::sleep(IDLE);
    freeze(true);
    let turned = await_ready(false, TURNED);
    freeze(false);
    let recovered = await_ready(true, RECOVERED);
    println!("counts: idle, not ready after {turned:.1?}, ready {recovered:.1?} after");
}

fn stall_disk(arguments: &[&str], files: &dyn Fn(&Path) -> Vec<PathBuf>) {
    let world = World::embedded();
    let folder = tempfile::tempdir().unwrap();
    let server = freezable(&world, arguments, files, folder.path());
    assert_noticed(&server, &|frozen| stall(folder.path(), frozen));
    server.stop();
}

#[test]
fn a_stall_of_the_state_s_disk_is_noticed_without_a_request() {
    stall_disk(
        &[],
        &state_files(&["state.redb", "state.usage", "disk-probe"]),
    );
}

#[test]
fn a_stall_of_the_journal_s_disk_is_noticed_without_a_request() {
    stall_disk(&RECEIPTS, &journal_files);
}

#[test]
fn a_database_whose_commits_hang_is_noticed_without_a_request() {
    let cluster = Cluster::start(Disk::Unsynced);
    let world = World::on(cluster.database());
    let server = host(&world).go();
    assert_noticed(&server, &|frozen| match frozen {
        true => cluster.hold_commits(),
        false => cluster.release_commits(),
    });
    server.stop();
}
