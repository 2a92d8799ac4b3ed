//! The package that is under an id already.

use std::fs;
use std::path::Path;

use crate::error::PackageErrorKind;
use crate::manifest::SIGNATURE;
use crate::{Attachments, Manifest, Package, PublicKey, Trust, Verification, signature};

/// Largest file that is fetched to verify it, where its package is published to a registry or an
/// object store that has it already, bytes.
pub const LARGEST_VERIFIED_AGAIN: u64 = 64 << 20;

/// The result of publishing a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It was copied.
    Copied,
    /// It was there with the same bytes and lacked a signature or a part, which it has now.
    Completed,
    /// It was there with damaged files, which were replaced. So it has the same bytes again.
    Repaired,
    /// It was there already, whole and with the same bytes. Its signature stays, by this key if
    /// any.
    AlreadyThere(Option<PublicKey>),
    /// It was there already. Files of more than [`LARGEST_VERIFIED_AGAIN`] bytes were not read, and
    /// have the sizes of this package's. All others have the same bytes.
    SizesCompared {
        /// The key of its signature, if any.
        signer: Option<PublicKey>,
        /// True if missing or damaged files were sent.
        sent: bool,
    },
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
