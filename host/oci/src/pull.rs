//! Pulling: the manifest and its signature come first, and only a trusted package is fetched.

use super::artifact::Heads;
use super::transfer::Transfer;
use super::{RegistryError, SharedProgress, artifact};
use domesday_package::manifest::{MANIFEST, SIGNATURE};
use domesday_package::{
    FileEntry, Kind, PackageId, PublishOutcome, ReceiveState, RemoteManifest, Trust,
};
use oci_client::RegistryOperation;
use std::path::Path;
use std::sync::Arc;

/// Fetches the manifest and signature of a package, and judges them.
pub async fn announced(
    from: &Transfer,
    (kind, id): (Kind, &PackageId),
    trust: &Trust,
) -> Result<RemoteManifest, RegistryError> {
    let address = from.address();
    let place = address.with_tag(&artifact::tag(kind, id));
    let absent = || RegistryError::Absent {
        place: place.clone(),
    };
    from.log_in(RegistryOperation::Pull).await?;
    let tag = artifact::tag(kind, id);
    let (mut whole, _) = from.manifest(&tag).await?.ok_or_else(absent)?;
    if kind == Kind::Valuation {
        // What stands under a release's id is its component, which names the rest.
        let package = artifact::package_of(&whole, &place)?;
        let gone = || RegistryError::PackageGone {
            place: place.clone(),
            package: package.clone(),
        };
        (whole, _) = from.manifest(&package).await?.ok_or_else(gone)?;
    }
    let Heads {
        manifest,
        signature,
    } = artifact::heads(&whole, &place)?;
    let stored = small(from, MANIFEST, &manifest).await?;
    let signature = match signature {
        Some(entry) => Some(small(from, SIGNATURE, &entry).await?),
        None => None,
    };
    let from = Path::new(&place);
    Ok(RemoteManifest::judge(
        (kind, id),
        stored,
        signature,
        trust,
        from,
    )?)
}

/// Fetches the files of a judged package and puts it on `packages_dir`, unless it is there.
pub async fn pull(
    from: &Transfer,
    announced: RemoteManifest,
    packages_dir: &Path,
    progress: &SharedProgress,
) -> Result<PublishOutcome, RegistryError> {
    let arriving = match announced.begin_receiving(packages_dir)? {
        ReceiveState::There(published) => return Ok(published),
        ReceiveState::Awaited(arriving) => arriving,
    };
    for (file, entry) in &arriving.announced().manifest().files {
        let sink = || Ok(arriving.create(file)?);
        from.fetch(file.as_str(), entry, progress, sink).await?;
    }
    Ok(arriving.settle()?)
}

/// Fetches a file whose declared size was checked against a bound.
pub async fn small(
    from: &Transfer,
    file: &str,
    entry: &FileEntry,
) -> Result<Vec<u8>, RegistryError> {
    let nobody: SharedProgress = Arc::new(|_, _, _| {});
    from.fetch(file, entry, &nobody, || Ok(Vec::new())).await
}
