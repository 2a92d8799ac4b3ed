//! The artifacts that are under a package's tags already.

use super::artifact::Heads;
use super::pull::fetch_small;
use super::transfer::Transfer;
use super::{RegistryError, artifact};
use domesday_package::manifest::{MANIFEST, SIGNATURE};
use domesday_package::{Attachments, FileEntry, Package, PublicKey, RemoteManifest, Trust};
use oci_client::manifest::OciImageManifest;
use std::path::Path;

/// The same package, found in the repository.
pub struct ExistingPackage {
    /// The digest of its artifact.
    pub digest: String,
    /// Its signature, where it has one that can be fetched.
    pub signature: Option<Vec<u8>>,
    /// The key that made the signature.
    pub signer: Option<PublicKey>,
    /// The signature's entry in the artifact.
    pub listed: Option<FileEntry>,
    /// Its attachments that can be fetched.
    pub attachments: Attachments,
    /// The entries of all attachments in the artifact.
    pub listed_attachments: Vec<(&'static str, FileEntry)>,
}

/// Looks for the package under its own tag, and returns `None` where the tag is free.
///
/// # Errors
/// The tag holds another package, or one that differs from its manifest.
pub async fn package(
    to: &Transfer,
    package: &Package,
    stored: &[u8],
    reference: &str,
) -> Result<Option<ExistingPackage>, RegistryError> {
    let manifest = package.manifest();
    let tag = artifact::package_tag(manifest.kind, &manifest.id);
    let Some((found, digest)) = to.manifest(&tag).await? else {
        return Ok(None);
    };
    let heads = artifact::heads(&found, reference)?;
    let mut existing = ExistingPackage {
        digest,
        signature: None,
        signer: None,
        listed: heads.signature,
        attachments: Attachments::default(),
        listed_attachments: heads.attachments.clone(),
    };
    if heads.manifest.sha256 != package.digest() {
        return Err(RegistryError::Republished {
            reference: reference.to_owned(),
        });
    }
    let altered = |problem: &str| RegistryError::Altered {
        reference: reference.to_owned(),
        problem: problem.to_owned(),
    };
    let content = artifact::package(manifest, stored, None, &Attachments::default());
    if !artifact::same_files(&found, &content) {
        return Err(altered("its files are not those of its manifest"));
    }
    verify_manifest(to, &heads).await?;
    if let Some(entry) = &heads.signature
        && to.has(SIGNATURE, entry).await?
    {
        let bytes = fetch_small(to, SIGNATURE, entry).await?;
        let remote = RemoteManifest::judge(
            (manifest.kind, &manifest.id),
            stored.to_owned(),
            Some(bytes.clone()),
            &Trust::Unsigned,
            Path::new(reference),
        )
        .map_err(|_| altered("its signature is not for this package"))?;
        existing.signer = remote.signer().copied();
        existing.signature = Some(bytes);
    }
    for (name, entry) in &heads.attachments {
        if to.has(name, entry).await? {
            let bytes = fetch_small(to, name, entry).await?;
            existing.attachments.insert(name, bytes);
        }
    }
    Ok(Some(existing))
}

/// Checks that the manifest in the repository still has its bytes. A missing one is sent again.
async fn verify_manifest(to: &Transfer, heads: &Heads) -> Result<(), RegistryError> {
    if to.has(MANIFEST, &heads.manifest).await? {
        fetch_small(to, MANIFEST, &heads.manifest).await?;
    }
    Ok(())
}

/// Returns the digest of the package that the component under the release's id names.
///
/// `None` where the tag is free. `expected` is the component's artifact, and `before` the
/// digest of the package's artifact in the repository.
///
/// # Errors
/// The tag holds another component, or one that names another package.
pub async fn component(
    to: &Transfer,
    package: &Package,
    expected: &OciImageManifest,
    before: Option<&str>,
    reference: &str,
) -> Result<Option<String>, RegistryError> {
    let Some((found, _)) = to.manifest(package.manifest().id.as_str()).await? else {
        return Ok(None);
    };
    let named = artifact::package_of(&found, reference)?;
    let ours = artifact::package_of(expected, reference)?;
    let same_component = artifact::same_files(&found, expected);
    let same_package = if named == ours || Some(named.as_str()) == before {
        true
    } else {
        // It may name the package as it was before it was signed, or one that the registry has
        // swept away.
        match to.manifest(&named).await? {
            Some((whole, _)) => {
                artifact::heads(&whole, reference)?.manifest.sha256 == package.digest()
            }
            None => same_component,
        }
    };
    match (same_package, same_component) {
        (false, _) => Err(RegistryError::Republished {
            reference: reference.to_owned(),
        }),
        (true, false) => Err(RegistryError::Altered {
            reference: reference.to_owned(),
            problem: "the tag holds another component than the package".to_owned(),
        }),
        (true, true) => Ok(Some(named)),
    }
}
