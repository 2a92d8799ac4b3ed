//! The snapshots that the receipts of each file need for their replay. A header names the snapshot
//! of its receipt, but nobody reads all headers to learn which snapshots may go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use domesday_package::Sha256Digest;
use serde::{Deserialize, Serialize};

use crate::json_lines::{append_line, read_lines};
use crate::line::Need;

use crate::{JournalError, segment};

/// The file that names the snapshots.
const SNAPSHOTS: &str = "snapshots.jsonl";

/// A snapshot without which receipts cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededSnapshot {
    /// Its content digest.
    pub snapshot: Sha256Digest,
    /// A release that is pinned to it.
    pub release_id: String,
    /// The number in the name of the first file whose receipts need it.
    pub first_file: u64,
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The number in the name of the file of receipts.
    file: u64,
    snapshot: Sha256Digest,
    release: String,
}

/// Reads which snapshots the receipts need that are in the folder, in the order of the files.
///
/// # Errors
/// [`JournalError::Io`] if the folder cannot be read.
pub fn needed_snapshots(folder: &Path) -> Result<Vec<NeededSnapshot>, JournalError> {
    let files: BTreeSet<u64> = (segment::list(folder)?.into_iter())
        .map(|(first, _)| first)
        .collect();
    let mut lines = read(folder)?;
    lines.retain(|line| files.contains(&line.file));
    lines.sort_by_key(|line| line.file);
    let mut found: BTreeMap<String, NeededSnapshot> = BTreeMap::new();
    for Line {
        file,
        snapshot,
        release,
    } in lines
    {
        found.entry(snapshot.to_string()).or_insert(NeededSnapshot {
            snapshot,
            release_id: release,
            first_file: file,
        });
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_key(|needed| needed.first_file);
    Ok(found)
}

fn read(folder: &Path) -> Result<Vec<Line>, JournalError> {
    // A crash may tear the last line. No receipt was written after it.
    read_lines(folder, SNAPSHOTS)
}

/// The writer's side of the file.
pub(crate) struct SnapshotNotes {
    folder: PathBuf,
    known: BTreeSet<(u64, String)>,
    /// The last need that was noted, which is mostly the next one.
    last: Option<(u64, Sha256Digest)>,
}

impl SnapshotNotes {
    /// Reads what is noted already.
    pub(crate) fn open(folder: &Path) -> Result<SnapshotNotes, JournalError> {
        let known = read(folder)?.into_iter();
        Ok(SnapshotNotes {
            folder: folder.to_owned(),
            known: known
                .map(|line| (line.file, line.snapshot.to_string()))
                .collect(),
            last: None,
        })
    }

    /// Notes durably that receipts of a file need a snapshot.
    pub(crate) fn note(&mut self, file: u64, need: &Need) -> Result<(), JournalError> {
        let this = Some((file, need.snapshot));
        if self.last == this {
            return Ok(());
        }
        let key = (file, need.snapshot.to_string());
        if !self.known.contains(&key) {
            let line = Line {
                file,
                snapshot: need.snapshot,
                release: need.release.clone(),
            };
            append_line(&self.folder, SNAPSHOTS, &line)?;
            self.known.insert(key);
        }
        self.last = this;
        Ok(())
    }
}
