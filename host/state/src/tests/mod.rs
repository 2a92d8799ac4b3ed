//! Tests of both stores through the crate's public interface.

mod embedded;
#[cfg(feature = "postgres")]
mod postgres;
mod suite;
