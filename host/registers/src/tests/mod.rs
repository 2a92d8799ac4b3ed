//! Tests of the readers through the crate's public interface.

#[path = "../../../../tests/common/downloads.rs"]
mod downloads;
mod real_files;
mod variants;
