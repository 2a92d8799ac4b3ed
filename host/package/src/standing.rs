//! What stands under an id already, and what it lacks.

use std::fs;
use std::path::Path;

use crate::error::Fault;
use crate::{Manifest, Package, Published, signature};

/// What is to be said where `place` holds `manifest`'s package already: none where nothing is there. A package that
/// nobody signed takes the signature that came; one that is signed keeps its own.
pub(crate) fn standing(
    place: &Path,
    manifest: &Manifest,
    came: Option<&[u8]>,
) -> Result<Option<Published>, Fault> {
    if fs::symlink_metadata(place).is_err() {
        return Ok(None);
    }
    let there = Package::open_unjudged(place)?;
    if there.manifest() != manifest {
        return Err(Fault::Republished);
    }
    let signer = signature::signer(place, manifest)?;
    match (signer, came) {
        (None, Some(bytes)) => {
            signature::put(place, bytes)?;
            Ok(Some(Published::Completed))
        }
        (signer, _) => Ok(Some(Published::AlreadyThere(signer))),
    }
}
