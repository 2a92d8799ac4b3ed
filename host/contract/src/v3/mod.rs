//! The valuation interface, version 3.
//!
//! - [`request`] reads the requests of clients.
//! - [`options`] resolves the settings of a request.
//! - [`result`] is the result of a property.
//! - [`job`] is a batch that runs while no client waits.
//! - [`release`] and [`coverage`] are the discovery routes.
//! - [`schema`] is the whole contract as JSON Schema.

pub mod coverage;
pub mod endpoint;
pub mod identity;
pub mod input;
pub mod job;
pub mod options;
pub mod query;
pub mod release;
pub mod request;
pub mod result;
pub mod schema;
mod schema_parts;

/// The public contract's version, on every result.
pub const API_VERSION: &str = "v3";
