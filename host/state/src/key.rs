//! API keys: the text that a client presents, and what is kept of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{Scopes, TenantId, UnixMillis};

/// The prefix of every key, by which scanners for leaked secrets recognise one.
const PREFIX: &str = "dk_";
/// Hexadecimal digits of the public id.
const ID_DIGITS: usize = 16;
/// Hexadecimal digits of the secret part.
const SECRET_DIGITS: usize = 64;
/// Keeps these digests apart from every other SHA-256.
const DOMAIN: &[u8] = b"domesday-api-key-v1\0";

/// A key's public id, 16 lower-case hexadecimal digits. It may be listed and logged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyId([u8; 8]);

/// The text is not a key, or not a key id. It is not repeated, since it may be a secret with a
/// typing mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "neither a key nor a key's id: a key is dk_ID_SECRET, with an id of 16 and a secret of 64 hexadecimal digits"
)]
pub struct MalformedKey;

impl KeyId {
    /// Returns the 8 bytes of the id.
    pub fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }

    /// Makes an id from its 8 bytes.
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        KeyId(bytes)
    }
}

impl FromStr for KeyId {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        decode(text).map(KeyId)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// 40 bytes from a secure random source. They make a key: 8 for its id, 32 for its
/// secret. Used once.
pub struct KeySeed([u8; 40]);

impl KeySeed {
    /// Takes 40 bytes, which must come from a secure random source.
    pub fn new(bytes: [u8; 40]) -> Self {
        KeySeed(bytes)
    }

    /// Makes the key from the seed: its id, its text, and the digest to store.
    pub(crate) fn into_key(self) -> (KeyId, Secret, KeyDigest) {
        let (mut id, mut secret) = ([0; 8], [0; 32]);
        id.copy_from_slice(&self.0[..8]);
        secret.copy_from_slice(&self.0[8..]);
        let text = format!("{PREFIX}{}_{}", hex::encode(id), hex::encode(secret));
        (KeyId(id), Secret(text), digest(KeyId(id), &secret))
    }
}

impl fmt::Debug for KeySeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySeed(redacted)")
    }
}

/// A whole key, for the one moment in which it is handed to its owner.
pub struct Secret(String);

impl Secret {
    /// Returns the key as its owner presents it. Never log it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

/// SHA-256 of a key: all that is kept of its secret.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct KeyDigest(pub(crate) [u8; 32]);

impl KeyDigest {
    /// Reports whether both are the same, in a time that does not depend on where they differ.
    pub(crate) fn matches(&self, other: &KeyDigest) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(redacted)")
    }
}

/// Splits a presented key into its id and its digest to compare.
pub(crate) fn read(presented: &str) -> Result<(KeyId, KeyDigest), MalformedKey> {
    let rest = presented.strip_prefix(PREFIX).ok_or(MalformedKey)?;
    let (id, secret) = rest.split_once('_').ok_or(MalformedKey)?;
    if id.len() != ID_DIGITS || secret.len() != SECRET_DIGITS {
        return Err(MalformedKey);
    }
    let id = id.parse()?;
    // The bytes, not the digits, are the secret; so digits are checked by decoding them.
    let secret: [u8; 32] = decode(secret)?;
    Ok((id, digest(id, &secret)))
}

fn digest(id: KeyId, secret: &[u8; 32]) -> KeyDigest {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    hash.update(id.0);
    hash.update(secret);
    KeyDigest(hash.finalize().into())
}

/// Decodes exactly `N` bytes of lower-case hexadecimal.
fn decode<const N: usize>(text: &str) -> Result<[u8; N], MalformedKey> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(MalformedKey);
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| MalformedKey)?;
    Ok(bytes)
}

/// A key that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The tenant that owns the key.
    pub tenant: TenantId,
    /// The operator's label for its purpose.
    pub label: String,
    /// The scopes that it grants.
    pub scopes: Scopes,
    /// True if its requests for series must select metrics.
    pub requires_metric_selection: bool,
    /// From when on it is refused, if ever.
    pub expires_at: Option<UnixMillis>,
}

/// A key as made.
#[derive(Debug)]
pub struct CreatedKey {
    /// Its public id.
    pub id: KeyId,
    /// The key itself. It is kept nowhere: this is the only time that it can be shown.
    pub secret: Secret,
}

/// The stored record of a key, without its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its public id.
    pub id: KeyId,
    /// The tenant that owns the key.
    pub tenant: TenantId,
    /// The operator's label for its purpose.
    pub label: String,
    /// The scopes that it grants.
    pub scopes: Scopes,
    /// True if its requests for series must select metrics.
    pub requires_metric_selection: bool,
    /// Creation time.
    pub created_at: UnixMillis,
    /// From when on it is refused, if ever.
    pub expires_at: Option<UnixMillis>,
    /// Time of the revocation, if it was revoked.
    pub revoked_at: Option<UnixMillis>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seed() -> KeySeed {
        KeySeed::new(std::array::from_fn(|i| u8::try_from(i).unwrap()))
    }

    #[test]
    fn a_key_reads_back_as_itself() {
        let (id, secret, digest) = seed().into_key();
        assert_eq!(id.to_string(), "0001020304050607");
        assert!(secret.expose().starts_with("dk_0001020304050607_08090a"));
        let (read_id, read_digest) = read(secret.expose()).unwrap();
        assert_eq!(read_id, id);
        assert!(read_digest.matches(&digest));
    }

    #[test]
    fn nothing_shows_a_secret() {
        let (id, secret, digest) = seed().into_key();
        let debug_text = format!("{:?} {digest:?} {:?}", seed(), CreatedKey { id, secret });
        assert!(!debug_text.contains("08090a"), "{debug_text}");
        assert!(!debug_text.contains(&hex::encode(digest.0)), "{debug_text}");
        let expected = "KeySeed(redacted) KeyDigest(redacted) \
             CreatedKey { id: 0001020304050607, secret: Secret(redacted) }";
        assert_eq!(debug_text, expected);
    }

    proptest! {
        /// A key in which one character is changed is another key or no key.
        #[test]
        fn a_changed_character_is_another_key(at in 0..84_usize, to in any::<char>()) {
            let (_, secret, digest) = seed().into_key();
            let mut text: Vec<char> = secret.expose().chars().collect();
            prop_assume!(text[at] != to);
            text[at] = to;
            let changed: String = text.into_iter().collect();
            if let Ok((_, changed)) = read(&changed) {
                prop_assert!(!changed.matches(&digest));
            }
        }

        #[test]
        fn reading_never_panics(text in ".{0,120}") {
            let _ = read(&text);
        }
    }
}
