//! What the service says and hears over HTTP: wire types, strict parsing, error bodies.
//!
//! A body goes in as bytes. It comes out either as a typed request that holds every rule which
//! can be judged from the document alone, or as the list of everything that is wrong with it,
//! each error with a code and a JSON Pointer (RFC 6901). Answers are typed too, so that a
//! referred result cannot carry an estimate, nor a rejected one a range.
//!
//! This crate looks nothing up: whether an address exists, a date lies in a release's window or
//! a key may use stored data is judged by those who know. It imports none of the other rooms.
//!
//! - [`json`]: the strict reader. Grammar, depth, repeated members, and sections that know
//!   which of their members nobody asked for.
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
