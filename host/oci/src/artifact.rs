//! The two artifacts of a package, as data.

use super::RegistryError;
use domesday_engine::component::Outline;
use domesday_package::manifest::{APPROVAL, CHECK, CHECK_SIGNATURE, LARGEST, MANIFEST, SIGNATURE};
use domesday_package::{
    Attachments, FileEntry, Kind, LARGEST_SIGNATURE, Manifest, PackageId, Sha256Digest,
};
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use serde::Serialize;
use std::collections::BTreeMap;

/// The annotation of a component's artifact that names its package's by digest.
pub const PACKAGE: &str = "domesday.package";
/// The artifact type of a package.
pub const PACKAGE_TYPE: &str = "application/vnd.domesday.package.v1";
/// The media type of a package's manifest.
const MANIFEST_TYPE: &str = "application/vnd.domesday.manifest.v1+json";
/// The media type of a package's signature.
const SIGNATURE_TYPE: &str = "application/vnd.domesday.signature.v1";
/// The attachments of a package: name, media type and the bytes of the largest that is read.
const ATTACHMENTS: [(&str, &str, u64); 3] = [
    (CHECK, "application/vnd.domesday.check.v1+json", LARGEST),
    (
        CHECK_SIGNATURE,
        "application/vnd.domesday.check-signature.v1",
        LARGEST_SIGNATURE,
    ),
    (
        APPROVAL,
        "application/vnd.domesday.approval.v1",
        LARGEST_SIGNATURE,
    ),
];
/// The media type of an empty configuration.
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// The bytes of an empty configuration.
pub const EMPTY: &[u8] = b"{}";
/// The media type of a WebAssembly artifact's configuration.
const WASM_CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
/// The media type of a component or module.
const WASM_TYPE: &str = "application/wasm";
/// The annotation for a file's name.
const TITLE: &str = "org.opencontainers.image.title";
/// The annotation for the time of creation.
const CREATED: &str = "org.opencontainers.image.created";
/// The annotation for the id of the release or snapshot.
const VERSION: &str = "org.opencontainers.image.version";

/// Returns the tag of a package's artifact. Ids are lower case: it is never another release's id.
pub fn package_tag(kind: Kind, id: &PackageId) -> String {
    let kind = match kind {
        Kind::Valuation => "Valuation",
        Kind::Property => "Property",
        Kind::Markets => "Markets",
        Kind::Rates => "Rates",
    };
    format!("{id}.{kind}")
}

/// Returns the tag that a package is pulled by: a release's id, else that of the whole artifact.
pub fn tag(kind: Kind, id: &PackageId) -> String {
    match kind {
        Kind::Valuation => id.to_string(),
        _ => package_tag(kind, id),
    }
}

/// Returns the name of a blob in a registry.
pub fn blob(digest: &Sha256Digest) -> String {
    format!("sha256:{digest}")
}

fn descriptor(media_type: &str, entry: FileEntry, title: Option<&str>) -> OciDescriptor {
    OciDescriptor {
        media_type: media_type.to_owned(),
        digest: blob(&entry.sha256),
        // A file of 8 exbibytes is no file.
        size: i64::try_from(entry.bytes).unwrap_or(i64::MAX),
        annotations: title.map(|title| BTreeMap::from([(TITLE.to_owned(), title.to_owned())])),
        ..OciDescriptor::default()
    }
}

/// Returns the size and digest of some bytes.
pub fn entry(bytes: &[u8]) -> FileEntry {
    FileEntry {
        bytes: bytes.len() as u64,
        sha256: Sha256Digest::of(bytes),
    }
}

fn annotations(manifest: &Manifest) -> BTreeMap<String, String> {
    BTreeMap::from([
        (CREATED.to_owned(), manifest.created.to_string()),
        (
            TITLE.to_owned(),
            format!("{} {}", manifest.kind, manifest.id),
        ),
        (VERSION.to_owned(), manifest.id.to_string()),
    ])
}

/// Returns the artifact of a whole package: its manifest, its signature, its attachments and every
/// file.
pub fn package(
    manifest: &Manifest,
    stored: &[u8],
    signature: Option<&[u8]>,
    attachments: &Attachments,
) -> OciImageManifest {
    let mut layers = vec![descriptor(MANIFEST_TYPE, entry(stored), Some(MANIFEST))];
    layers.extend(signature.map(|bytes| descriptor(SIGNATURE_TYPE, entry(bytes), Some(SIGNATURE))));
    for (name, media_type, _) in ATTACHMENTS {
        let bytes = attachments.get(name);
        layers.extend(bytes.map(|bytes| descriptor(media_type, entry(bytes), Some(name))));
    }
    for (file, listed) in &manifest.files {
        let name = file.as_str();
        let media_type = match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("wasm") => WASM_TYPE,
            Some("json") => "application/json",
            Some("jsonl") => "application/jsonl",
            _ => "application/octet-stream",
        };
        layers.push(descriptor(media_type, *listed, Some(name)));
    }
    OciImageManifest {
        media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
        artifact_type: Some(PACKAGE_TYPE.to_owned()),
        config: descriptor(EMPTY_TYPE, entry(EMPTY), None),
        layers,
        annotations: Some(annotations(manifest)),
        ..OciImageManifest::default()
    }
}

