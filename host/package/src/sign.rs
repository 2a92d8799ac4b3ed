//! Signing: a good signature is put beside the manifest of a package whose every byte agrees.

use std::path::Path;

use crate::error::PackageErrorKind;
use crate::manifest::SIGNATURE;
use crate::{Package, PackageError, SigningKey, signature};

/// Signs the package in `directory` and returns it as opened.
///
/// Every byte is checked first, because a signature vouches for the files as well. An earlier
/// signature is replaced: keys may change while an id's bytes may not.
///
/// # Errors
/// [`PackageError`] if the package is not whole and unaltered, or the signature cannot be written.
pub fn sign(directory: &Path, key: &SigningKey) -> Result<Package, PackageError> {
    let attempt = || {
        let package = Package::open_without_trust(directory)?;
        let detached = signature::DetachedSignature::of_manifest(key, package.manifest())?;
        signature::put(directory, SIGNATURE, detached.text().as_bytes())?;
        Ok(package.with_signer(key.public()))
    };
    attempt().map_err(|error: PackageErrorKind| error.of(directory))
}
