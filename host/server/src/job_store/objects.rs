//! Object storage for the rows and results of jobs, and the seal of its objects.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, Nonce};
use domesday_state::ObjectReference;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use std::error::Error;

/// Bytes that the seal adds to an object.
pub const SEAL_BYTES: u64 = 16;

/// An operation on object storage failed.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// Object storage refused an operation, or did not answer in time.
    #[error("object storage failed: {0}")]
    Failed(Box<dyn Error + Send + Sync>),
    /// An object has more bytes than were asked for.
    #[error("the object is longer than it was")]
    TooLong,
}

/// The object storage of the service's jobs. Each operation has a time limit.
pub trait JobObjects: Send + Sync {
    /// Writes an object, which is durable when this answers.
    fn put<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<(), ObjectsError>>;

    /// Reads an object of at most `largest` bytes; none where there is no such object. A longer one
    /// is [`ObjectsError::TooLong`].
    fn get<'a>(
        &'a self,
        name: &'a str,
        largest: u64,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, ObjectsError>>;

    /// Removes an object, if it is there.
    fn delete<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ObjectsError>>;

    /// Lists names below `folder` that are before `end` in order, at most `limit` of them.
    fn list<'a>(
        &'a self,
        folder: &'a str,
        end: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, ObjectsError>>;
}

/// Bytes that cannot be sealed or opened.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The object has other bytes than those that were written.
    #[error("its bytes are not those that were written")]
    Altered,
    /// There are more bytes than one seal takes.
    #[error("there are more bytes than one object takes")]
    TooLong,
}

/// Seals an object by a key that seals no other, and returns it with its reference. It opens in one
/// place alone.
///
/// # Errors
/// [`SealError::TooLong`] for more than 256 GiB.
pub fn seal(
    place: &str,
    key: [u8; 32],
    bytes: &[u8],
) -> Result<(Vec<u8>, ObjectReference), SealError> {
    let payload = Payload {
        msg: bytes,
        aad: place.as_bytes(),
    };
    // One message a key: the nonce may be constant.
    let sealed = cipher(key).encrypt(&Nonce::default(), payload);
    let sealed = sealed.map_err(|_| SealError::TooLong)?;
    let reference = ObjectReference {
        bytes: bytes.len() as u64,
        digest: Sha256::digest(&sealed).into(),
        key,
    };
    Ok((sealed, reference))
}

/// Opens an object that [`seal`] sealed for `place`.
///
/// # Errors
/// [`SealError::Altered`] where it is another.
pub fn unseal(
    place: &str,
    reference: &ObjectReference,
    sealed: &[u8],
) -> Result<Vec<u8>, SealError> {
    let digest: [u8; 32] = Sha256::digest(sealed).into();
    if digest != reference.digest {
        return Err(SealError::Altered);
    }
    let payload = Payload {
        msg: sealed,
        aad: place.as_bytes(),
    };
    let opened = cipher(reference.key).decrypt(&Nonce::default(), payload);
    opened.map_err(|_| SealError::Altered)
}

fn cipher(key: [u8; 32]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(&Key::from(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_opens_by_its_reference_in_its_place_alone() {
        let (sealed, reference) = seal("a", [7; 32], b"rows").unwrap();
        assert_eq!(sealed.len() as u64, reference.bytes + SEAL_BYTES);
        assert!(!sealed.windows(4).any(|part| part == b"rows"));
        assert_eq!(unseal("a", &reference, &sealed).unwrap(), b"rows");
        let mut altered = sealed.clone();
        altered[0] ^= 1;
        assert_eq!(unseal("a", &reference, &altered), Err(SealError::Altered));
        assert_eq!(unseal("b", &reference, &sealed), Err(SealError::Altered));
        let other = ObjectReference {
            key: [8; 32],
            ..reference
        };
        assert_eq!(unseal("a", &other, &sealed), Err(SealError::Altered));
    }
}