/// Returns the artifact of a component alone, and the bytes of its configuration.
pub fn component(
    manifest: &Manifest,
    (file, listed): (&str, FileEntry),
    outline: Outline,
    package: &str,
) -> (OciImageManifest, Vec<u8>) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Config {
        created: String,
        architecture: &'static str,
        os: &'static str,
        layer_digests: [String; 1],
        component: Sides,
    }
    #[derive(Serialize)]
    struct Sides {
        exports: Vec<String>,
        imports: Vec<String>,
    }
    let config = Config {
        created: manifest.created.to_string(),
        architecture: "wasm",
        // The layout states this of every component, whatever it imports.
        os: "wasip2",
        layer_digests: [blob(&listed.sha256)],
        component: Sides {
            exports: outline.exports,
            imports: outline.imports,
        },
    };
    // Texts alone: there is nothing in it that could fail to be written.
    let config = serde_json::to_vec(&config).unwrap_or_default();
    let mut labels = annotations(manifest);
    labels.insert(PACKAGE.to_owned(), package.to_owned());
    let artifact = OciImageManifest {
        media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
        config: descriptor(WASM_CONFIG_TYPE, entry(&config), None),
        layers: vec![descriptor(WASM_TYPE, listed, Some(file))],
        annotations: Some(labels),
        ..OciImageManifest::default()
    };
    (artifact, config)
}

/// Returns the digest of the package's artifact that a component's artifact names.
///
/// # Errors
/// The artifact names none.
pub fn package_of(artifact: &OciImageManifest, reference: &str) -> Result<String, RegistryError> {
    artifact
        .annotations
        .as_ref()
        .and_then(|all| all.get(PACKAGE)?.strip_prefix("sha256:")?.parse().ok())
        .map(|digest| blob(&digest))
        .ok_or_else(|| RegistryError::NotAPackage {
            reference: reference.to_owned(),
            problem: format!("it has no annotation {PACKAGE} with a SHA-256"),
        })
}

/// Returns the entries of these attachments, by name in the order of an artifact.
pub fn list_attachments(attachments: &Attachments) -> Vec<(&'static str, FileEntry)> {
    let bytes = |name| attachments.get(name).map(|bytes| (name, entry(bytes)));
    let names = ATTACHMENTS.into_iter().map(|(name, ..)| name);
    names.filter_map(bytes).collect()
}

/// Returns whether a layer is part of the package's content, which never changes.
fn is_content(media_type: &str) -> bool {
    media_type != SIGNATURE_TYPE && ATTACHMENTS.iter().all(|(_, other, _)| *other != media_type)
}

/// Returns whether two artifacts hold the same files under the same names, signatures and
/// attachments aside.
pub fn same_files(one: &OciImageManifest, other: &OciImageManifest) -> bool {
    let files = |artifact: &OciImageManifest| {
        let mut files: Vec<_> = artifact
            .layers
            .iter()
            .filter(|layer| is_content(&layer.media_type))
            .map(|layer| {
                let named = layer.annotations.as_ref();
                let title = named.and_then(|all| all.get(TITLE)).cloned();
                (title, layer.digest.clone(), layer.size)
            })
            .collect();
        files.sort_unstable();
        files
    };
    files(one) == files(other)
}

/// A package's manifest, signature and attachments among the layers of its artifact.
#[derive(Debug)]
pub struct Heads {
    /// The manifest.
    pub manifest: FileEntry,
    /// The signature, where it is signed.
    pub signature: Option<FileEntry>,
    /// The attachments, by name.
    pub attachments: Vec<(&'static str, FileEntry)>,
}

/// Finds the manifest, the signature and the attachments of an artifact.
///
/// # Errors
/// The artifact has no manifest, or one of them is larger than its bound.
pub fn heads(artifact: &OciImageManifest, reference: &str) -> Result<Heads, RegistryError> {
    let wrong = |problem: &str| RegistryError::NotAPackage {
        reference: reference.to_owned(),
        problem: problem.to_owned(),
    };
    let find = |media_type: &str, largest: u64| -> Result<Option<FileEntry>, RegistryError> {
        let Some(layer) = artifact.layers.iter().find(|l| l.media_type == media_type) else {
            return Ok(None);
        };
        let sha256 = layer
            .digest
            .strip_prefix("sha256:")
            .and_then(|digest| digest.parse().ok())
            .ok_or_else(|| wrong("a layer's digest is not a SHA-256"))?;
        let bytes = u64::try_from(layer.size)
            .ok()
            .filter(|bytes| *bytes <= largest)
            .ok_or_else(|| wrong("a layer is larger than any that is read"))?;
        Ok(Some(FileEntry { bytes, sha256 }))
    };
    let mut attachments = Vec::new();
    for (name, media_type, largest) in ATTACHMENTS {
        attachments.extend(find(media_type, largest)?.map(|entry| (name, entry)));
    }
    Ok(Heads {
        attachments,
        manifest: find(MANIFEST_TYPE, LARGEST)?
            .ok_or_else(|| wrong("it has no layer with a package's manifest"))?,
        signature: find(SIGNATURE_TYPE, LARGEST_SIGNATURE)?,
    })
}
