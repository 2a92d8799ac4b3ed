//! The package that is under an id already.

use std::fs;
use std::path::Path;

use crate::error::PackageErrorKind;
use crate::{Manifest, Package, PublicKey, signature};

/// How a package came into a packages folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It was copied.
    Copied,
    /// It was there with the same bytes and lacked a signature or a part, which it has now.
    Completed,
    /// It was there already, whole and with the same bytes. Its signature stays, by this key if
    /// any.
    AlreadyThere(Option<PublicKey>),
}

/// Looks for the package of `manifest` at `place`, and returns `None` where nothing is there.
///
/// An unsigned package takes the signature that came. A signed one keeps its own.
pub(crate) fn find_existing(
    place: &Path,
    manifest: &Manifest,
    came: Option<&[u8]>,
) -> Result<Option<PublishOutcome>, PackageErrorKind> {
    if fs::symlink_metadata(place).is_err() {
        return Ok(None);
    }
    let there = Package::open_unjudged(place)?;
    if there.manifest() != manifest {
        return Err(PackageErrorKind::Republished);
    }
    let signer = signature::signer(place, manifest)?;
    match (signer, came) {
        (None, Some(bytes)) => {
            signature::put(place, bytes)?;
            Ok(Some(PublishOutcome::Completed))
        }
        (signer, _) => Ok(Some(PublishOutcome::AlreadyThere(signer))),
    }
}
