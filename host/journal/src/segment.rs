//! The files of a journal: each is named by the number of its first receipt.

use std::fs;
use std::path::{Path, PathBuf};

use crate::JournalError;

/// The beginning of the name of each file.
pub const PREFIX: &str = "receipts-";
/// The end of the name of each file.
pub const SUFFIX: &str = ".jsonl";

/// Returns the name of the file whose first receipt has this number.
pub(crate) fn name(first: u64) -> String {
    format!("{PREFIX}{first:012}{SUFFIX}")
}

/// Returns the path of that file.
pub(crate) fn path(folder: &Path, first: u64) -> PathBuf {
    folder.join(name(first))
}

/// Lists the files in order, each with the number in its name.
pub(crate) fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>, JournalError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(JournalError::io(folder))? {
        let path = entry.map_err(JournalError::io(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name
            .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX))
            .and_then(|number| number.parse().ok());
        if let Some(number) = number {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}
