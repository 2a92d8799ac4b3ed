//! Tests of replays through the crate's public interface.

mod fixtures;
