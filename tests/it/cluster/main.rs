//! Several hosts on one state, and hosts that die, from outside.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod backup;
mod chaos;
#[path = "../../common/mod.rs"]
mod common;
mod crash;
mod eligible_jobs;
mod fetch_bounds;
mod fetched_releases;
#[path = "../http/v1_contract/fixture_releases.rs"]
#[allow(dead_code)] // The contract's suite takes the rest.
mod fixture_releases;
mod hosts;
mod ledger;
mod object_stores;
mod proxies;
mod rolling_upgrade;
mod series_promotions;
mod stalls;
