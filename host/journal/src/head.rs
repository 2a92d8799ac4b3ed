//! Signed heads: the receipts that a host vouches for.

use domesday_package::{PublicKey, Sha256Digest, SigningKey};
use serde::{Deserialize, Serialize};

/// The domain of a head's signed message, which keeps it apart from other signed messages.
const DOMAIN: &[u8] = b"domesday journal head 1\0";

/// A host's word that its journal reached this receipt with this digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The host's public key, which is its name.
    pub host: String,
    /// The last receipt.
    pub sequence: u64,
    /// SHA-256 of its line.
    pub digest: Sha256Digest,
    /// Time of the signature, milliseconds since 1970-01-01 UTC.
    pub at: i64,
    /// ed25519, 128 hexadecimal digits.
    pub signature: String,
}

impl Head {
    /// Signs a head.
    pub(crate) fn sign(key: &SigningKey, sequence: u64, digest: Sha256Digest, at: i64) -> Head {
        let mut head = Head {
            host: key.public().to_string(),
            sequence,
            digest,
            at,
            signature: String::new(),
        };
        head.signature = hex::encode(key.sign(&head.message()));
        head
    }

    /// Returns the key that signed it, or none where the signature is not good.
    pub fn signer(&self) -> Option<PublicKey> {
        let key: PublicKey = self.host.parse().ok()?;
        let mut signature = [0; 64];
        hex::decode_to_slice(&self.signature, &mut signature).ok()?;
        key.verifies(&self.message(), &signature).then_some(key)
    }

    fn message(&self) -> Vec<u8> {
        let Head {
            host,
            sequence,
            digest,
            at,
            ..
        } = self;
        [
            DOMAIN,
            format!("{host}\n{sequence}\n{digest}\n{at}\n").as_bytes(),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_its_signers_and_every_word_of_it_counts() {
        let key = SigningKey::from_seed([3; 32]);
        let head = Head::sign(&key, 5, Sha256Digest::of(b"line"), 7);
        assert_eq!(head.signer(), Some(key.public()));
        let other = SigningKey::from_seed([4; 32]).public().to_string();
        for altered in [
            Head {
                sequence: 6,
                ..head.clone()
            },
            Head {
                digest: Sha256Digest::of(b"other"),
                ..head.clone()
            },
            Head {
                at: 8,
                ..head.clone()
            },
            Head {
                host: other,
                ..head.clone()
            },
            Head {
                signature: "00".to_owned(),
                ..head.clone()
            },
        ] {
            assert_eq!(altered.signer(), None, "{altered:?}");
        }
    }
}
