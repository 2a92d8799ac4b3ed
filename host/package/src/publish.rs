//! Publishing: the same bytes in another packages folder, whole and durable, or not at all.

use std::path::Path;

use crate::error::PackageErrorKind;
use crate::existing::{Heads, find_existing};
use crate::files::{read_small, sync_directory};
use crate::manifest::{MANIFEST, SIGNATURE};
use crate::signature::LARGEST_SIGNATURE;
use crate::staging::StagingDirectory;
use crate::write::{copy, put_file, rename_into_place};
use crate::{
    Attachments, Manifest, Package, PackageError, PublishOutcome, Source, TransferControl, Trust,
    signature,
};

/// Copies `package` as `<packages>/<id>`, with its manifest and signature to the letter.
///
/// A missing packages folder is created. Every file is hashed as it is copied: the copy has the
/// bytes of the manifest even if the package changed since it was opened. An unsigned package that
/// is there with the same bytes takes the signature of this one. The attachments come along, and
/// those that vouch for more replace others, whoever signed them. The control counts the bytes.
///
/// # Errors
/// [`PackageErrorKind::Republished`] where the id is there with other bytes.
/// [`PackageErrorKind::Digest`] where a file changed since the package was opened.
/// [`PackageErrorKind::Io`] where the transfer was stopped, and then nothing stays.
pub fn publish(
    package: &Package,
    packages_dir: &Path,
    control: &TransferControl,
) -> Result<PublishOutcome, PackageError> {
    // Whoever publishes may be asked by hosts that trust other keys.
    publish_under(&Trust::Unsigned, package, packages_dir, control)
}

/// Copies `package` as [`publish`] does, for a host that counts reports and approvals by the keys
/// of `trust` alone.
pub(crate) fn publish_under(
    trust: &Trust,
    package: &Package,
    packages_dir: &Path,
    control: &TransferControl,
) -> Result<PublishOutcome, PackageError> {
    let destination = packages_dir.join(package.manifest().id.as_str());
    publish_to(trust, package, (packages_dir, &destination), control)
        .map_err(|error| error.of(&destination))
}

fn publish_to(
    trust: &Trust,
    package: &Package,
    (packages_dir, destination): (&Path, &Path),
    control: &TransferControl,
) -> Result<PublishOutcome, PackageErrorKind> {
    let manifest = package.manifest();
    let signature = signature_of(package)?;
    let attachments = Attachments::read_from(package.directory())?;
    let heads = (signature.as_deref(), &attachments, trust);
    let existing = find_existing(destination, manifest, heads, control)?;
    if let Some(published) = existing {
        return Ok(published);
    }
    let staging = StagingDirectory::new(packages_dir, &manifest.id)?;
    control.note_staging(staging.path());
    for (file, expected) in &manifest.files {
        let from = package.directory().join(file.as_str());
        let found = copy(staging.path(), file, &Source::Path(from), control)?;
        if found.sha256 != expected.sha256 {
            return Err(PackageErrorKind::Digest {
                file: file.clone(),
                expected: expected.sha256,
                found: found.sha256,
            });
        }
    }
    // There is one stored form: these are the bytes that were opened.
    put_file(&staging.path().join(MANIFEST), &manifest.to_bytes()?)?;
    if let Some(bytes) = &signature {
        put_file(&staging.path().join(SIGNATURE), bytes)?;
    }
    attachments.put_new(staging.path())?;
    sync_directory(staging.path())?;
    put_in_place(staging, packages_dir, destination, manifest, heads, control)
}

/// Renames a finished staging directory into place, or finds that another process was first.
pub(crate) fn put_in_place(
    staging: StagingDirectory,
    packages_dir: &Path,
    destination: &Path,
    manifest: &Manifest,
    heads: Heads<'_>,
    control: &TransferControl,
) -> Result<PublishOutcome, PackageErrorKind> {
    control
        .release_staging()
        .map_err(PackageErrorKind::io(destination))?;
    if rename_into_place(staging, packages_dir, destination, manifest)? {
        return Ok(PublishOutcome::Copied);
    }
    let existing = find_existing(destination, manifest, heads, control)?;
    Ok(existing.unwrap_or(PublishOutcome::Copied))
}

/// Reads a package's signature and checks that its key is the one of the opened package.
fn signature_of(package: &Package) -> Result<Option<Vec<u8>>, PackageErrorKind> {
    let Some(key) = package.signer() else {
        return Ok(None);
    };
    let bytes = read_small(package.directory(), SIGNATURE, LARGEST_SIGNATURE)?.unwrap_or_default();
    match signature::judge(&bytes, package.manifest())? == *key {
        true => Ok(Some(bytes)),
        false => Err(PackageErrorKind::SignatureMismatch { key: *key }),
    }
}

impl Package {
    /// Returns the bytes of `manifest.json` and, if it is signed, of `manifest.sig`.
    ///
    /// A sender transmits them ahead of the files.
    ///
    /// # Errors
    /// The signature changed since the package was opened.
    pub fn heads(&self) -> Result<(Vec<u8>, Option<Vec<u8>>), PackageError> {
        let attempt = || Ok((self.manifest().to_bytes()?, signature_of(self)?));
        attempt().map_err(|error: PackageErrorKind| error.of(self.directory()))
    }
}
