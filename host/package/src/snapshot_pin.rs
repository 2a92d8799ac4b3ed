//! The comparison of a snapshot with a release's pin. An id alone does not prove that they agree.

use crate::{
    Kind, PackageError, PropertyBody, SnapshotPin, Trust, ValuationBody, read_claimed_body,
};
use std::path::Path;

/// A release and a snapshot that do not belong together.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The snapshot has other content.
    #[error(
        "release {release} is pinned to the content {pinned} of snapshot {snapshot}, but {snapshot} in \
         {location} has {found}: another snapshot has the same id. Move it away and fetch the pinned \
         one with `domesday release pull`"
    )]
    Other {
        /// The release's id.
        release: String,
        /// The snapshot's.
        snapshot: String,
        /// The content that the release wants.
        pinned: String,
        /// The package that holds the snapshot.
        location: String,
        /// The content that it has.
        found: String,
    },
    /// There is none.
    #[error(
        "pinned snapshot {snapshot} not found in {location}. Fetch it with `domesday release pull`"
    )]
    Absent {
        /// The snapshot's id.
        snapshot: String,
        /// The folder or package that was searched.
        location: String,
    },
    /// It is there and cannot be used.
    #[error(transparent)]
    Package(#[from] PackageError),
}

/// Compares a snapshot's body with the release's pin.
///
/// # Errors
/// [`PinError::Other`].
pub fn check_pin(
    release: &ValuationBody,
    snapshot: &PropertyBody,
    location: &str,
) -> Result<(), PinError> {
    let SnapshotPin { id, content_digest } = &release.snapshot;
    if snapshot.content_digest == *content_digest {
        return Ok(());
    }
    Err(PinError::Other {
        release: release.release_id.to_string(),
        snapshot: id.to_string(),
        pinned: content_digest.to_string(),
        location: location.to_owned(),
        found: snapshot.content_digest.to_string(),
    })
}

/// Checks that the folder of releases holds the pinned snapshot. It reads the signed manifest
/// alone, none of the data.
///
/// # Errors
/// [`PinError`] if the snapshot is absent, differs from the pin or is not trusted.
pub fn find_pinned_snapshot(
    releases: &Path,
    release: &ValuationBody,
    trust: &Trust,
) -> Result<(), PinError> {
    let folder = releases.join(Kind::Property.as_str());
    let (id, location) = (&release.snapshot.id, folder.display().to_string());
    let directory = folder.join(id.as_str());
    if !directory.exists() {
        return Err(PinError::Absent {
            snapshot: id.to_string(),
            location,
        });
    }
    check_pin(release, &read_claimed_body(&directory, trust)?, &location)
}
