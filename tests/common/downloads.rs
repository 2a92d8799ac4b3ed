//! The registers' own files, where they are there: they are not ours to ship.

use std::path::PathBuf;

/// Returns the folder of the downloads if it holds the file that a test needs. Otherwise prints
/// that the test is skipped. For tests of the crates in `host/`.
pub fn folder(test: &str, needs: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("DOMESDAY_REAL_DATA").map_or_else(beside, PathBuf::from);
    if folder.join(needs).exists() {
        return Some(folder);
    }
    println!("skipped: {test} needs {needs} (set DOMESDAY_REAL_DATA)");
    None
}
