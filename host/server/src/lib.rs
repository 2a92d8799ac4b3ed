//! The service: HTTP routes, jobs, quota, administration, shadow, receipts and telemetry.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod address_provider;
pub mod admin;
mod cleartext_http;
pub mod clock;
pub mod config;
pub mod connections;
pub mod console;
pub mod console_origin;
pub mod console_sessions;
pub mod console_values;
mod console_work;
pub mod data_folder;
pub mod demo;
mod execution;
pub mod http;
pub mod job_store;
pub mod jobs;
pub mod logging;
pub mod memory_budget;
pub mod metrics_page;
pub mod offline_promotion;
pub mod operation_samples;
pub mod package_proofs;
pub mod promotion;
pub mod quota;
pub mod receipts;
pub mod release_source;
mod row_observers;
pub mod series_releases;
pub mod service;
pub mod shadow;
pub mod telemetry;
#[cfg(test)]
mod test_log;
pub mod usage_retention;
