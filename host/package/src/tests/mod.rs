//! Tests of packages through the crate's public interface.

mod directories;
