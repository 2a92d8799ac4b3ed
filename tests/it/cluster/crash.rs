//! Hosts that are killed, stopped, or given a failing disk while clients are at work. Every answer
//! is stored once.
//!
//! Random choices come from a seed, which is printed. `DOMESDAY_CRASH_SEED` repeats a run as far as
//! threads and the clock allow. `DOMESDAY_CRASH_KILLS` changes the number of kills.

pub mod clients;
mod disk;
pub mod expected;
pub mod harness;
mod kills;
mod sigstop;
pub mod verify;
