//! Hosts that are killed, put to sleep, or given a disk that fails, while clients are at work: what
//! was answered is kept, once.
//!
//! What is random comes from a seed, which is printed; `DOMESDAY_CRASH_SEED` repeats a run as far
//! as threads and the clock allow, and `DOMESDAY_CRASH_KILLS` changes the number of kills.

mod clients;
mod disk;
mod expected;
mod harness;
mod kills;
mod seed;
mod sigstop;
mod verify;
