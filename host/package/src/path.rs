//! The path of a file inside a package.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The file name of a manifest.
pub const MANIFEST: &str = "manifest.json";
/// The file name of a manifest's detached signature.
pub const SIGNATURE: &str = "manifest.sig";
/// The file name of the report of a release's check.
pub const CHECK: &str = "check.json";
/// The file name of that report's detached signature.
pub const CHECK_SIGNATURE: &str = "check.sig";
/// The file name of a second person's approval of a manifest and its report.
pub const APPROVAL: &str = "approval.sig";

/// The names that the files of a package do not have.
const RESERVED: [&str; 5] = [MANIFEST, SIGNATURE, CHECK, CHECK_SIGNATURE, APPROVAL];

/// The longest path, in bytes.
const LONGEST: usize = 200;

/// A relative path with `/` between its names. A name holds `A-Z a-z 0-9 . _ -` and begins with a
/// letter or digit. This leaves no way to write `..`, absolute paths, hidden files or other
/// systems' separators. The manifest, its signature and the [attachments](crate::Attachments) are
/// not files of a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePath(String);

/// The reason why a text is not the path of a file in a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing at all, or more than 200 bytes.
    #[error("a path has 1 to 200 characters, this has {length}")]
    Length {
        /// Its length in bytes.
        length: usize,
    },
    /// A name between slashes that is empty, begins with another character than a letter or
    /// digit, or holds one that names may not hold. `..` and an absolute path end here.
    #[error("{name:?} is not a file name for a package")]
    Name {
        /// The name found.
        name: String,
    },
    /// The manifest, its signature and the attachments describe the files; they are not among them.
    #[error("the name is reserved")]
    Reserved,
}

impl FilePath {
    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reports whether this file lies below `directory`, a relative path.
    pub(crate) fn is_below(&self, directory: &str) -> bool {
        self.0
            .strip_prefix(directory)
            .is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Reports whether `path` is the manifest, its signature or an attachment.
pub(crate) fn is_reserved(path: &str) -> bool {
    RESERVED.contains(&path)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

impl FromStr for FilePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        if text.is_empty() || text.len() > LONGEST {
            return Err(PathError::Length { length: text.len() });
        }
        if let Some(name) = text.split('/').find(|name| !is_name(name)) {
            return Err(PathError::Name {
                name: name.to_owned(),
            });
        }
        if is_reserved(text) {
            return Err(PathError::Reserved);
        }
        Ok(FilePath(text.to_owned()))
    }
}

impl TryFrom<String> for FilePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        text.parse()
    }
}

impl From<FilePath> for String {
    fn from(path: FilePath) -> String {
        path.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_paths() {
        for good in [
            "component.wasm",
            "assets/a.b/C-1_2",
            "sub/manifest.json",
            &"a".repeat(200),
        ] {
            assert_eq!(good.parse::<FilePath>().unwrap().as_str(), good);
        }
        for bad in [
            "../a", "a/../b", "/a", "a//b", "a/", ".hidden", "a\\b", "a b", "a/.", "é",
        ] {
            assert!(
                matches!(bad.parse::<FilePath>(), Err(PathError::Name { .. })),
                "{bad}"
            );
        }
        for reserved in RESERVED {
            assert_eq!(
                reserved.parse::<FilePath>(),
                Err(PathError::Reserved),
                "{reserved}"
            );
        }
        assert_eq!(
            "a".repeat(201).parse::<FilePath>(),
            Err(PathError::Length { length: 201 })
        );
    }

    #[test]
    fn a_name_prefix_is_not_a_parent_directory() {
        let file: FilePath = "assets/a".parse().unwrap();
        assert!(file.is_below("assets"));
        assert!(!file.is_below("asset"));
    }
}
