//! Tests of the journal through the crate's public interface.

mod aborts;
