//! A database that is frozen with all its processes.

use crate::crash::harness::World;
use crate::stalls::run::{Stall, bodies, host, keys};
use domesday_test_postgres::{Cluster, Disk};

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
