//! A service in the hands of its operators: how it is set up, watched, changed while it runs, and stopped.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

#[path = "operation/commands.rs"]
mod commands;
mod common;
#[path = "operation/configuration.rs"]
mod configuration;
#[path = "operation/metrics.rs"]
mod metrics;
#[path = "operation/promotion.rs"]
mod promotion;
#[path = "operation/promotion_under_load.rs"]
mod promotion_under_load;
#[path = "operation/tls.rs"]
mod tls;
#[path = "operation/traces.rs"]
mod traces;
