//! Pushes packages to OCI registries and pulls them, beside folders of releases.
//!
//! [`Registry`] is one repository of a registry; [`Address`] names it on the command line. The
//! answer of a registry is never trusted: the package's own signed manifest names its contents.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod artifact;
mod challenge;
mod client;
mod credentials;
mod error;
mod existing;
mod log_line;
mod network;
mod pull;
mod push;
mod reach;
mod reference;
mod registry;
mod resolver;
mod transfer;
mod upload;
mod user_agent;

pub use error::RegistryError;
pub use log_line::LogLine;
pub use reference::Address;
pub use registry::Registry;
