//! Pulling: the manifest and its signature first; only what is trusted is fetched.

use super::artifact::{self, Heads};
use super::transfer::Transfer;
use super::{RegistryError, Told};
use domesday_breaks::broken;
use domesday_package::manifest::{MANIFEST, SIGNATURE};
use domesday_package::{Announced, Arrival, FileEntry, Kind, PackageId, Published, Trust};
use oci_client::RegistryOperation;
use std::path::Path;
use std::sync::Arc;

/// Fetches what a package says of itself, and judges it.
pub async fn announced(
    from: &Transfer,
    (kind, id): (Kind, &PackageId),
    trust: &Trust,
) -> Result<Announced, RegistryError> {
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
    Ok(Announced::judge(
        (kind, id),
        stored,
        signature,
        match broken("registry-trust") {
            true => &Trust::Unsigned,
            false => trust,
        },
        from,
    )?)
}

/// Fetches the files of what was announced and puts the package on `shelf`, unless it is there.
pub async fn pull(
    from: &Transfer,
    announced: Announced,
    shelf: &Path,
    told: &Told,
) -> Result<Published, RegistryError> {
    let arriving = match announced.awaited(shelf)? {
        Arrival::There(published) => return Ok(published),
        Arrival::Awaited(arriving) => arriving,
    };
    for (file, entry) in &arriving.announced().manifest().files {
        let sink = || Ok(arriving.create(file)?);
        from.fetch(file.as_str(), entry, told, sink).await?;
    }
    Ok(arriving.settle()?)
}

/// A file that is small by its own declaration, which was held against a bound.
pub async fn small(
    from: &Transfer,
    file: &str,
    entry: &FileEntry,
) -> Result<Vec<u8>, RegistryError> {
    let nobody: Told = Arc::new(|_, _, _| {});
    from.fetch(file, entry, &nobody, || Ok(Vec::new())).await
}
