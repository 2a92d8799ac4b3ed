//! The releases and snapshots that the receipts of each file need for their replay. A header names
//! those of its receipt, but nobody reads all headers to learn which packages may go.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domesday_package::Sha256Digest;
use serde::{Deserialize, Serialize};

use crate::json_lines::{append_line, read_lines};
use crate::line::Need;

use crate::{JournalError, segment};

/// The file that names the releases and snapshots.
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

/// A release without which receipts cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededRelease {
    /// Its id.
    pub release_id: String,
    /// The digest of its manifest. Notes of earlier versions lack it.
    pub package: Option<Sha256Digest>,
    /// The number in the name of the first file whose receipts need it.
    pub first_file: u64,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The number in the name of the file of receipts.
    file: u64,
    /// None for receipts that hold their evidence. An earlier version passes over such a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<Sha256Digest>,
    release: String,
    /// The digest of the release's manifest. An earlier version passes over such a line, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    package: Option<Sha256Digest>,
}

/// The packages that receipts need for their replay, each in the order of the files.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct NeededPackages {
    /// The snapshots.
    pub snapshots: Vec<NeededSnapshot>,
    /// The releases.
    pub releases: Vec<NeededRelease>,
}

/// Reads which packages the receipts need that are in the folder.
///
/// # Errors
/// [`JournalError::Io`] if the folder cannot be read.
pub fn needed_packages(folder: &Path) -> Result<NeededPackages, JournalError> {
    let files: BTreeSet<u64> = (segment::list(folder)?.into_iter())
        .map(|(first, _)| first)
        .collect();
    let mut lines = read(folder)?;
    lines.retain(|line| files.contains(&line.file));
    lines.sort_by_key(|line| line.file);
    let (mut digests, mut needed) = (BTreeSet::new(), NeededPackages::default());
    for line in lines {
        let (release_id, first_file) = (line.release, line.file);
        if let Some(snapshot) = line.snapshot
            && digests.insert(snapshot.to_string())
        {
            needed.snapshots.push(NeededSnapshot {
                snapshot,
                release_id: release_id.clone(),
                first_file,
            });
        }
        let release = NeededRelease {
            release_id,
            package: line.package,
            first_file,
        };
        add_release(&mut needed.releases, release);
    }
    Ok(needed)
}

/// Adds a release that is not listed yet. A note without a manifest counts as one of the next
/// manifest that is noted of the release.
fn add_release(releases: &mut Vec<NeededRelease>, needed: NeededRelease) {
    let is_same = |known: &NeededRelease| {
        let mut packages = known.package.iter().zip(&needed.package);
        known.release_id == needed.release_id && packages.all(|(known, needed)| known == needed)
    };
    match releases.iter().position(is_same) {
        Some(at) => {
            let known = &mut releases[at];
            known.package = known.package.or(needed.package);
        }
        None => releases.push(needed),
    }
}

fn read(folder: &Path) -> Result<Vec<Line>, JournalError> {
    // A crash may tear the last line. No receipt was written after it.
    read_lines(folder, SNAPSHOTS)
}

/// The writer's side of the file.
pub(crate) struct SnapshotNotes {
    folder: PathBuf,
    known: BTreeSet<Line>,
    /// The last need that was noted, which is mostly the next one.
    last: Option<(u64, Need)>,
}

impl SnapshotNotes {
    /// Reads what is noted already.
    pub(crate) fn open(folder: &Path) -> Result<SnapshotNotes, JournalError> {
        Ok(SnapshotNotes {
            folder: folder.to_owned(),
            known: read(folder)?.into_iter().collect(),
            last: None,
        })
    }

    /// Notes durably that receipts of a file need a release, and a snapshot where they do.
    pub(crate) fn note(&mut self, file: u64, need: &Need) -> Result<(), JournalError> {
        let is_last = |(noted, last): &(u64, Need)| *noted == file && last == need;
        if self.last.as_ref().is_some_and(is_last) {
            return Ok(());
        }
        let line = Line {
            file,
            snapshot: need.snapshot,
            release: need.release.clone(),
            package: Some(need.package),
        };
        if !self.known.contains(&line) {
            append_line(&self.folder, SNAPSHOTS, &line)?;
            self.known.insert(line);
        }
        self.last = Some((file, need.clone()));
        Ok(())
    }
}
