//! Tests of snapshots through the crate's public interface.

mod hand_labelled;
mod publishers;
mod snapshot;
