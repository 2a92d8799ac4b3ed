//! Releases on their way from a model to the hosts that serve them, from outside.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod check_report;
mod check_run;
#[path = "../../common/mod.rs"]
mod common;
mod gbdt_release;
mod oci_registries;
mod packages;
mod publish_a_release;
mod publish_and_pull;
mod python_models;
mod real_leicestershire;
mod real_place;
mod real_served_accuracy;
mod release_behaviour;
mod release_check;
mod release_profile;
