//! The package that is under an id already.

use std::fs;
use std::path::Path;

use crate::error::PackageErrorKind;
use crate::manifest::SIGNATURE;
use crate::{Attachments, Manifest, Package, PublicKey, Trust, Verification, signature};

/// The result of publishing a package into a packages folder.
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

/// The signature and the attachments that come with a manifest, and the keys whose reports count.
pub(crate) type Heads<'a> = (Option<&'a [u8]>, &'a Attachments, &'a Trust);

/// Looks for the package of `manifest` at `destination`, and returns `None` where nothing is there.
///
/// An unsigned package takes the signature that came. A signed one keeps its own. Attachments that
/// vouch for more than those that are there replace them. `verification` says how its files are
/// proved.
pub(crate) fn find_existing(
    destination: &Path,
    manifest: &Manifest,
    (new_signature, attachments, trust): Heads<'_>,
    verification: &dyn Verification,
) -> Result<Option<PublishOutcome>, PackageErrorKind> {
    if fs::symlink_metadata(destination).is_err() {
        return Ok(None);
    }
    let existing = Package::open_without_trust_with(destination, verification)?;
    if existing.manifest() != manifest {
        return Err(PackageErrorKind::Republished);
    }
    let signer = signature::signer(destination, manifest)?;
    let attached = attachments.complete(destination, &existing, trust)?;
    match (signer, new_signature) {
        (None, Some(bytes)) => {
            signature::put(destination, SIGNATURE, bytes)?;
            Ok(Some(PublishOutcome::Completed))
        }
        _ if attached => Ok(Some(PublishOutcome::Completed)),
        (signer, _) => Ok(Some(PublishOutcome::AlreadyThere(signer))),
    }
}
