//! The shared parts of the suites: the demo world, and its files by column name.

use domesday_synthetic::{Manifest, World, generate};
use std::collections::HashMap;
use std::path::Path;

/// Returns the rows of a CSV file by column name.
pub(crate) fn read_rows(folder: &Path, name: &str) -> Vec<HashMap<String, String>> {
    csv::Reader::from_path(folder.join(name))
        .unwrap()
        .deserialize()
        .map(|row| row.unwrap())
        .collect()
}

/// Returns one cell as a number.
pub(crate) fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column]
        .parse()
        .unwrap_or_else(|_| panic!("{column} is {:?}", row[column]))
}

/// Returns the demo world in a new folder.
pub(crate) fn demo() -> (tempfile::TempDir, Manifest) {
    let folder = tempfile::tempdir().unwrap();
    let manifest = generate(&World::demo(), folder.path(), |_, _, _| ()).unwrap();
    (folder, manifest)
}
