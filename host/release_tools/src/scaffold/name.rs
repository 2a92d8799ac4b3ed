//! The name of a model.

use std::fmt;
use std::str::FromStr;

/// Names that cargo refuses, or that the new folder's own crates have.
const TAKEN: [&str; 12] = [
    "alloc",
    "build",
    "core",
    "deps",
    "domesday-sdk",
    "examples",
    "fit",
    "incremental",
    "proc-macro",
    "std",
    "test",
    "talc",
];
/// Rust's keywords in lower case, with the reserved ones. Code cannot name a crate after a keyword.
const WORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
const LONGEST: usize = 64;

/// The name of a model's crate: lower-case letters, digits and hyphens, a letter first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

/// The reason why a text is not the name of a crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Other characters.
    #[error(
        "a model's name has at most 64 lower-case letters, digits and hyphens, a letter first and no hyphen last"
    )]
    Form,
    /// A name that means something else already.
    #[error("{0:?} is a reserved name in Rust or the SDK; choose another")]
    Taken(String),
}

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Name, NameError> {
        let of_form = text.starts_with(|c: char| c.is_ascii_lowercase())
            && !text.ends_with('-')
            && text.len() <= LONGEST
            && text
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !of_form {
            return Err(NameError::Form);
        }
        if TAKEN.contains(&text) || WORDS.contains(&text) {
            return Err(NameError::Taken(text.to_owned()));
        }
        Ok(Name(text.to_owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_cargo_takes() {
        let error = |text: &str| text.parse::<Name>().unwrap_err();
        for good in ["a", "local-price", "m2"] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in ["", "2m", "-a", "a-", "A", "a_b", "a b", "../a", "é"] {
            assert_eq!(error(bad), NameError::Form, "{bad}");
        }
        assert_eq!(error(&"a".repeat(65)), NameError::Form);
        assert_eq!(error("match"), NameError::Taken("match".to_owned()));
        assert_eq!(error("fit"), NameError::Taken("fit".to_owned()));
    }
}
