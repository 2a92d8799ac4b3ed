//! The valuation interface, version 3.
//!
//! [`request`] reads what a client sends, [`options`] resolves its settings, [`result`] is what a
//! client gets for a property, [`job`] is how many of them are worked on without a client waiting,
//! [`release`] and [`coverage`] are the discovery routes, [`schema`] is all of it as JSON Schema.

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

/// The public contract's version, on every result.
pub const API_VERSION: &str = "v3";
