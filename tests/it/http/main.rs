//! The HTTP interfaces, and the service behind them, from outside.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod address_provider;
mod code_samples;
#[path = "../../common/mod.rs"]
mod common;
mod compression;
mod console;
mod contract;
mod cut_connections;
mod denial_of_service;
mod generated_clients;
mod openapi;
mod operation;
mod python_client;
mod receipts;
mod reports_in_chromium;
mod response_examples;
mod sandbox;
mod sandbox_isolation;
mod schemathesis;
mod served_accuracy;
mod shadow;
mod typescript_client;
mod v1_contract;
mod v3_batch;
mod v3_contract;
mod v3_development;
mod v3_jobs;
mod v3_limits;
mod v3_refusals;
mod v3_single_value;
