//! Records under a tenant's key: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha). The nonce is a keyed
//! digest of the record, so sealing needs no random number and no nonce serves two records.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;

use crate::SealError;

/// Bytes of a nonce.
const NONCE: usize = 24;

/// The key of one tenant's records. Its bytes appear in no Debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct TenantKey {
    secret: [u8; 32],
    sealing: [u8; 32],
    naming: [u8; 32],
    /// Known once, since each line has it.
    id: String,
}

impl TenantKey {
    /// Makes a key from 32 bytes of a secure random source.
    pub fn new(secret: [u8; 32]) -> TenantKey {
        TenantKey {
            sealing: digest(&secret, &[b"domesday journal: sealing"]),
            naming: digest(&secret, &[b"domesday journal: nonces"]),
            id: hex::encode(&digest(&secret, &[b"domesday journal: id"])[..8]),
            secret,
        }
    }

    /// Returns the secret bytes, for storage.
    pub fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Returns the key's id in lines: 16 hexadecimal digits, from which the key cannot be derived.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Seals a record, bound to its header `about`, and returns base64.
    ///
    /// # Errors
    /// [`SealError`] if it is too long to be sealed.
    pub fn seal(&self, about: &[u8], record: &[u8]) -> Result<String, SealError> {
        let about_bytes = (about.len() as u64).to_le_bytes();
        let full = digest(&self.naming, &[&about_bytes, about, record]);
        let mut nonce = XNonce::default();
        nonce.copy_from_slice(&full[..NONCE]);
        let payload = Payload {
            msg: record,
            aad: about,
        };
        let sealed = self
            .cipher()
            .encrypt(&nonce, payload)
            .map_err(|_| SealError)?;
        let mut bytes = nonce.to_vec();
        bytes.extend_from_slice(&sealed);
        Ok(STANDARD.encode(bytes))
    }

    /// Opens a record that [`TenantKey::seal`] sealed.
    ///
    /// # Errors
    /// [`SealError`] if it was sealed by another key or for another header, or was altered.
    pub fn open(&self, about: &[u8], sealed: &str) -> Result<Vec<u8>, SealError> {
        let bytes = STANDARD.decode(sealed).map_err(|_| SealError)?;
        let (first, rest) = bytes.split_at_checked(NONCE).ok_or(SealError)?;
        let mut nonce = XNonce::default();
        nonce.copy_from_slice(first);
        let payload = Payload {
            msg: rest,
            aad: about,
        };
        self.cipher()
            .decrypt(&nonce, payload)
            .map_err(|_| SealError)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(self.sealing))
    }
}

impl fmt::Debug for TenantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TenantKey({})", self.id())
    }
}

/// Computes the HMAC-SHA-256 of the parts, one after the other.
fn digest(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC's own key is a block, and a shorter one is the same with zeros behind it.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new(&block.into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_the_sealed_record_opens(
            record in proptest::collection::vec(any::<u8>(), 0..300),
            at in any::<proptest::sample::Index>(),
        ) {
            let key = TenantKey::new([7; 32]);
            let sealed = key.seal(b"about", &record).unwrap();
            prop_assert_eq!(key.open(b"about", &sealed).unwrap(), record);
            prop_assert!(key.open(b"abouT", &sealed).is_err());
            prop_assert!(TenantKey::new([8; 32]).open(b"about", &sealed).is_err());
            let mut bytes = STANDARD.decode(&sealed).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
            prop_assert!(key.open(b"about", &STANDARD.encode(bytes)).is_err());
        }
    }

    #[test]
    fn a_key_prints_its_id_alone() {
        let key = TenantKey::new([7; 32]);
        assert_eq!(key.id().len(), 16);
        assert_ne!(key.id(), TenantKey::new([8; 32]).id());
        assert_eq!(format!("{key:?}"), format!("TenantKey({})", key.id()));
    }

    #[test]
    fn a_nonce_serves_one_record_alone() {
        let key = TenantKey::new([7; 32]);
        let nonce = |about: &[u8], record: &[u8]| {
            let sealed = key.seal(about, record).unwrap();
            STANDARD.decode(sealed).unwrap()[..NONCE].to_vec()
        };
        assert_eq!(nonce(b"a", b"b"), nonce(b"a", b"b"));
        assert_ne!(nonce(b"a", b"b"), nonce(b"ab", b""));
        assert_ne!(nonce(b"a", b"b"), nonce(b"a", b"c"));
    }

    #[test]
    fn a_key_is_stored_as_the_bytes_that_it_was_made_from() {
        let key = TenantKey::new([7; 32]);
        assert_eq!(key.secret(), &[7; 32]);
        assert_eq!(TenantKey::new(*key.secret()), key);
    }
}
