//! Pairs on disk: a folder for each candidate, in it one for each release that it stood beside.
//!
//! Each row is a line of JSON that is written whole. So many lines are kept in `pairs.jsonl`; then
//! that becomes `pairs.before.jsonl`, in place of what had that name, so that the latest rows are
//! always there and the folder never grows past twice as many. Rows that were taken and are in no
//! line are counted beside them ([`Counts`]).
//!
//! Whoever deletes a folder while rows are added to it begins anew: it is made again for the next
//! row.

use super::exclusions::{Counts, ExclusionReason};
use super::header::FolderHeader;
use domesday_evaluation::compare::paired::PairedRow;
use domesday_valuation::private_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Rows in a file, some 600 bytes each.
pub const ROWS: usize = 10_000;
/// The rows that are written.
pub const NOW: &str = "pairs.jsonl";
/// The rows before them.
pub const BEFORE: &str = "pairs.before.jsonl";
/// What they are of.
pub const ABOUT: &str = "about.json";

/// One row with its time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPair {
    /// When the current release answered, to the minute: seconds since 1970-01-01 UTC.
    pub at: i64,
    /// Share of rows that was taken then, 0 to 1; absent in what older versions kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// What both said.
    pub pair: PairedRow,
}

/// Keeps pairs of one candidate.
pub(super) struct PairStore {
    folder: PathBuf,
    most: usize,
    open: Option<Open>,
    /// What is counted and not yet written, by the release that the rows stand beside.
    counted: BTreeMap<String, Counts>,
}

/// The rows beside one release.
struct Open {
    current: String,
    folder: PathBuf,
    file: File,
    rows: usize,
}

impl PairStore {
    /// Keeps them in this folder, which is made when there is the first.
    pub fn new(folder: PathBuf) -> PairStore {
        PairStore {
            folder,
            most: ROWS,
            open: None,
            counted: BTreeMap::new(),
        }
    }

    /// Keeps a row beside the current release; `about` says once what the rows are of.
    ///
    /// # Errors
    /// Where it cannot be written; the next row is tried anew.
    pub fn keep(
        &mut self,
        current: &str,
        row: &StoredPair,
        about: impl FnOnce() -> FolderHeader,
    ) -> std::io::Result<()> {
        let mut open = self.opened(current, row.at, about)?;
        if open.rows >= self.most {
            let before = open.folder.join(BEFORE);
            let replaced = before.exists();
            fs::rename(open.folder.join(NOW), before)?;
            (open.file, open.rows) = appending(&open.folder)?;
            if replaced {
                let counted = self.counted.entry(current.to_owned()).or_default();
                counted.replaced += self.most as u64;
                // Where it fails, it is tried again before long.
                let _ = self.write_counts();
            }
        }
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        // One call, so that a reader never sees a part of it but at the very end.
        open.file.write_all(&line)?;
        open.rows += 1;
        self.open = Some(open);
        Ok(())
    }

    /// Counts rows beside the current release that are left out; [`PairStore::write_counts`] writes
    /// it down.
    pub fn leave(
        &mut self,
        current: &str,
        (left, rows): (ExclusionReason, u64),
        at: i64,
        about: impl FnOnce() -> FolderHeader,
    ) {
        // Rows of which none is compared have a folder too. Where it cannot be made, the counts
        // cannot be written, which says so.
        self.open = self.opened(current, at, about).ok();
        let counted = self.counted.entry(current.to_owned()).or_default();
        counted.leave(left, rows);
    }

    /// Writes down what was counted.
    ///
    /// # Errors
    /// Where it cannot be; it stays counted, and can be tried again.
    pub fn write_counts(&mut self) -> std::io::Result<()> {
        while let Some(counted) = self.counted.first_entry() {
            let folder = self.folder.join(counted.key());
            // Somebody may have taken away one to which no row comes any more.
            make(&folder)?;
            counted.get().add_to(&folder)?;
            counted.remove();
        }
        Ok(())
    }

    /// The files beside this release, made again where somebody took them away.
    fn opened(
        &mut self,
        current: &str,
        at: i64,
        about: impl FnOnce() -> FolderHeader,
    ) -> std::io::Result<Open> {
        match self.open.take() {
            Some(open) if open.current == current && open.stands() => Ok(open),
            _ => Open::new(&self.folder, current, at, &about()),
        }
    }
}

impl Open {
    fn new(
        candidate: &Path,
        current: &str,
        at: i64,
        about: &FolderHeader,
    ) -> std::io::Result<Open> {
        let folder = candidate.join(current);
        make(&folder)?;
        private_file::write(&folder.join(ABOUT), &serde_json::to_vec(about)?)?;
        let began = Counts {
            since: Some(at),
            ..Counts::default()
        };
        began.add_to(&folder)?;
        let (file, rows) = appending(&folder)?;
        Ok(Open {
            current: current.to_owned(),
            folder,
            file,
            rows,
        })
    }

    /// Whether the file that rows are added to is still the one that has its name.
    fn stands(&self) -> bool {
        let named = fs::metadata(self.folder.join(NOW));
        let (Ok(named), Ok(open)) = (named, self.file.metadata()) else {
            return false;
        };
        (named.dev(), named.ino()) == (open.dev(), open.ino())
    }
}

/// Makes the folder of a release with the candidate's and the shadows' above it, unless they are
/// there. The data folder is never made: in the place of one that was moved, it would keep that
/// from being moved back.
fn make(folder: &Path) -> std::io::Result<()> {
    if let Some(data) = folder.ancestors().nth(3) {
        fs::metadata(data)?;
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// The file that rows are added to, and how many it has. The end of a row that was cut off when a
/// host went down is ended.
fn appending(folder: &Path) -> std::io::Result<(File, usize)> {
    let path = folder.join(NOW);
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(&path)?;
    let bytes = fs::read(&path)?;
    if bytes.last().is_some_and(|last| *last != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok((file, bytes.iter().filter(|byte| **byte == b'\n').count()))
}

/// The rows of a folder, oldest first. A line that was cut off is left out.
///
/// # Errors
/// Where a file is there and cannot be read.
pub fn rows(folder: &Path) -> std::io::Result<Vec<StoredPair>> {
    let mut rows = Vec::new();
    for path in [folder.join(BEFORE), folder.join(NOW)] {
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
