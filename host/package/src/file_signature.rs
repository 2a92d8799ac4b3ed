//! Signatures of single files that are no part of a package, such as a list of checksums.
//!
//! `FILE.sig` has the form of `manifest.sig`. The signature covers the prefix `domesday-file-v1`, a
//! zero byte and the file's bytes, so it never passes for one of a package.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::signature::{DetachedSignature, LARGEST_SIGNATURE};
use crate::{PublicKey, SigningKey};

const DOMAIN: &[u8] = b"domesday-file-v1\0";
/// The largest file that is signed, bytes. Of larger files one signs the list of checksums.
const LARGEST_FILE: u64 = 1 << 20;

/// A file cannot be signed, or its signature does not hold.
#[derive(Debug, thiserror::Error)]
pub enum FileSignatureError {
    /// The file system refused.
    #[error("cannot read or write {}: {error}", path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// The file system's error.
        error: io::Error,
    },
    /// The file is too large.
    #[error("{} has more than {largest} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        largest: u64,
    },
    /// The signature file has another form.
    #[error("{} is not a signature: a public key and 128 hexadecimal digits, on two lines", path.display())]
    Form {
        /// The signature file.
        path: PathBuf,
    },
    /// Another key made the signature.
    #[error("{} was signed by another key, {signer}", path.display())]
    OtherKey {
        /// The signed file.
        path: PathBuf,
        /// The key that the signature names.
        signer: PublicKey,
    },
    /// The signature is not one of these bytes.
    #[error("{} is not what {signer} signed", path.display())]
    Mismatch {
        /// The signed file.
        path: PathBuf,
        /// The key that the signature names.
        signer: PublicKey,
    },
}

impl FileSignatureError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> FileSignatureError {
        move |error| FileSignatureError::Io {
            path: path.to_owned(),
            error,
        }
    }
}

/// Signs a file with `key`, writes the signature beside it, and returns the signature's path.
///
/// # Errors
/// [`FileSignatureError::TooLarge`], or [`FileSignatureError::Io`] if a file cannot be read or
/// written.
pub fn sign_file(path: &Path, key: &SigningKey) -> Result<PathBuf, FileSignatureError> {
    let signature = DetachedSignature::new(key, &message(path)?);
    let destination = path.with_added_extension("sig");
    File::create(&destination)
        .and_then(|mut file| {
            file.write_all(signature.text().as_bytes())?;
            file.sync_all()
        })
        .map_err(FileSignatureError::io(&destination))?;
    Ok(destination)
}

/// Verifies that `key` signed the file's bytes.
///
/// # Errors
/// The file or its signature cannot be read, another key made the signature, or the file has other
/// bytes.
pub fn verify_file(path: &Path, key: &PublicKey) -> Result<(), FileSignatureError> {
    let signature_path = path.with_added_extension("sig");
    let bytes = read(&signature_path, LARGEST_SIGNATURE)?;
    let signature = DetachedSignature::parse(&bytes).ok_or(FileSignatureError::Form {
        path: signature_path,
    })?;
    let signer = signature.key;
    if signer != *key {
        return Err(FileSignatureError::OtherKey {
            path: path.to_owned(),
            signer,
        });
    }
    if !signature.is_of(&message(path)?) {
        return Err(FileSignatureError::Mismatch {
            path: path.to_owned(),
            signer,
        });
    }
    Ok(())
}

fn message(path: &Path) -> Result<Vec<u8>, FileSignatureError> {
    let mut message = DOMAIN.to_vec();
    message.extend_from_slice(&read(path, LARGEST_FILE)?);
    Ok(message)
}

fn read(path: &Path, largest: u64) -> Result<Vec<u8>, FileSignatureError> {
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(largest + 1).read_to_end(&mut bytes))
        .map_err(FileSignatureError::io(path))? as u64;
    if read > largest {
        return Err(FileSignatureError::TooLarge {
            path: path.to_owned(),
            largest,
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_signature_holds_for_the_signed_bytes_and_the_key_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("SHA256SUMS");
        let [key, other] = [[1; 32], [2; 32]].map(SigningKey::from_seed);
        fs::write(&path, "00  a\n").unwrap();
        let signature = sign_file(&path, &key).unwrap();
        assert_eq!(signature, dir.path().join("SHA256SUMS.sig"));
        verify_file(&path, &key.public()).unwrap();
        assert!(matches!(
            verify_file(&path, &other.public()),
            Err(FileSignatureError::OtherKey { signer, .. }) if signer == key.public()
        ));

        fs::write(&path, "01  a\n").unwrap();
        assert!(matches!(
            verify_file(&path, &key.public()),
            Err(FileSignatureError::Mismatch { .. })
        ));
        fs::write(&signature, "ed25519").unwrap();
        assert!(matches!(
            verify_file(&path, &key.public()),
            Err(FileSignatureError::Form { .. })
        ));
        fs::remove_file(&signature).unwrap();
        assert!(matches!(
            verify_file(&path, &key.public()),
            Err(FileSignatureError::Io { .. })
        ));
    }

    #[test]
    fn the_signed_message_begins_with_a_domain_that_packages_do_not_have() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "x").unwrap();
        assert_eq!(message(&path).unwrap(), b"domesday-file-v1\0x");
    }

    #[test]
    fn a_file_of_more_than_a_mebibyte_is_not_signed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, vec![0; 1 << 20]).unwrap();
        sign_file(&path, &SigningKey::from_seed([1; 32])).unwrap();
        fs::write(&path, vec![0; (1 << 20) + 1]).unwrap();
        assert!(matches!(
            sign_file(&path, &SigningKey::from_seed([1; 32])),
            Err(FileSignatureError::TooLarge { .. })
        ));
    }
}
