//! Publishing: blobs first, then the package's artifact, then the component's under the release's
//! id.
//!
//! In this order every tag names a whole artifact. A partial package from an earlier push is
//! completed.

use super::artifact::EMPTY;
use super::existing::ExistingPackage;
use super::transfer::Transfer;
use super::{RegistryError, artifact, existing};
use domesday_engine::component::outline;
use domesday_package::manifest::{MANIFEST, SIGNATURE};
use domesday_package::{
    Attachments, FileEntry, Kind, LARGEST_VERIFIED_AGAIN, Package, PublishOutcome, Sha256Digest,
    Trust, ValuationBody,
};
use domesday_registers::Progress;
use oci_client::RegistryOperation;
use oci_client::manifest::OciImageManifest;
use std::io;

/// The component's artifact of a release.
struct Component {
    artifact: OciImageManifest,
    config: Vec<u8>,
    /// True if the tag is free or names an older artifact of the same package.
    needs_upload: bool,
}

/// Publishes a package, or completes a partial one.
///
/// # Errors
/// [`RegistryError::Republished`] or [`RegistryError::Altered`] if something else is under the id,
/// [`RegistryError::Component`] if the component cannot be described. [`RegistryError::Package`] if
/// the package cannot be read. Otherwise the error of the login or of a transfer.
pub async fn publish(
    to: &Transfer,
    package: &Package,
    progress: &mut Progress<'_>,
) -> Result<PublishOutcome, RegistryError> {
    let manifest = package.manifest();
    let address = to.address();
    let (stored, own_signature) = package.heads()?;
    to.log_in(RegistryOperation::Push).await?;

    let reference = address.with_tag(&artifact::tag(manifest.kind, &manifest.id));
    let there = existing::package(to, package, &stored, &reference).await?;
    // Its own signature stays, as in a packages folder.
    let stored_signature = there.as_ref().and_then(|there| there.signature.clone());
    let signature = stored_signature.or(own_signature);
    let own_attachments = Attachments::read(package.directory())?;
    let attachments = match &there {
        Some(there) if !own_attachments.outweigh(&there.attachments, package, &Trust::Unsigned) => {
            there.attachments.clone()
        }
        _ => own_attachments,
    };
    let whole = artifact::package(manifest, &stored, signature.as_deref(), &attachments);
    let whole = serialize(&whole);
    let listed = signature.as_deref().map(artifact::entry);
    let listed_attachments = artifact::list_attachments(&attachments);
    let up_to_date = there
        .as_ref()
        .filter(|there| there.listed == listed && there.listed_attachments == listed_attachments);
    let digest = match up_to_date {
        Some(there) => there.digest.clone(),
        None => artifact::blob(&Sha256Digest::of(&whole)),
    };
    // Before anything is sent: it may be refused.
    let component = match manifest.kind {
        Kind::Valuation => Some(component(to, package, &digest, there.as_ref(), &reference).await?),
        _ => None,
    };

    let mut uploaded = to.put_bytes(EMPTY, "the configuration").await?;
    for (file, entry) in &manifest.files {
        let path = package.path(file.as_str())?;
        let file = file.as_str();
        match to.put_file(&path, file, entry, progress).await? {
            true => uploaded = true,
            false if there.is_some() => verify_again(to, file, entry, progress).await?,
            false => {}
        }
    }
    uploaded |= to.put_bytes(&stored, MANIFEST).await?;
    if let Some(signature) = &signature {
        uploaded |= to.put_bytes(signature, SIGNATURE).await?;
    }
    for (name, bytes) in attachments.iter() {
        uploaded |= to.put_bytes(bytes, name).await?;
    }
    if up_to_date.is_none() {
        let tag = artifact::package_tag(manifest.kind, &manifest.id);
        to.put_manifest(&tag, &whole).await?;
        uploaded = true;
    }
    // Last, and also where the package is there: its publisher may have been cut off before this.
    if let Some(component) = component {
        uploaded |= to.put_bytes(&component.config, "its configuration").await?;
        if component.needs_upload {
            to.put_manifest(manifest.id.as_str(), &serialize(&component.artifact))
                .await?;
            uploaded = true;
        }
    }
    Ok(match there {
        None => PublishOutcome::Copied,
        Some(_) if uploaded => PublishOutcome::Completed,
        Some(there) => PublishOutcome::AlreadyThere(there.signer),
    })
}

/// Returns the artifact of the component alone, which names the package's, and its configuration.
async fn component(
    to: &Transfer,
    package: &Package,
    digest: &str,
    there: Option<&ExistingPackage>,
    reference: &str,
) -> Result<Component, RegistryError> {
    let body: ValuationBody = package.body()?;
    let file = body.component.as_str();
    let bytes = package.bytes(file)?;
    let listed = (file, artifact::entry(&bytes));
    let outline = outline(&bytes)?;
    let (artifact, config) = artifact::component(package.manifest(), listed, outline, digest);
    let before = there.map(|there| there.digest.as_str());
    let named = existing::component(to, package, &artifact, before, reference).await?;
    Ok(Component {
        artifact,
        config,
        needs_upload: named.as_deref() != Some(digest),
    })
}

/// Checks that a file from an earlier push still has its bytes. For a larger one the registry
/// states its digest and size.
async fn verify_again(
    to: &Transfer,
    file: &str,
    entry: &FileEntry,
    progress: &mut Progress<'_>,
) -> Result<(), RegistryError> {
    if entry.bytes <= LARGEST_VERIFIED_AGAIN {
        to.fetch(file, entry, progress, || Ok(io::sink())).await?;
    }
    Ok(())
}

/// Serialises a manifest. Its bytes decide its digest: this is the only way to write one.
fn serialize(manifest: &OciImageManifest) -> Vec<u8> {
    // Texts and whole numbers alone: there is nothing in it that could fail to be written.
    serde_json::to_vec(manifest).unwrap_or_default()
}
