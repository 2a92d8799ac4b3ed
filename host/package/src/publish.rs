//! Handing a package on: the same bytes on another shelf, whole and durable, or not at all.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::Fault;
use crate::files::{read_small, sync_directory};
use crate::manifest::{MANIFEST, SIGNATURE};
use crate::signature::LARGEST_SIGNATURE;
use crate::write::{copy, put_file, settle};
use crate::{Package, PackageError, Source, signature};

/// How a package came onto a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It was copied.
    Copied,
    /// It was there already, with the same bytes; its signature stays.
    AlreadyThere,
}

/// Copies `package` as `<shelf>/<id>`, its manifest and signature to the letter; the shelf is made where it is
/// missing. Every file is hashed as it is copied, so that what arrives is what the manifest says, whatever
/// happened to the package since it was opened.
///
/// # Errors
/// [`Fault::Republished`] where the id is there with other bytes; [`Fault::Digest`] where a file is no longer what
/// it was.
pub fn publish(package: &Package, shelf: &Path) -> Result<Published, PackageError> {
    let place = shelf.join(package.manifest().id.as_str());
    publish_to(package, shelf, &place).map_err(|fault| fault.of(&place))
}

fn publish_to(package: &Package, shelf: &Path, place: &Path) -> Result<Published, Fault> {
    fs::create_dir_all(shelf).map_err(Fault::io(shelf))?;
    let manifest = package.manifest();
    let sibling = tempfile::Builder::new()
        .prefix(&format!(".{}-", manifest.id))
        .permissions(Permissions::from_mode(0o755))
        .tempdir_in(shelf)
        .map_err(Fault::io(shelf))?;
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
    if let Some(bytes) = signature_of(package)? {
        put_file(&sibling.path().join(SIGNATURE), &bytes)?;
    }
    sync_directory(sibling.path())?;
    match settle(sibling, shelf, place, manifest)? {
        true => Ok(Published::Copied),
        false => Ok(Published::AlreadyThere),
    }
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
