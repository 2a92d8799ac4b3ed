//! Files of the folder with one JSON object a line, beside those of receipts.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::JournalError;
use crate::folder::{OWNER_ONLY, sync_directory};

/// Reads the lines of a file of the folder, none where there is no file. Leaves out a line that
/// does not read, such as one that a crash tore.
pub(crate) fn read_lines<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
) -> Result<Vec<T>, JournalError> {
    let path = folder.join(name);
    match fs::read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(JournalError::io(&path)(error)),
    }
}

/// Appends a line to a file of the folder, and makes it durable. A line that a crash tore is ended
/// first.
pub(crate) fn append_line(
    folder: &Path,
    name: &str,
    line: &impl Serialize,
) -> Result<(), JournalError> {
    let path = folder.join(name);
    let append = || -> std::io::Result<bool> {
        let is_new = !path.exists();
        let text = serde_json::to_string(line)?;
        let torn = fs::read(&path).is_ok_and(|bytes| bytes.last().is_some_and(|end| *end != b'\n'));
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(OWNER_ONLY)
            .open(&path)?;
        let start = if torn { "\n" } else { "" };
        file.write_all(format!("{start}{text}\n").as_bytes())?;
        file.sync_all()?;
        Ok(is_new)
    };
    match append().map_err(JournalError::io(&path))? {
        true => sync_directory(folder),
        false => Ok(()),
    }
}
