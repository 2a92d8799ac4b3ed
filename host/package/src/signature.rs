//! `manifest.sig`: the detached signature.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::digest::decode_hex;
use crate::error::Fault;
use crate::manifest::SIGNATURE;
use crate::{Manifest, Package, PackageError, PublicKey, SigningKey, files};

/// The largest signature file that is read, bytes.
pub const LARGEST_SIGNATURE: u64 = 1024;

/// What `manifest.sig` says: a line with the public key and a line with the signature, 128
/// lower-case hexadecimal digits.
struct Detached {
    key: PublicKey,
    signature: [u8; 64],
}

impl Detached {
    fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let read = || {
            let text = str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
            let (key, signature) = text.split_once('\n')?;
            Some(Detached {
                key: key.parse().ok()?,
                signature: decode_hex(signature)?,
            })
        };
        read().ok_or(Fault::SignatureForm)
    }

    fn text(&self) -> String {
        format!("{}\n{}\n", self.key, hex::encode(self.signature))
    }
}

/// The key whose good signature over `manifest` lies in `directory`, `None` where none lies
/// there. A signature that is not good is a fault.
pub(crate) fn signer(directory: &Path, manifest: &Manifest) -> Result<Option<PublicKey>, Fault> {
    let Some(bytes) = files::read_small(directory, SIGNATURE, LARGEST_SIGNATURE)? else {
        return Ok(None);
    };
    judge(&bytes, manifest).map(Some)
}

/// The key whose good signature over `manifest` the bytes of a signature file are.
pub(crate) fn judge(bytes: &[u8], manifest: &Manifest) -> Result<PublicKey, Fault> {
    let detached = Detached::parse(bytes)?;
    if !detached
        .key
        .verifies(&manifest.signed_message()?, &detached.signature)
    {
        return Err(Fault::SignatureMismatch { key: detached.key });
    }
    Ok(detached.key)
}

/// Signs the package in `directory` and returns it as opened. Every byte is checked first: a
/// signature vouches for the files as well. An earlier signature is replaced, since keys may be
/// changed while an id's bytes may not.
pub fn sign(directory: &Path, key: &SigningKey) -> Result<Package, PackageError> {
    let attempt = || {
        let package = Package::open_unjudged(directory)?;
        let detached = Detached {
            key: key.public(),
            signature: key.sign(&package.manifest().signed_message()?),
        };
        put(directory, detached.text().as_bytes())?;
        Ok(package.signed_by(key.public()))
    };
    attempt().map_err(|fault: Fault| fault.of(directory))
}

/// Puts the bytes of a signature file into the package in `directory`, in place of any that is there.
pub(crate) fn put(directory: &Path, bytes: &[u8]) -> Result<(), Fault> {
    // Beside the package, not in it: whoever opens it meanwhile must find nothing unlisted.
    let shelf = files::parent(directory);
    let mut file = tempfile::Builder::new()
        .prefix(".signature-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(&shelf)
        .map_err(Fault::io(&shelf))?;
    let place = directory.join(SIGNATURE);
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .map_err(Fault::io(file.path()))?;
    file.persist(&place)
        .map_err(|error| Fault::io(&place)(error.error))?;
    files::sync_directory(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_file_has_one_form() {
        let text = Detached {
            key: SigningKey::from_seed([1; 32]).public(),
            signature: [0xab; 64],
        }
        .text();
        let read = Detached::parse(text.as_bytes()).unwrap();
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
                matches!(Detached::parse(other.as_bytes()), Err(Fault::SignatureForm)),
                "{other:?}"
            );
        }
    }
}
