//! The regular round of an operator, from files that arrived to releases.
//!
//! - [`inbox`] finds and digests the files. [`absence`] finds those that a build would lack.
//! - [`plan`] decides what there is to build, from the files, from the [`record`] of earlier rounds
//!   and from the [`config`]. It reads and writes nothing.
//! - [`round`] carries a plan out. Each step is a command of the program that a person could type,
//!   with a log of its output.
//! - [`report`] says what was done, what failed and what is missing, and `status` says it as
//!   metrics.
//!
//! A round may be repeated at any time. What rests on the same files is not built again.

mod absence;
mod absent_file;
pub mod config;
pub mod context;
pub mod error;
#[cfg(test)]
mod example_tests;
pub mod file_kind;
mod first_promotion;
mod inbox;
mod judge;
mod lock;
pub mod monitor_exit;
pub mod part;
mod part_round;
mod plan;
mod record;
pub mod report;
pub mod round;
mod status;
pub mod step;
