//! The name of a package: its kind and its id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest id, in bytes.
const LONGEST: usize = 100;

/// The kind of a package. The signature covers it, so one kind can never stand for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A valuation release: a sandboxed component and the snapshot that it is pinned to.
    Valuation,
    /// A property snapshot: addresses, properties, sales and area figures.
    Property,
    /// A release of market statistics.
    Markets,
    /// A release of sterling rates.
    Rates,
}

impl Kind {
    /// Returns the kind as written in manifests, signatures and directory names.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Valuation => "valuation",
            Kind::Property => "property",
            Kind::Markets => "markets",
            Kind::Rates => "rates",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The id of a package: 1 to 100 of `a-z 0-9 . _ -`, beginning with a letter or digit, without
/// `..`. It is safe as a directory name, in a URL and in a log line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PackageId(String);

/// The reason why a text is not a package id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PackageIdError {
    /// Nothing at all, or more than 100 bytes.
    #[error("an id has 1 to 100 characters, this has {length}")]
    Length {
        /// Its length in bytes.
        length: usize,
    },
    /// A character that ids may not hold, or not in the first place.
    #[error(
        "an id holds a-z, 0-9, '.', '_' and '-', and begins with a letter or digit: {found:?} at {position}"
    )]
    Character {
        /// The character found.
        found: char,
        /// Its byte position, from 0.
        position: usize,
    },
    /// Two dots together.
    #[error("an id may not hold '..'")]
    DoubleDot,
}

impl PackageId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PackageId {
    type Err = PackageIdError;

    fn from_str(text: &str) -> Result<Self, PackageIdError> {
        if text.is_empty() || text.len() > LONGEST {
            return Err(PackageIdError::Length { length: text.len() });
        }
        for (position, found) in text.char_indices() {
            let word = found.is_ascii_lowercase() || found.is_ascii_digit();
            let joint = position > 0 && matches!(found, '.' | '_' | '-');
            if !word && !joint {
                return Err(PackageIdError::Character { found, position });
            }
        }
        if text.contains("..") {
            return Err(PackageIdError::DoubleDot);
        }
        Ok(PackageId(text.to_owned()))
    }
}

impl TryFrom<String> for PackageId {
    type Error = PackageIdError;

    fn try_from(text: String) -> Result<Self, PackageIdError> {
        text.parse()
    }
}

impl From<PackageId> for String {
    fn from(id: PackageId) -> String {
        id.0
    }
}

impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_accepted_by_the_rule() {
        for good in ["a", "0", "hedonic-2026.01_b", &"x".repeat(100)] {
            let id: PackageId = good.parse().unwrap();
            assert_eq!((id.as_str(), id.to_string().as_str()), (good, good));
        }
        let refused = [
            ("", PackageIdError::Length { length: 0 }),
            (&"x".repeat(101), PackageIdError::Length { length: 101 }),
            ("a..b", PackageIdError::DoubleDot),
            (
                ".a",
                PackageIdError::Character {
                    found: '.',
                    position: 0,
                },
            ),
            (
                "a/b",
                PackageIdError::Character {
                    found: '/',
                    position: 1,
                },
            ),
            (
                "aB",
                PackageIdError::Character {
                    found: 'B',
                    position: 1,
                },
            ),
            (
                "é",
                PackageIdError::Character {
                    found: 'é',
                    position: 0,
                },
            ),
        ];
        for (bad, error) in refused {
            assert_eq!(bad.parse::<PackageId>(), Err(error), "{bad}");
        }
    }

    #[test]
    fn kinds_are_written_as_they_display() {
        for kind in [Kind::Valuation, Kind::Property, Kind::Markets, Kind::Rates] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(kind.to_string(), kind.as_str());
        }
    }
}
