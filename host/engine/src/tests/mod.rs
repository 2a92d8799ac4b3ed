//! Tests of the engine through the crate's public interface.

mod interface_freeze;
pub(crate) mod sandbox;
