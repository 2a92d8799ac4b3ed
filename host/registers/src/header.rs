//! Columns found by name in a table's first line.

use crate::record::Record;

/// Finds columns by name in any order, case and spacing, and records the missing ones.
pub(crate) struct Header {
    names: Vec<String>,
    missing: Vec<String>,
}

impl Header {
    pub(crate) fn new(first: &Record<'_>) -> Header {
        Header {
            names: first.cells().map(canonical).collect(),
            missing: Vec::new(),
        }
    }

    /// Returns the column that goes by one of these names, each in its canonical form, or `None`.
    pub(crate) fn find(&self, names: &[&str]) -> Option<usize> {
        names
            .iter()
            .find_map(|name| self.names.iter().position(|n| n == name))
    }

    /// Returns the column with one of these names, or records it as missing.
    pub(crate) fn need(&mut self, names: &[&str]) -> usize {
        self.find(names).unwrap_or_else(|| {
            self.missing
                .extend(names.first().map(|name| (*name).to_owned()));
            usize::MAX
        })
    }

    /// Returns the first column whose name satisfies `test`, or records `name` as missing.
    pub(crate) fn need_where(&mut self, name: &str, test: impl Fn(&str) -> bool) -> usize {
        self.names.iter().position(|n| test(n)).unwrap_or_else(|| {
            self.missing.push(name.to_owned());
            usize::MAX
        })
    }

    /// Returns the needed columns that were not found.
    pub(crate) fn missing(self) -> Vec<String> {
        self.missing
    }
}

/// Returns a column's name in lower case, with one underscore for each run of other characters.
fn canonical(name: &str) -> String {
    let mut canonical = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_alphanumeric() {
            canonical.extend(c.to_lowercase());
        } else if !canonical.is_empty() && !canonical.ends_with('_') {
            canonical.push('_');
        }
    }
    canonical.truncate(canonical.trim_end_matches('_').len());
    canonical
}
