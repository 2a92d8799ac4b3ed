//! The small package of this crate's tests.

use crate::{Draft, PropertyBody, RegisterFile, Sha256Digest, Source, write};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const ID: &str = "s-1";

/// Writes an unsigned package of one file, without meaning, into a packages folder.
pub(crate) fn write_package(packages_dir: &Path, file: &str, content: &[u8]) {
    let draft = Draft {
        id: ID.parse().unwrap(),
        created: "2026-01-31T09:30:00Z".parse().unwrap(),
        body: PropertyBody {
            snapshot_id: ID.parse().unwrap(),
            content_digest: Sha256Digest::of(content),
            schema: 1,
            database: file.parse().unwrap(),
            sources: vec![RegisterFile {
                name: "sales.csv".to_owned(),
                sha256: Sha256Digest::of(b"s"),
                rows: 1,
            }],
            synthetic: true,
            latest_sale: None,
            counts: BTreeMap::new(),
        },
        files: BTreeMap::from([(file.parse().unwrap(), Source::Bytes(content.to_owned()))]),
    };
    write(packages_dir, draft).unwrap();
}
