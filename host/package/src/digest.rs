//! SHA-256 as a value, and hashing of streams.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Large enough that reading costs little beside hashing.
const BUFFER: usize = 1 << 20;

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256Digest([u8; 32]);

/// The text is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 digest is 64 lower-case hexadecimal digits")]
pub struct DigestError;

impl Sha256Digest {
    /// Computes the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Sha256Digest(Sha256::digest(bytes).into())
    }

    /// Computes the digest and number of all remaining bytes of `reader`. Passes each piece to
    /// `sink`.
    ///
    /// # Errors
    /// The reader or the sink fails.
    pub fn of_stream(
        mut reader: impl Read,
        mut sink: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<(Self, u64)> {
        let mut buffer = vec![0; BUFFER];
        let mut hash = Sha256::new();
        let mut bytes = 0_u64;
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hash.update(&buffer[..read]);
            sink(&buffer[..read])?;
            bytes += read as u64;
        }
        Ok((Sha256Digest(hash.finalize().into()), bytes))
    }

    /// Makes a digest from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Sha256Digest(bytes)
    }

    /// Returns the 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Decodes exactly `N` bytes of lower-case hexadecimal, so that a value has one spelling.
pub(crate) fn decode_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

impl FromStr for Sha256Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        decode_hex(text).map(Sha256Digest).ok_or(DigestError)
    }
}

impl TryFrom<String> for Sha256Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Sha256Digest> for String {
    fn from(digest: Sha256Digest) -> String {
        digest.to_string()
    }
}

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of "abc" that FIPS 180-4 gives as its example.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_standard_example() {
        let standard = Sha256Digest::of(b"abc");
        assert_eq!(standard.to_string(), ABC);
        assert_eq!(format!("{standard:?}"), ABC);
        assert_eq!(hex::encode(standard.as_bytes()), ABC);
        let mut copy = Vec::new();
        let (digest, bytes) = Sha256Digest::of_stream(&b"abc"[..], |piece| {
            copy.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        assert_eq!((digest.to_string().as_str(), bytes), (ABC, 3));
        assert_eq!(copy, b"abc");
    }

    #[test]
    fn a_digest_has_one_spelling() {
        assert_eq!(ABC.parse::<Sha256Digest>().unwrap().to_string(), ABC);
        assert_eq!(ABC.to_uppercase().parse::<Sha256Digest>(), Err(DigestError));
        assert_eq!(ABC[1..].parse::<Sha256Digest>(), Err(DigestError));
    }

    /// Fails once, and then reads the bytes.
    struct FailingOnce(Option<io::ErrorKind>, &'static [u8]);

    impl Read for FailingOnce {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.take() {
                Some(kind) => Err(kind.into()),
                None => self.1.read(buffer),
            }
        }
    }

    #[test]
    fn an_interrupted_read_is_repeated_and_a_failed_one_is_an_error() {
        let read = |kind| Sha256Digest::of_stream(FailingOnce(Some(kind), b"abc"), |_| Ok(()));
        let (digest, bytes) = read(io::ErrorKind::Interrupted).unwrap();
        assert_eq!((digest.to_string().as_str(), bytes), (ABC, 3));
        let error = read(io::ErrorKind::TimedOut).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
