//! The published description of the interface: one OpenAPI 3.1 document, and a page that people
//! read.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod document;
mod examples;
mod headers;
mod page;
mod route;
mod routes;
mod samples;
mod series;
mod valuations;

pub use document::{document, json};
pub use page::{SCALAR, SCALAR_PATH, START, START_PATH, page};
