//! A service in the hands of its operators: how it is set up, watched, changed while it runs, and
//! stopped.

mod backup;
mod commands;
mod configuration;
mod connections;
mod gates;
pub(crate) mod metrics;
mod package_proofs;
mod promotion;
mod promotion_under_load;
mod readiness;
mod stopping;
mod tls;
mod traces;
