//! Tests of the row pipeline and the release store through the crate's public interface.

mod address_lookups;
mod compile_cache;
#[path = "../../../../tests/common/demo.rs"]
#[allow(dead_code)] // Other suites use the rest.
mod demo;
#[path = "../../../../tests/common/package_files.rs"]
mod package_files;
mod pipeline;
#[path = "../../../../tests/common/places.rs"]
#[allow(dead_code)] // Other suites use the rest.
mod places;
mod release_store;
