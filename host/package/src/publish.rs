//! Handing a package on: the same bytes on another shelf, whole and durable, or not at all.

use std::path::Path;

use crate::error::Fault;
use crate::files::{read_small, sync_directory};
use crate::manifest::{MANIFEST, SIGNATURE};
use crate::sibling::Sibling;
use crate::signature::LARGEST_SIGNATURE;
use crate::standing::standing;
use crate::write::{copy, put_file, settle};
use crate::{Manifest, Package, PackageError, PublicKey, Source, signature};

/// How a package came onto a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It was copied.
    Copied,
    /// It was there already, with the same bytes; what it lacked, a signature or a part that had gone, it has now.
    Completed,
    /// It was there already, whole and with the same bytes. Its signature stays, by this key if any.
    AlreadyThere(Option<PublicKey>),
}

/// Copies `package` as `<shelf>/<id>`, its manifest and signature to the letter; the shelf is made where it is
/// missing. Every file is hashed as it is copied, so that what arrives is what the manifest says, whatever
/// happened to the package since it was opened. A package that is there already with the same bytes, and that nobody
/// signed, takes the signature of this one.
///
/// # Errors
/// [`Fault::Republished`] where the id is there with other bytes; [`Fault::Digest`] where a file is no longer what
/// it was.
pub fn publish(package: &Package, shelf: &Path) -> Result<Published, PackageError> {
    let place = shelf.join(package.manifest().id.as_str());
    publish_to(package, shelf, &place).map_err(|fault| fault.of(&place))
}

fn publish_to(package: &Package, shelf: &Path, place: &Path) -> Result<Published, Fault> {
    let manifest = package.manifest();
    let signature = signature_of(package)?;
    if let Some(published) = standing(place, manifest, signature.as_deref())? {
        return Ok(published);
    }
    let sibling = Sibling::new(shelf, &manifest.id)?;
    for (file, expected) in &manifest.files {
        let from = package.directory().join(file.as_str());
        let found = copy(sibling.path(), file, &Source::Path(from))?;
        if found.sha256 != expected.sha256 {
            return Err(Fault::Digest {
                file: file.clone(),
                expected: expected.sha256,
                found: found.sha256,
            });
        }
    }
    // There is one stored form, so that these are the bytes that were opened.
    put_file(&sibling.path().join(MANIFEST), &manifest.stored()?)?;
    if let Some(bytes) = &signature {
        put_file(&sibling.path().join(SIGNATURE), bytes)?;
    }
    sync_directory(sibling.path())?;
    arrived(sibling, shelf, place, manifest, signature.as_deref())
}

/// Puts a finished sibling in place, or finds that another came first with the same.
pub(crate) fn arrived(
    sibling: Sibling,
    shelf: &Path,
    place: &Path,
    manifest: &Manifest,
    signature: Option<&[u8]>,
) -> Result<Published, Fault> {
    if settle(sibling, shelf, place, manifest)? {
        return Ok(Published::Copied);
    }
    Ok(standing(place, manifest, signature)?.unwrap_or(Published::Copied))
}

/// The bytes of a package's signature, which are still those of the key that it was opened with.
fn signature_of(package: &Package) -> Result<Option<Vec<u8>>, Fault> {
    let Some(key) = package.signer() else {
        return Ok(None);
    };
    let bytes = read_small(package.directory(), SIGNATURE, LARGEST_SIGNATURE)?.unwrap_or_default();
    match signature::judge(&bytes, package.manifest())? == *key {
        true => Ok(Some(bytes)),
        false => Err(Fault::SignatureMismatch { key: *key }),
    }
}

impl Package {
    /// The bytes of `manifest.json` and, where it is signed, of `manifest.sig`: what is sent ahead of the files.
    ///
    /// # Errors
    /// Where the signature is no longer the one that it was opened with.
    pub fn heads(&self) -> Result<(Vec<u8>, Option<Vec<u8>>), PackageError> {
        let attempt = || Ok((self.manifest().stored()?, signature_of(self)?));
        attempt().map_err(|fault: Fault| fault.of(self.directory()))
    }
}
