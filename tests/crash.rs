//! Hosts that are killed, put to sleep, or given a disk that fails, while clients are at work: what was
//! answered is kept, once.
//!
//! What is random comes from a seed, which is printed; `DOMESDAY_CRASH_SEED` repeats a run as far as
//! threads and the clock allow, and `DOMESDAY_CRASH_KILLS` changes the number of kills.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

#[path = "crash/asleep.rs"]
mod asleep;
#[path = "crash/chances.rs"]
mod chances;
mod common;
#[path = "crash/customers.rs"]
mod customers;
#[path = "crash/disk.rs"]
mod disk;
#[path = "crash/kills.rs"]
mod kills;
#[path = "crash/ledger.rs"]
mod ledger;
#[path = "crash/proof.rs"]
mod proof;
#[path = "crash/world.rs"]
mod world;
