//! The snapshots that receipts need for their replay, and that are not among the releases.

use domesday_journal::{JournalError, NeededSnapshot, needed_snapshots};
use domesday_package::{Kind, PropertyBody, Trust, read_claimed_body};
use domesday_valuation::release_store::package_ids;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// A snapshot that receipts of the journal need, and that is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSnapshot(NeededSnapshot);

impl fmt::Display for MissingSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NeededSnapshot {
            snapshot,
            release_id,
            first_file,
        } = &self.0;
        write!(
            f,
            "the snapshot {snapshot} of release {release_id}, which receipts of the file from {first_file} on need"
        )
    }
}

/// Finds the snapshots that receipts of a journal need and that no package under `releases` claims
/// to be with a database beside it. Reads manifests, and no database. Blocks.
///
/// # Errors
/// The journal cannot be read.
pub fn find_missing_snapshots(
    journal: &Path,
    releases: &Path,
    trust: &Trust,
) -> Result<Vec<MissingSnapshot>, JournalError> {
    if !journal.exists() {
        return Ok(Vec::new());
    }
    let needed = needed_snapshots(journal)?;
    if needed.is_empty() {
        return Ok(Vec::new());
    }
    let folder = releases.join(Kind::Property.as_str());
    // Without the folder all are missing.
    let ids = package_ids(&folder).unwrap_or_default().into_iter();
    let digest = |id| {
        let package = folder.join(id);
        let body: PropertyBody = read_claimed_body(&package, trust).ok()?;
        // Its database is nearly all of its bytes, so that somebody may have removed it alone.
        let is_there = package.join(body.database.as_str()).is_file();
        is_there.then(|| body.content_digest.to_string())
    };
    let held: BTreeSet<String> = ids.filter_map(digest).collect();
    let missing = needed.into_iter();
    let missing = missing.filter(|needed| !held.contains(&needed.snapshot.to_string()));
    Ok(missing.map(MissingSnapshot).collect())
}
