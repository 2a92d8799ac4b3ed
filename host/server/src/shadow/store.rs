//! Pairs on disk: a folder for each candidate, and in it one for each release beside it.
//!
//! Each row is one line of JSON, written in one call. When `pairs.jsonl` is full, it replaces
//! `pairs.before.jsonl`. The latest rows are always there, and the folder never exceeds twice the
//! limit. Sampled rows without a line are counted beside them ([`Counts`]).
//!
//! A folder may be deleted at any time. The next row creates it again.

use super::exclusions::{Counts, ExclusionReason};
use super::header::FolderHeader;
use domesday_evaluation::compare::paired::PairedRow;
use domesday_package::replace_private;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Rows in a file, some 600 bytes each.
pub const MAX_ROWS: usize = 10_000;
/// The file that rows are added to.
pub const CURRENT_FILE: &str = "pairs.jsonl";
/// The previous file.
pub const PREVIOUS_FILE: &str = "pairs.before.jsonl";
/// The header.
pub const HEADER_FILE: &str = "about.json";

/// One row with its time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPair {
    /// Time of the current release's answer, to the minute: seconds since 1970-01-01 UTC.
    pub at: i64,
    /// The sampling share at that time, 0 to 1. Rows of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Both outcomes.
    pub pair: PairedRow,
}

/// Stores the pairs of one candidate.
pub(super) struct PairStore {
    folder: PathBuf,
    max_rows: usize,
    open: Option<OpenFolder>,
    /// Counts that are not written yet, by the release beside the candidate.
    pending_counts: BTreeMap<String, Counts>,
}

/// The open files beside one release.
struct OpenFolder {
    current: String,
    folder: PathBuf,
    file: File,
    rows: usize,
}

impl PairStore {
    /// Creates a store. Its folder is made for the first row.
    pub fn new(folder: PathBuf) -> PairStore {
        PairStore {
            folder,
            max_rows: MAX_ROWS,
            open: None,
            pending_counts: BTreeMap::new(),
        }
    }

    /// Stores a row beside the current release. `header` makes the header of a new folder.
    ///
    /// # Errors
    /// It cannot be written. The next row tries again.
    pub fn append(
        &mut self,
        current: &str,
        row: &StoredPair,
        header: impl FnOnce() -> FolderHeader,
    ) -> std::io::Result<()> {
        let mut open = self.open_files(current, row.at, header)?;
        if open.rows >= self.max_rows {
            let before = open.folder.join(PREVIOUS_FILE);
            let replaced = before.exists();
            fs::rename(open.folder.join(CURRENT_FILE), before)?;
            (open.file, open.rows) = appending(&open.folder)?;
            if replaced {
                let counts = self.pending_counts.entry(current.to_owned()).or_default();
                counts.replaced += self.max_rows as u64;
                // A failure is tried again soon.
                let _ = self.write_counts();
            }
        }
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        // One call: a reader can see a partial line only at the end.
        open.file.write_all(&line)?;
        open.rows += 1;
        self.open = Some(open);
        Ok(())
    }

    /// Counts excluded rows beside the current release, for [`PairStore::write_counts`].
    pub fn count_excluded(
        &mut self,
        current: &str,
        (reason, rows): (ExclusionReason, u64),
        at: i64,
        header: impl FnOnce() -> FolderHeader,
    ) {
        // Excluded rows alone need a folder, too. If it cannot be made, writing the counts reports
        // the error.
        self.open = self.open_files(current, at, header).ok();
        let counts = self.pending_counts.entry(current.to_owned()).or_default();
        counts.add_rows(reason, rows);
    }

    /// Writes the counts.
    ///
    /// # Errors
    /// They cannot be written. They stay counted and are tried again.
    pub fn write_counts(&mut self) -> std::io::Result<()> {
        while let Some(entry) = self.pending_counts.first_entry() {
            let folder = self.folder.join(entry.key());
            // The folder may have been deleted meanwhile.
            create_folder(&folder)?;
            entry.get().add_to(&folder)?;
            entry.remove();
        }
        Ok(())
    }

    /// Returns the files beside this release, created again where they were deleted.
    fn open_files(
        &mut self,
        current: &str,
        at: i64,
        header: impl FnOnce() -> FolderHeader,
    ) -> std::io::Result<OpenFolder> {
        match self.open.take() {
            Some(open) if open.current == current && open.is_in_place() => Ok(open),
            _ => OpenFolder::new(&self.folder, current, at, &header()),
        }
    }
}

impl OpenFolder {
    fn new(
        candidate: &Path,
        current: &str,
        at: i64,
        header: &FolderHeader,
    ) -> std::io::Result<OpenFolder> {
        let folder = candidate.join(current);
        create_folder(&folder)?;
        replace_private(&folder.join(HEADER_FILE), &serde_json::to_vec(header)?)?;
        let start = Counts {
            since: Some(at),
            ..Counts::default()
        };
        start.add_to(&folder)?;
        let (file, rows) = appending(&folder)?;
        Ok(OpenFolder {
            current: current.to_owned(),
            folder,
            file,
            rows,
        })
    }

    /// Reports whether the open file is still the one at its path.
    fn is_in_place(&self) -> bool {
        let at_path = fs::metadata(self.folder.join(CURRENT_FILE));
        let (Ok(at_path), Ok(open)) = (at_path, self.file.metadata()) else {
            return false;
        };
        (at_path.dev(), at_path.ino()) == (open.dev(), open.ino())
    }
}

/// Creates the folder of a release and the shadow folders above it. The data folder is never
/// created: a new one would prevent a moved one from being moved back.
fn create_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(data) = folder.ancestors().nth(3) {
        fs::metadata(data)?;
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// Opens the file that rows are added to and counts them. Completes a last line that a crash cut
/// off.
fn appending(folder: &Path) -> std::io::Result<(File, usize)> {
    let path = folder.join(CURRENT_FILE);
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(&path)?;
    let bytes = fs::read(&path)?;
    if bytes.last().is_some_and(|last| *last != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok((file, bytes.iter().filter(|byte| **byte == b'\n').count()))
}

/// Reads the rows of a folder, oldest first, without a line that a crash cut off.
///
/// # Errors
/// A file exists and cannot be read.
pub fn rows(folder: &Path) -> std::io::Result<Vec<StoredPair>> {
    let mut rows = Vec::new();
    for path in [folder.join(PREVIOUS_FILE), folder.join(CURRENT_FILE)] {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::new(file).split(b'\n') {
            rows.extend(serde_json::from_slice::<StoredPair>(&line?).ok());
        }
    }
    Ok(rows)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
