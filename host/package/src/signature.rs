//! Detached signatures: `manifest.sig`, and those of the attachments.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::digest::decode_hex;
use crate::durable::parent_directory;
use crate::error::PackageErrorKind;
use crate::manifest::SIGNATURE;
use crate::{Manifest, PublicKey, SigningKey, files};

/// The largest signature file that is read, bytes.
pub const LARGEST_SIGNATURE: u64 = 1024;

/// The content of a signature file: a line with the public key and a line with the signature.
///
/// The signature is 128 lower-case hexadecimal digits.
pub(crate) struct DetachedSignature {
    pub(crate) key: PublicKey,
    pub(crate) signature: [u8; 64],
}

impl DetachedSignature {
    /// Signs a message.
    pub(crate) fn new(key: &SigningKey, message: &[u8]) -> Self {
        DetachedSignature {
            key: key.public(),
            signature: key.sign(message),
        }
    }

    /// Signs a package by its manifest.
    pub(crate) fn of_manifest(
        key: &SigningKey,
        manifest: &Manifest,
    ) -> Result<Self, PackageErrorKind> {
        Ok(DetachedSignature::new(key, &manifest.signed_message()?))
    }

    /// Parses a signature file, and returns `None` where it has another form.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (key, signature) = text.split_once('\n')?;
        Some(DetachedSignature {
            key: key.parse().ok()?,
            signature: decode_hex(signature)?,
        })
    }

    /// Reports whether it is its key's signature over `message`.
    pub(crate) fn is_of(&self, message: &[u8]) -> bool {
        self.key.verifies(message, &self.signature)
    }

    pub(crate) fn text(&self) -> String {
        format!("{}\n{}\n", self.key, hex::encode(self.signature))
    }
}

/// Returns the key that made the signature over `manifest` in `directory`, or `None` without one.
///
/// A signature that does not verify is an error.
pub(crate) fn signer(
    directory: &Path,
    manifest: &Manifest,
) -> Result<Option<PublicKey>, PackageErrorKind> {
    let Some(bytes) = files::read_small(directory, SIGNATURE, LARGEST_SIGNATURE)? else {
        return Ok(None);
    };
    judge(&bytes, manifest).map(Some)
}

/// Returns the key that made the signature in `bytes` over `manifest`.
pub(crate) fn judge(bytes: &[u8], manifest: &Manifest) -> Result<PublicKey, PackageErrorKind> {
    let detached = DetachedSignature::parse(bytes).ok_or(PackageErrorKind::SignatureForm)?;
    if !detached.is_of(&manifest.signed_message()?) {
        return Err(PackageErrorKind::SignatureMismatch { key: detached.key });
    }
    Ok(detached.key)
}

/// Puts the file `name` beside the manifest of the package in `directory`, in place of any other.
pub(crate) fn put(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), PackageErrorKind> {
    // Beside the package: a reader that opens it meanwhile must find no unlisted file.
    let packages_dir = parent_directory(directory);
    let mut file = tempfile::Builder::new()
        .prefix(".signature-")
        .permissions(fs::Permissions::from_mode(files::READABLE_FILE))
        .tempfile_in(packages_dir)
        .map_err(PackageErrorKind::io(packages_dir))?;
    let destination = directory.join(name);
    files::open_to_readers(file.as_file(), files::READABLE_FILE)
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.as_file().sync_all())
        .map_err(PackageErrorKind::io(file.path()))?;
    file.persist(&destination)
        .map_err(|error| PackageErrorKind::io(&destination)(error.error))?;
    files::sync_directory(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_file_has_one_form() {
        let text = DetachedSignature {
            key: SigningKey::from_seed([1; 32]).public(),
            signature: [0xab; 64],
        }
        .text();
        let read = DetachedSignature::parse(text.as_bytes()).unwrap();
        assert_eq!(read.text(), text);
        let others = [
            text.trim_end().to_owned(),
            format!("{text}\n"),
            text.replace('\n', "\r\n"),
            text.replace("ab", "AB"),
            text[..text.len() - 3].to_owned() + "\n",
            String::new(),
        ];
        for other in others {
            assert!(
                DetachedSignature::parse(other.as_bytes()).is_none(),
                "{other:?}"
            );
        }
    }
}
