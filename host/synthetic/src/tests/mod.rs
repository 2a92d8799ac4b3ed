//! Tests of the made-up country through the crate's public interface.

mod believable;
mod common;
#[path = "../../../../tests/common/downloads.rs"]
mod downloads;
mod world;
