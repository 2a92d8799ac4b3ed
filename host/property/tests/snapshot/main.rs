//! The crate from outside: registers in the publishers' formats go in, answers come out.

#![allow(unused_crate_dependencies, missing_docs)]
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod building;
mod damage;
mod figures;
mod future;
mod leak;
mod matching;
mod memory;
mod nearby;
mod open_uprn;
#[path = "../publishers/mod.rs"]
mod publishers;
mod reading;
mod real;
mod resolve;
mod updating;
mod world;
