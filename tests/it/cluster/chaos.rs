//! Faults of every kind, one after another, while customers are at work. The hosts are behind
//! nginx, on PostgreSQL or on the embedded store.
//!
//! After each fault the service has to be well again without a hand, and everything that was
//! answered has to be there once. `DOMESDAY_CHAOS_EACH` says how often each kind comes. Without it
//! a few are drawn by a fixed seed. `DOMESDAY_CHAOS_SEED` repeats a run, and goes on with one that
//! was ended.

mod campaign;
mod database;
mod faults;
mod link;
mod load;
mod nginx;
mod record;
mod rig;
mod usage;

use faults::Store;

#[test]
fn three_hosts_on_postgresql_lose_and_double_nothing() {
    campaign::run(Store::Postgresql);
}

#[test]
fn a_host_on_redb_loses_and_doubles_nothing() {
    campaign::run(Store::Redb);
}
