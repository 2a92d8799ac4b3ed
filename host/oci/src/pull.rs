//! Pulling: the manifest and its signature come first, and only a trusted package is fetched.
//! Its attachments come along, and are judged where it is promoted.

use super::artifact::Heads;
use super::transfer::Transfer;
use super::{RegistryError, artifact};
use domesday_package::manifest::{MANIFEST, SIGNATURE};
use domesday_package::{
    Attachments, FileEntry, Kind, PackageId, PublishOutcome, ReceiveState, RemoteManifest,
    TransferControl, Trust,
};
use domesday_registers::Progress;
use oci_client::RegistryOperation;
use std::path::Path;

/// A tag that no release has to have. The answer tells whether the repository may be read.
const PROBED_TAG: &str = "domesday-probe";

/// Fetches the manifest and signature of a package, and judges them.
///
/// # Errors
/// [`RegistryError::Absent`] if the tag is free, [`RegistryError::PackageGone`] if it names a
/// package that is not there. [`RegistryError::NotAPackage`] for another artifact,
/// [`RegistryError::Package`] for one that is not trusted. Otherwise as [`Transfer::fetch`].
pub async fn fetch_manifest(
    from: &Transfer,
    (kind, id): (Kind, &PackageId),
    trust: &Trust,
) -> Result<RemoteManifest, RegistryError> {
    let address = from.address();
    let reference = address.with_tag(&artifact::tag(kind, id));
    let absent = || RegistryError::Absent {
        reference: reference.clone(),
    };
    from.log_in(RegistryOperation::Pull).await?;
    let tag = artifact::tag(kind, id);
    let (mut whole, _) = from.manifest(&tag).await?.ok_or_else(absent)?;
    if kind == Kind::Valuation {
        // The tag of a release's id holds its component, which names the package.
        let package = artifact::package_of(&whole, &reference)?;
        let gone = || RegistryError::PackageGone {
            reference: reference.clone(),
            package: package.clone(),
        };
        (whole, _) = from.manifest(&package).await?.ok_or_else(gone)?;
    }
    let Heads {
        manifest,
        signature,
        attachments: listed,
    } = artifact::heads(&whole, &reference)?;
    let stored = fetch_small(from, MANIFEST, &manifest).await?;
    let signature = match signature {
        Some(entry) => Some(fetch_small(from, SIGNATURE, &entry).await?),
        None => None,
    };
    let origin = Path::new(&reference);
    let remote = RemoteManifest::judge((kind, id), stored, signature, trust, origin)?;
    let mut attachments = Attachments::default();
    for (name, entry) in &listed {
        attachments.insert(name, fetch_small(from, name, entry).await?);
    }
    Ok(remote.with_attachments(attachments))
}

/// Logs in and asks for a tag, whether there is one or not.
///
/// # Errors
/// The refusal of the registry, or the error of the connection.
pub async fn probe(from: &Transfer) -> Result<(), RegistryError> {
    from.log_in(RegistryOperation::Pull).await?;
    match from.manifest(PROBED_TAG).await {
        Ok(_) | Err(RegistryError::NotAPackage { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Fetches the files of a judged package and puts it on `packages_dir`, unless it is there.
///
/// # Errors
/// As [`Transfer::fetch`], or [`RegistryError::Package`] if the package cannot be put in place.
/// Nothing is kept then.
pub async fn pull(
    from: &Transfer,
    remote: RemoteManifest,
    (packages_dir, control): (&Path, &TransferControl),
    progress: &mut Progress<'_>,
) -> Result<PublishOutcome, RegistryError> {
    let arriving = match remote.begin_receiving(packages_dir, control)? {
        ReceiveState::Existing(published) => return Ok(published),
        ReceiveState::Receiving(arriving) => arriving,
    };
    for (file, entry) in &arriving.remote_manifest().manifest().files {
        let sink = || Ok(arriving.create(file)?);
        from.fetch(file.as_str(), entry, progress, sink).await?;
    }
    Ok(arriving.finish(control)?)
}

/// Fetches a file whose declared size was checked against a bound.
///
/// # Errors
/// As [`Transfer::fetch`].
pub async fn fetch_small(
    from: &Transfer,
    file: &str,
    entry: &FileEntry,
) -> Result<Vec<u8>, RegistryError> {
    let silent = &mut |_: &str, _: u64, _: u64| {};
    from.fetch(file, entry, silent, || Ok(Vec::new())).await
}
