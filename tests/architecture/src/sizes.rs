//! The share of the host's lines that each of its crates holds.

use crate::walk;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the lines of Rust of each crate under `folder`.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn lines_by_crate(folder: &Path) -> std::io::Result<BTreeMap<String, usize>> {
    let mut crates = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        crates.insert(name, lines(&entry.path())?);
    }
    Ok(crates)
}

fn lines(folder: &Path) -> std::io::Result<usize> {
    let mut sum = 0;
    for file in walk::files(folder, &[])? {
        if walk::has_ending(&file, &["rs"]) {
            sum += std::fs::read_to_string(file)?.lines().count();
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_crate_holds_more_than_15_percent_of_the_host() {
        let crates = lines_by_crate(&crate::repository().join("host")).unwrap();
        let all: usize = crates.values().sum();
        assert!(all > 50_000, "{crates:?}");
        let too_large: Vec<_> = crates
            .iter()
            .filter(|(_, lines)| **lines * 100 > all * 15)
            .collect();
        assert!(too_large.is_empty(), "of {all} lines: {too_large:?}");
    }
}
