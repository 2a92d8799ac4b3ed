//! The sandbox for integrators. Its release has answers that are known in advance. A stub in front
//! of its service gives the answers that no address can.
//!
//! - [`cases`]: the table of addresses with their answers, `sandbox/cases.toml`.
//! - [`packages`]: the snapshot and the release, embedded in the program.
//! - [`stub`]: errors, held and failed jobs, lost connections and delays, on request alone.
//!
//! The service behind the stub is the ordinary one. It knows nothing of the sandbox.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod cases;
pub mod packages;
pub mod stub;
