//! Values rows: the pipeline of one row, the releases that it runs and the threads that it runs on.
//!
//! - [`pipeline`] takes a row from its text to the bytes of its result.
//! - [`release_store`] opens, proves and retains releases, and knows the current one.
//! - [`worker_pool`] is the bounded pool of threads that value.
//! - [`observer`] reports each row to its listeners, such as receipts and a shadow.
//! - [`sample_rate`] draws a share of the rows by their ids.
//! - [`comparison_outcome`] and [`comparison_header`] put releases and outcomes in the terms of a
//!   comparison.
//!
//! Nothing here knows HTTP, shadows or receipts.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod check_report;
pub mod comparison_header;
pub mod comparison_outcome;
pub mod compile_cache;
pub mod observer;
pub mod pipeline;
pub mod profile;
pub mod release_store;
pub mod sample_rate;
pub mod spans;
mod task_queue;
pub mod worker_pool;

#[cfg(test)]
extern crate self as domesday_valuation;

#[cfg(test)]
mod tests;
