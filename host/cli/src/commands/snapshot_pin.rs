//! Whether a snapshot is the one that a release is pinned to. An id alone does not say it.

use domesday_package::{Kind, PropertyBody, SnapshotPin, Trust, ValuationBody, claimed_body};
use std::path::Path;

/// A release and a snapshot that do not belong together.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The snapshot has other content.
    #[error(
        "release {release} is pinned to the content {pinned} of snapshot {snapshot}, and {snapshot} in {place} has {found}: that is another snapshot under the same id"
    )]
    Other {
        /// The release's id.
        release: String,
        /// The snapshot's.
        snapshot: String,
        /// The content that the release wants.
        pinned: String,
        /// Where the snapshot is.
        place: String,
        /// The content that it has.
        found: String,
    },
    /// There is none.
    #[error("pinned snapshot {snapshot} not found in {place}")]
    Absent {
        /// The snapshot's id.
        snapshot: String,
        /// Where it was looked for.
        place: String,
    },
    /// It is there and cannot be used.
    #[error(transparent)]
    Package(#[from] domesday_package::PackageError),
}

/// Holds a snapshot's body against the release's pin.
///
/// # Errors
/// [`PinError::Other`].
pub fn pinned(
    release: &ValuationBody,
    snapshot: &PropertyBody,
    place: &str,
) -> Result<(), PinError> {
    let SnapshotPin { id, content_digest } = &release.snapshot;
    if snapshot.content_digest == *content_digest {
        return Ok(());
    }
    Err(PinError::Other {
        release: release.release_id.to_string(),
        snapshot: id.to_string(),
        pinned: content_digest.to_string(),
        place: place.to_owned(),
        found: snapshot.content_digest.to_string(),
    })
}

/// Whether the folder of releases holds the snapshot, by its signed manifest alone: none of its
/// gigabytes are read.
///
/// # Errors
/// Where there is none, it is another or it is not trusted.
pub fn here(releases: &Path, release: &ValuationBody, trust: &Trust) -> Result<(), PinError> {
    let folder = releases.join(Kind::Property.as_str());
    let (id, place) = (&release.snapshot.id, folder.display().to_string());
    let directory = folder.join(id.as_str());
    if !directory.exists() {
        return Err(PinError::Absent {
            snapshot: id.to_string(),
            place,
        });
    }
    pinned(release, &claimed_body(&directory, trust)?, &place)
}
