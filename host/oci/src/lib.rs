//! Pushes packages to OCI registries and pulls them, beside folders of releases.
//!
//! [`Registry`] is one repository of a registry; [`Address`] names it on the command line. What a
//! registry answers is never believed: the package's own signed manifest says what it must hold.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod artifact;
mod callbacks;
mod client;
mod credentials;
mod error;
mod existing;
mod pull;
mod push;
mod redirect;
mod reference;
mod registry;
mod transfer;

pub use callbacks::{LogLine, SharedProgress};
pub use error::RegistryError;
pub use reference::Address;
pub use registry::Registry;
