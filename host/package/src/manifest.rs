//! The manifest: the kind and id of a package, and the size and digest of every file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::PackageErrorKind;
pub use crate::path::{APPROVAL, CHECK, CHECK_SIGNATURE, MANIFEST, SIGNATURE};
use crate::{FilePath, Kind, PackageId, Sha256Digest, Timestamp, json};

/// The only format so far. A reader refuses any other.
pub const FORMAT: u64 = 1;
/// The largest manifest that is read, bytes.
pub const LARGEST: u64 = 4 << 20;

/// Keeps package signatures apart from every other use of the same key.
const DOMAIN: &[u8] = b"domesday-package-v1\0";

/// The size and digest of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the whole file.
    pub sha256: Sha256Digest,
}

/// The content of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The manifest's format, [`FORMAT`].
    pub format: u64,
    /// The kind of the package.
    pub kind: Kind,
    /// The package's id, which is also its directory's name.
    pub id: PackageId,
    /// Creation time of the package, as its maker states it.
    pub created: Timestamp,
    /// Every file of the package besides the manifest and its signature.
    pub files: BTreeMap<FilePath, FileEntry>,
    /// The part that belongs to the kind; see [`crate::Body`].
    pub body: Value,
}

impl Manifest {
    /// Reads the stored form. Anything but the one stored form of a known format is an error.
    pub(crate) fn parse(stored: &[u8]) -> Result<Self, PackageErrorKind> {
        let value = json::parse(stored).map_err(PackageErrorKind::ManifestJson)?;
        // The format comes first: the other members of another format have no known meaning.
        match value.get("format") {
            Some(format) if *format == FORMAT => {}
            Some(format) => {
                return Err(PackageErrorKind::UnknownFormat {
                    found: format.to_string(),
                });
            }
            None => {
                return Err(PackageErrorKind::UnknownFormat {
                    found: "none".to_owned(),
                });
            }
        }
        let canonical = json::canonical(&value).map_err(PackageErrorKind::ManifestJson)?;
        let indented = json::indent_up_to(&canonical, stored.len());
        if indented.as_deref() != Some(stored) {
            return Err(PackageErrorKind::NotCanonical);
        }
        serde_json::from_value(value).map_err(PackageErrorKind::ManifestJson)
    }

    /// Serializes the manifest as RFC 8785 canonical bytes.
    pub(crate) fn canonical(&self) -> Result<Vec<u8>, PackageErrorKind> {
        let value = serde_json::to_value(self).map_err(PackageErrorKind::ManifestJson)?;
        json::canonical(&value).map_err(PackageErrorKind::ManifestJson)
    }

    /// Serializes the bytes of `manifest.json`: the canonical form, indented.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, PackageErrorKind> {
        Ok(json::indent(&self.canonical()?))
    }

    /// Serializes the message that a signature covers: domain, kind, id and canonical manifest.
    pub(crate) fn signed_message(&self) -> Result<Vec<u8>, PackageErrorKind> {
        let canonical = self.canonical()?;
        let names = [self.kind.as_str().as_bytes(), self.id.as_str().as_bytes()];
        let mut message = DOMAIN.to_vec();
        for name in names {
            message.extend_from_slice(name);
            message.push(0);
        }
        message.extend_from_slice(&canonical);
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example_text() -> String {
        let manifest = Manifest {
            format: FORMAT,
            kind: Kind::Markets,
            id: "m-1".parse().unwrap(),
            created: "2026-01-31T09:30:00Z".parse().unwrap(),
            files: BTreeMap::from([(
                "a.txt".parse().unwrap(),
                FileEntry {
                    bytes: 3,
                    sha256: Sha256Digest::of(b"abc"),
                },
            )]),
            body: serde_json::json!({"b": 0.5, "a": 1e21}),
        };
        String::from_utf8(manifest.to_bytes().unwrap()).unwrap()
    }

    #[test]
    fn a_stored_manifest_is_read_back_as_it_was() {
        let text = example_text();
        let read = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(read.to_bytes().unwrap(), text.as_bytes());
        let message = read.signed_message().unwrap();
        assert!(
            message.starts_with(
                b"domesday-package-v1\0markets\0m-1\0{\"body\":{\"a\":1e+21,\"b\":0.5}"
            )
        );
    }

    #[test]
    fn another_spelling_is_refused() {
        let text = example_text();
        let cases = [
            text.trim_end().to_owned(),
            text.replace("0.5", "0.50"),
            text.replace("\"m-1\"", "\"\\u006d-1\""),
        ];
        for other in cases {
            assert!(
                matches!(
                    Manifest::parse(other.as_bytes()),
                    Err(PackageErrorKind::NotCanonical)
                ),
                "{other}"
            );
        }
    }

    #[test]
    fn unknown_formats_and_members_are_refused() {
        let text = example_text();
        let other = text.replace("\"format\": 1", "\"format\": 2");
        assert!(matches!(
            Manifest::parse(other.as_bytes()),
            Err(PackageErrorKind::UnknownFormat { found }) if found == "2"
        ));
        let more = text.replace("\n  \"id\"", "\n  \"half\": 1,\n  \"id\"");
        assert!(matches!(
            Manifest::parse(more.as_bytes()),
            Err(PackageErrorKind::ManifestJson(error)) if error.to_string().contains("half")
        ));
        let climbing = text.replace("a.txt", "../a.txt");
        assert!(matches!(
            Manifest::parse(climbing.as_bytes()),
            Err(PackageErrorKind::ManifestJson(error)) if error.to_string().contains("\"..\"")
        ));
    }
}
