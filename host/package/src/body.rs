//! The part of a manifest that belongs to its kind.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{BodyError, FilePath, Kind, Manifest};

/// The typed body of one kind of package. A body denies unknown members, since an ignored member is
/// a broken promise.
pub trait Body: Serialize + DeserializeOwned {
    /// The kind whose body this is.
    const KIND: Kind;

    /// Checks the rules that no type can express: ranges, and agreement with the rest of the
    /// manifest.
    fn check(&self, manifest: &Manifest) -> Result<(), BodyError>;
}

/// Checks that `holds` is true, and otherwise returns the rule that `field` breaks.
pub(crate) fn check_rule(
    holds: bool,
    field: &'static str,
    rule: &'static str,
) -> Result<(), BodyError> {
    holds.then_some(()).ok_or(BodyError::Rule { field, rule })
}

/// Checks that the manifest lists `file`.
pub(crate) fn check_listed(
    manifest: &Manifest,
    field: &'static str,
    file: &FilePath,
) -> Result<(), BodyError> {
    if manifest.files.contains_key(file) {
        return Ok(());
    }
    Err(BodyError::UnlistedFile {
        field,
        file: file.clone(),
    })
}

/// Reports whether `items` holds at least one item, and none twice.
pub(crate) fn is_distinct<T: PartialEq>(items: &[T]) -> bool {
    !items.is_empty()
        && items
            .iter()
            .enumerate()
            .all(|(index, item)| !items[..index].contains(item))
}

/// Helpers that the tests of the bodies share.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::{FileEntry, Sha256Digest, manifest::FORMAT};
    use serde_json::Value;

    /// Builds a manifest of this kind and id that lists these files.
    pub(crate) fn manifest(kind: Kind, id: &str, files: &[&str]) -> Manifest {
        let entry = FileEntry {
            bytes: 0,
            sha256: Sha256Digest::of(b""),
        };
        Manifest {
            format: FORMAT,
            kind,
            id: id.parse().unwrap(),
            created: "2026-01-31T09:30:00Z".parse().unwrap(),
            files: files
                .iter()
                .map(|file| (file.parse().unwrap(), entry))
                .collect(),
            body: Value::Null,
        }
    }

    /// Returns the field that fails the check once `field` of a good body is `value`. Returns
    /// `shape` where the types already refuse it, and `none` where nothing is wrong.
    pub(crate) fn check<B: Body>(
        mut good: Value,
        field: &str,
        value: Value,
        manifest: &Manifest,
    ) -> &'static str {
        good[field] = value;
        let Ok(body) = serde_json::from_value::<B>(good) else {
            return "shape";
        };
        match body.check(manifest) {
            Ok(()) => "none",
            Err(BodyError::Shape(_)) => "shape",
            Err(BodyError::UnlistedFile { field, .. } | BodyError::Rule { field, .. }) => field,
        }
    }
}
