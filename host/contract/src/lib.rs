//! The HTTP contract: wire types, strict parsing, error bodies.
//!
//! Parsing takes the bytes of a body. It returns a typed request that satisfies every rule of the
//! document alone, or a list of all errors. Each error has a code and a JSON Pointer (RFC 6901).
//! Responses are typed too: a referred result cannot carry an estimate, nor a rejected one a range.
//!
//! This crate looks nothing up. Other crates decide whether an address exists, a date is in a
//! release's window or a key may use stored data. It imports no other crate of the workspace.
//!
//! - [`json`]: the strict reader. Grammar, depth, repeated members, and sections that report their
//!   unread members.
//! - [`error`]: every error code with its HTTP status, and the one shape of an error body.
//! - [`vocabulary`]: closed sets of words, and how they are read and written.
//! - [`schema`]: the same rules as JSON Schema, for the published description of the API.
//! - [`v3`]: the valuation interface.
//! - [`v1`]: market statistics and rates.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod error;
pub mod json;
pub mod schema;
pub mod v1;
pub mod v3;
pub mod vocabulary;

#[cfg(test)]
extern crate self as domesday_contract;

#[cfg(test)]
mod tests;
