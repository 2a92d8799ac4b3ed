//! A database that is frozen with all its processes, and one whose commits alone hang.

use crate::crash::harness::{UNITS, World};
use crate::stalls::leaving::assert_free;
use crate::stalls::run::{Stall, bodies, host, keys};
use crate::stalls::submission::{DEADLINE, DEADLINE_PASSES, STATE_GIVES_UP, assert_withdrawn};
use domesday_test_postgres::{Cluster, Disk};
use std::ops::Range;
use std::time::Duration;

/// Freezes the database of a host under load.
pub fn hold(name: &str, world: &World, freeze: &(dyn Fn(bool) + Sync)) {
    let keys = keys(world);
    let server = host(world).go();
    Stall::of_storage(name, &bodies(), freeze).hold(world, &server, &keys);
    server.stop();
}

#[test]
fn a_frozen_database_ends_requests_in_time_and_costs_nothing() {
    let cluster = Cluster::start(Disk::Unsynced);
    let world = World::on(cluster.database());
    let freeze = |frozen| match frozen {
        true => cluster.freeze(),
        false => cluster.thaw(),
    };
    hold("database, PostgreSQL", &world, &freeze);
}

/// Returns a function that holds and releases the commits of a cluster, as where a synchronous
/// standby is gone. Reads of the database work meanwhile.
fn hold_commits(cluster: &Cluster) -> impl Fn(bool) + Sync {
    |frozen| match frozen {
        true => cluster.hold_commits(),
        false => cluster.release_commits(),
    }
}

#[test]
fn a_database_whose_commits_hang_ends_requests_in_time_and_costs_nothing() {
    let cluster = Cluster::start(Disk::Unsynced);
    let world = World::on(cluster.database());
    let freeze = hold_commits(&cluster);
    hold("commits of a database, PostgreSQL", &world, &freeze);
}

/// Starts a host with these arguments, and asserts that a job of unknown outcome is withdrawn.
fn withdraw(arguments: &[&str], refused_after: Range<Duration>) {
    let cluster = Cluster::start(Disk::Unsynced);
    let world = World::on(cluster.database());
    let key = world.key("jobs", UNITS);
    let server = host(&world).with(arguments).go();
    assert_withdrawn(
        &world,
        &server,
        &key,
        &hold_commits(&cluster),
        refused_after,
    );
    server.stop();
}

#[test]
fn a_job_without_a_key_that_a_database_accepts_too_late_is_withdrawn() {
    withdraw(&[], STATE_GIVES_UP);
}

#[test]
fn a_job_without_a_key_that_a_database_accepts_after_the_deadline_is_withdrawn() {
    withdraw(&DEADLINE, DEADLINE_PASSES);
}

#[test]
fn requests_whose_client_leaves_a_stalled_database_cost_nothing() {
    let cluster = Cluster::start(Disk::Unsynced);
    let world = World::on(cluster.database());
    let key = world.key("values", UNITS);
    let server = host(&world).go();
    assert_free(&world, &server, &key, &hold_commits(&cluster));
    server.stop();
}
