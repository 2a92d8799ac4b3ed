//! Tests of releases of series through the crate's public interface.

#[path = "../../../../tests/common/downloads.rs"]
mod downloads;
mod duckdb;
mod part_of_the_country;
#[path = "../../../../tests/common/python.rs"]
mod python;
mod rates;
mod real_rates;
mod release_queries;
mod releases;
mod workbook_bounds;
mod workbooks;

use std::path::PathBuf;

/// Returns cargo's target folder: a test binary lies in `deps` of a profile's folder.
fn target() -> PathBuf {
    let binary = std::env::current_exe().unwrap();
    binary.ancestors().nth(3).unwrap().to_owned()
}
