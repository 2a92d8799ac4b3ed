//! Publishing: blobs first, then the package's artifact, then the component's under the release's id, so that
//! whatever stands under an id is whole.

use super::artifact::{self, EMPTY};
use super::transfer::Transfer;
use super::{RegistryError, Told};
use domesday_breaks::broken;
use domesday_engine::component::outline;
use domesday_package::{Kind, Package, Published, Sha256Digest, ValuationBody};
use oci_client::RegistryOperation;
use oci_client::manifest::OciImageManifest;

/// Publishes a package, unless it is there.
pub async fn publish(
    to: &Transfer,
    package: &Package,
    told: &Told,
) -> Result<Published, RegistryError> {
    let manifest = package.manifest();
    let address = to.address();
    let (stored, signature) = package.heads()?;
    let whole = artifact::package(manifest, &stored, signature.as_deref());
    let tag = address.tagged(&artifact::package_tag(manifest.kind, &manifest.id));
    to.log_in(RegistryOperation::Push).await?;

    let place = address.with_tag(&artifact::tag(manifest.kind, &manifest.id));
    let there = match to.manifest(&tag).await? {
        Some((found, digest)) if !broken("registry-overwritten") => {
            let same = artifact::heads(&found, &place)?.manifest.sha256 == package.digest();
            if !same && !broken("registry-republished") {
                return Err(RegistryError::Republished { place });
            }
            // Its own signature stays, as on a shelf.
            Some(digest)
        }
        _ => None,
    };
    let published = match &there {
        Some(_) => Published::AlreadyThere,
        None => Published::Copied,
    };
    let whole_bytes = written(&whole);
    let digest = there.unwrap_or_else(|| artifact::blob(&Sha256Digest::of(&whole_bytes)));
    let component = match manifest.kind {
        Kind::Valuation => component(to, package, &digest, &place).await?,
        _ => None,
    };
    if published == Published::Copied {
        to.put_bytes(EMPTY, &artifact::entry(EMPTY)).await?;
        for (file, entry) in &manifest.files {
            let path = package.path(file.as_str())?;
            to.put_file(&path, file.as_str(), entry, told).await?;
        }
        to.put_bytes(&stored, &artifact::entry(&stored)).await?;
        if let Some(signature) = &signature {
            to.put_bytes(signature, &artifact::entry(signature)).await?;
        }
        to.put_manifest(&tag, &whole_bytes).await?;
    }
    // Also where the package is there: whoever published it may have been cut off before this.
    if let Some((artifact, config)) = component {
        to.put_bytes(&config, &artifact::entry(&config)).await?;
        let tag = address.tagged(manifest.id.as_str());
        to.put_manifest(&tag, &written(&artifact)).await?;
    }
    Ok(published)
}

/// The artifact of the component alone, which names the package's, with its configuration; none where it is there.
async fn component(
    to: &Transfer,
    package: &Package,
    digest: &str,
    place: &str,
) -> Result<Option<(OciImageManifest, Vec<u8>)>, RegistryError> {
    let tag = to.address().tagged(package.manifest().id.as_str());
    if let Some((found, _)) = to.manifest(&tag).await? {
        return match artifact::package_of(&found, place)? == digest {
            true => Ok(None),
            false => Err(RegistryError::Republished {
                place: place.to_owned(),
            }),
        };
    }
    let body: ValuationBody = package.body()?;
    let file = body.component.as_str();
    let bytes = package.bytes(file)?;
    let outline = outline(&bytes)?;
    let listed = (file, artifact::entry(&bytes));
    let artifact = artifact::component(package.manifest(), listed, outline, digest);
    Ok(Some(artifact))
}

/// A manifest's bytes. They decide its digest, so there is one way to write them.
fn written(manifest: &OciImageManifest) -> Vec<u8> {
    // Texts and whole numbers alone: there is nothing in it that could fail to be written.
    serde_json::to_vec(manifest).unwrap_or_default()
}
