//! The commands that a person types, from outside.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod backtest;
mod builds;
mod command_line;
#[path = "../../common/mod.rs"]
mod common;
mod compare;
mod distribution;
mod measure_accuracy;
mod monitor;
mod monitoring;
mod replay;
mod service_manager;
