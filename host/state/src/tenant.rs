//! Tenants: who is served.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Plan, UnixMillis};

/// The longest id, in bytes.
const LONGEST: usize = 64;

/// A tenant's id: 1 to 64 of `a-z 0-9 -`, beginning with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantId(String);

/// The text is not a tenant id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a tenant id: 1 to 64 of a-z, 0-9 and '-', beginning with a letter or digit"
)]
pub struct TenantIdError {
    /// The text given, its first 80 characters.
    pub text: String,
}

impl TenantId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantId {
    type Err = TenantIdError;

    fn from_str(text: &str) -> Result<Self, TenantIdError> {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let good = text.len() <= LONGEST
            && text.starts_with(word)
            && text.chars().all(|c| word(c) || c == '-');
        good.then(|| TenantId(text.to_owned()))
            .ok_or_else(|| TenantIdError {
                text: text.chars().take(80).collect(),
            })
    }
}

impl TryFrom<String> for TenantId {
    type Error = TenantIdError;

    fn try_from(text: String) -> Result<Self, TenantIdError> {
        text.parse()
    }
}

impl From<TenantId> for String {
    fn from(id: TenantId) -> String {
        id.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tenant as kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its limits.
    pub plan: Plan,
    /// True if the tenant is served. Its keys stay unchanged while it is not.
    pub enabled: bool,
    /// Creation time.
    pub created_at: UnixMillis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_accepted_by_the_rule() {
        for good in ["a", "0-x", &"x".repeat(64)] {
            assert_eq!(good.parse::<TenantId>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "A", "a_b", "a.b", "é", &"x".repeat(65)] {
            assert!(bad.parse::<TenantId>().is_err(), "{bad}");
        }
    }
}
