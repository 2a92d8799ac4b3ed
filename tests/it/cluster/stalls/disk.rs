//! A disk that neither works nor fails, under the state's file, under its log of units, or under
//! the journal of receipts.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::faults::library;
use crate::common::server::Server;
use crate::crash::harness::{UNITS, World};
use crate::stalls::leaving::assert_free;
use crate::stalls::run::{Stall, bodies, host, keys};
use crate::stalls::submission::{
    DEADLINE, DEADLINE_PASSES, STATE_GIVES_UP, assert_logged, assert_withdrawn,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The arguments of a host that keeps a receipt of every value.
pub const RECEIPTS: [&str; 2] = ["--receipts", "all"];

/// Serves with these arguments, and freezes reads, writes and syncs of these files of the host's
/// data folder.
fn hold(name: &str, world: &World, arguments: &[&str], files: &dyn Fn(&Path) -> Vec<PathBuf>) {
    let keys = keys(world);
    let folder = tempfile::tempdir().unwrap();
    let server = freezable(world, arguments, files, folder.path());
    let freeze = |frozen| stall(folder.path(), frozen);
    Stall::of_storage(name, &bodies(), &freeze).hold(world, &server, &keys);
    server.stop();
}

/// Starts a host twice, so that these files of its data folder exist at the second start. Accesses
/// to them can then be stalled by way of a folder.
pub fn freezable(
    world: &World,
    arguments: &[&str],
    files: &dyn Fn(&Path) -> Vec<PathBuf>,
    folder: &Path,
) -> Server {
    let first = world.key("first", UNITS);
    let server = host(world).with(arguments).go();
    assert_eq!(value(&server.client(&first)), 200);
    server.stop();
    with_stalls(world, arguments, &files(&world.data(0)), folder)
}

/// Starts a host whose accesses to these files can be stalled by way of a folder.
fn with_stalls(world: &World, arguments: &[&str], files: &[PathBuf], folder: &Path) -> Server {
    let paths: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
    host(world)
        .with(arguments)
        .environment("LD_PRELOAD", &library(folder))
        .environment("DOMESDAY_FAULT_FILES", Path::new(&paths.join(":")))
        .environment("DOMESDAY_FAULTS", folder)
        .go()
}

/// Stalls the files, or lets them go on.
pub fn stall(folder: &Path, stalled: bool) {
    let trigger = folder.join("stall");
    match stalled {
        true => std::fs::write(&trigger, "").unwrap(),
        false => std::fs::remove_file(&trigger).unwrap(),
    }
}

fn value(client: &Client) -> u16 {
    client.post("/v3/simple-value", &house()).status
}

/// Returns the files of the state with these names.
pub fn state_files(names: &'static [&'static str]) -> impl Fn(&Path) -> Vec<PathBuf> {
    move |data| names.iter().map(|name| data.join(name)).collect()
}

pub fn journal_files(data: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(data.join("journal")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_state_file_that_stalls_ends_requests_in_time_and_costs_nothing() {
    let files = state_files(&["state.redb", "state.usage"]);
    hold("state file, redb", &World::embedded(), &[], &files);
}

#[test]
fn a_log_of_units_that_stalls_ends_requests_in_time_and_costs_nothing() {
    let files = state_files(&["state.usage"]);
    hold("log of units, redb", &World::embedded(), &[], &files);
}

#[test]
fn a_journal_that_stalls_ends_requests_in_time_and_costs_nothing_on_redb() {
    hold(
        "journal, redb",
        &World::embedded(),
        &RECEIPTS,
        &journal_files,
    );
}

#[test]
fn a_journal_that_stalls_ends_requests_in_time_and_costs_nothing_on_postgresql() {
    hold(
        "journal, PostgreSQL",
        &World::shared(),
        &RECEIPTS,
        &journal_files,
    );
}

/// Starts a host with these arguments whose state stalls, and runs a test on it.
fn on_stalling_state(arguments: &[&str], test: impl FnOnce(&World, &Server, &str, &dyn Fn(bool))) {
    let world = World::embedded();
    let key = world.key("jobs", UNITS);
    let folder = tempfile::tempdir().unwrap();
    let files = state_files(&["state.redb", "state.usage"]);
    let server = with_stalls(&world, arguments, &files(&world.data(0)), folder.path());
    let freeze = |frozen| stall(folder.path(), frozen);
    test(&world, &server, &key, &freeze);
    server.stop();
}

/// Asserts that a job of unknown outcome is withdrawn from a state that stalls.
fn withdraw(arguments: &[&str], refused_after: Range<Duration>) {
    on_stalling_state(arguments, |world, server, key, freeze| {
        assert_withdrawn(world, server, key, freeze, refused_after);
    });
}

#[test]
fn a_job_without_a_key_that_a_disk_accepts_too_late_is_withdrawn() {
    withdraw(&[], STATE_GIVES_UP);
}

#[test]
fn a_job_without_a_key_that_a_disk_accepts_after_the_deadline_is_withdrawn() {
    withdraw(&DEADLINE, DEADLINE_PASSES);
}

#[test]
fn a_job_with_a_key_that_a_disk_accepts_after_the_deadline_is_logged() {
    on_stalling_state(&DEADLINE, |_, server, key, freeze| {
        assert_logged(server, key, freeze);
    });
}

#[test]
fn requests_whose_client_leaves_a_stalled_disk_cost_nothing() {
    let world = World::embedded();
    let key = world.key("values", UNITS);
    let folder = tempfile::tempdir().unwrap();
    let files = state_files(&["state.redb", "state.usage"]);
    let server = with_stalls(&world, &[], &files(&world.data(0)), folder.path());
    let freeze = |frozen| stall(folder.path(), frozen);
    assert_free(&world, &server, &key, &freeze);
    server.stop();
}

/// A stop waits for the disk, but not longer than an orchestrator waits for the stop.
#[test]
fn a_host_on_a_stalled_disk_stops_in_time() {
    let world = World::embedded();
    let keys = keys(&world);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(world.data(0)).unwrap();
    let files = state_files(&["state.redb", "state.usage"]);
    let server = with_stalls(&world, &[], &files(&world.data(0)), folder.path());
    let client = server.client(&keys[0]);
    assert_eq!(value(&client), 200);
    stall(folder.path(), true);
    assert_eq!(value(&client), 503);
    let asked = std::time::Instant::now();
    server.terminate();
    let (status, log) = server.await_end();
    println!(
        "stopped on a stalled disk after {:.1} s",
        asked.elapsed().as_secs_f64()
    );
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.contains("the disk does not answer"), "{log}");
    // Every answered unit is there.
    let server = host(&world).go();
    assert_eq!(world.used("values", &server.client(&keys[0])), 1);
    server.stop();
}
