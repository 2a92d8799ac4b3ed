//! Disks, databases and services that stall rather than fail, under load. Each is frozen for some
//! seconds. Requests end by the deadline with the documented error, and the units of refused ones
//! are given back. Readiness turns and recovers, and `/healthz` goes on answering.
//!
//! `DOMESDAY_STALL_SECONDS` changes how long a stall lasts. Where it is set, each stall meets one
//! connection and then 64.

mod address_provider;
mod database;
mod disk;
mod idle;
mod leaving;
mod load;
mod log_pipe;
mod proxied;
mod proxy;
mod readiness;
mod registry;
mod report;
mod run;
mod submission;
