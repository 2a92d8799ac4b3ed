//! The errors of the part of a manifest that belongs to its kind.

use crate::FilePath;

/// A problem of a body.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// Not JSON of the kind's shape.
    #[error("{0}")]
    Shape(#[source] serde_json::Error),
    /// The body names a file that the manifest does not list.
    #[error("{field} names {file}, which is not among the files")]
    UnlistedFile {
        /// The body's field.
        field: &'static str,
        /// The file that it names.
        file: FilePath,
    },
    /// A value breaks a rule of the kind.
    #[error("{field} {rule}")]
    Rule {
        /// The body's field.
        field: &'static str,
        /// The rule that it breaks.
        rule: &'static str,
    },
}

impl BodyError {
    /// Checks the names of the files that a package was made from.
    ///
    /// # Errors
    /// [`BodyError::Rule`] if there is none, or one is empty or has a directory.
    pub fn check_sources<'a>(mut names: impl Iterator<Item = &'a str>) -> Result<(), BodyError> {
        let plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\']);
        let Some(first) = names.next() else {
            return Err(BodyError::Rule {
                field: "sources",
                rule: "must name at least one file",
            });
        };
        match plain(first) && names.all(plain) {
            true => Ok(()),
            false => Err(BodyError::Rule {
                field: "sources",
                rule: "must have names without folders",
            }),
        }
    }
}
