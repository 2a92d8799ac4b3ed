//! ed25519 keys as small text files.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer};

use crate::digest::decode_hex;
use crate::durable::{create_durably, replace_durably};

/// The prefix of a public key's text.
const PUBLIC: &str = "ed25519:";
/// The prefix of a private key's text: another, so that neither is taken for the other.
const PRIVATE: &str = "ed25519-private:";
/// Read and write for the owner alone.
const OWNER_ONLY: u32 = 0o600;
/// The rights of a public key's file.
const READABLE: u32 = 0o644;

/// A public key: `ed25519:` and 64 lower-case hexadecimal digits. The text is also the key's id,
/// since a shorter one could be shared by two keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// A private key. Its bytes appear in no Debug output.
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A key could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file system refused.
    #[error("cannot read or write the key {}: {error}", path.display())]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// The file system's error.
        error: io::Error,
    },
    /// The text is not a public key, or one that would accept forged signatures.
    #[error("{text:?} is not a public key: 'ed25519:' and 64 lower-case hexadecimal digits")]
    NotAPublicKey {
        /// The text found.
        text: String,
    },
    /// The file does not hold one public key.
    #[error(
        "{} does not hold a public key, which is one line of 'ed25519:' and 64 lower-case hexadecimal digits. \
         Restore the file, or remove it and make the key anew",
        path.display()
    )]
    NotAPublicKeyFile {
        /// The file.
        path: PathBuf,
    },
    /// The file does not hold a private key. The error does not repeat its contents.
    #[error(
        "{} does not hold a private key. Name another file, or restore this one from a backup. If \
         there is none, remove the file and make the key anew",
        path.display()
    )]
    NotAPrivateKey {
        /// The file.
        path: PathBuf,
    },
    /// The public key beside a private key belongs to another one.
    #[error(
        "{} holds the key {found}, and the private key beside it belongs to {expected}. Restore \
         the private key of {found} from a backup, or remove {} to go on with the other key",
        public.display(), public.display()
    )]
    OtherPublicKey {
        /// The file of the public key.
        public: PathBuf,
        /// The key in it.
        found: PublicKey,
        /// The private key's public key.
        expected: PublicKey,
    },
    /// The private key of a public key is lost.
    #[error(
        "{} is missing, and {} holds its public key {found}. Restore the private key from a \
         backup, or remove {} to make another key",
        private.display(), public.display(), public.display()
    )]
    NoPrivateKey {
        /// The file of the private key.
        private: PathBuf,
        /// The file of the public key.
        public: PathBuf,
        /// The key in it.
        found: PublicKey,
    },
    /// Others could read the private key.
    #[error("{} is open to others (mode {mode:o}); make it 600", path.display())]
    PrivateKeyOpenToOthers {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
}

impl KeyError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> KeyError {
        move |error| KeyError::Io {
            path: path.to_owned(),
            error,
        }
    }
}

impl PublicKey {
    /// Reads a public key file: the key, and after a blank an optional comment. Lines that are
    /// empty or begin with `#` are skipped. The comment comes back beside the key.
    ///
    /// # Errors
    /// [`KeyError::Io`] if the file cannot be read, [`KeyError::NotAPublicKeyFile`] if it holds no
    /// key or more than one line.
    pub fn read(path: &Path) -> Result<(Self, String), KeyError> {
        let text = fs::read_to_string(path).map_err(KeyError::io(path))?;
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err(not_a_key_file(path));
        };
        let (key, comment) = line.split_once(' ').unwrap_or((line, ""));
        let key = key.parse().map_err(|_| not_a_key_file(path))?;
        Ok((key, comment.trim().to_owned()))
    }

    /// Writes a public key file that must not exist yet. It is there whole or not at all.
    ///
    /// # Errors
    /// [`KeyError::Io`] if the file exists or cannot be written.
    pub fn write(&self, path: &Path, comment: &str) -> Result<(), KeyError> {
        create_durably(path, READABLE, self.line(comment).as_bytes()).map_err(KeyError::io(path))
    }

    /// Formats the line of a public key file.
    fn line(&self, comment: &str) -> String {
        let comment = comment.replace(['\n', '\r'], " ");
        format!("{self} {comment}").trim_end().to_owned() + "\n"
    }

    /// Reports whether `signature` is this key's over `message`. It is strict: it takes no weak key
    /// and no second spelling of a signature. The signer states the message's domain in the
    /// message.
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        ed25519_dalek::VerifyingKey::from_bytes(&self.0).is_ok_and(|key| {
            key.verify_strict(message, &Signature::from_bytes(signature))
                .is_ok()
        })
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        text.strip_prefix(PUBLIC)
            .and_then(decode_hex)
            .filter(|bytes| {
                ed25519_dalek::VerifyingKey::from_bytes(bytes).is_ok_and(|key| !key.is_weak())
            })
            .map(PublicKey)
            .ok_or_else(|| KeyError::NotAPublicKey {
                text: text.chars().take(80).collect(),
            })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl SigningKey {
    /// Makes a private key from 32 bytes of a secure random source.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// Returns the public key that belongs to it.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Reads the private key at `path`, and makes one of `seed` where there is none. The public key
    /// belongs beside it, with the ending `.pub`. It is made anew where it is missing or cannot be
    /// read. One that can be read is never overwritten: others may know the host by it.
    ///
    /// # Errors
    /// As [`SigningKey::read`], and [`KeyError::Io`] if a file cannot be written.
    /// [`KeyError::OtherPublicKey`] or [`KeyError::NoPrivateKey`] if a public key is there without
    /// its private key.
    pub fn open_pair(path: &Path, seed: [u8; 32], comment: &str) -> Result<Self, KeyError> {
        let beside = path.with_extension("pub");
        // It is read first: a process that makes the pair meanwhile makes the private key first.
        let found = PublicKey::read(&beside).ok().map(|(found, _)| found);
        if !path.exists() {
            if let Some(found) = found {
                return Err(KeyError::NoPrivateKey {
                    private: path.to_owned(),
                    public: beside,
                    found,
                });
            }
            match SigningKey::from_seed(seed).write(path) {
                // Another process made one meanwhile.
                Err(KeyError::Io { error, .. }) if error.kind() == ErrorKind::AlreadyExists => {}
                written => written?,
            }
        }
        let key = SigningKey::read(path)?;
        let expected = key.public();
        if found.is_none() {
            replace_durably(&beside, READABLE, expected.line(comment).as_bytes())
                .map_err(KeyError::io(&beside))?;
        }
        match found {
            Some(found) if found != expected => Err(KeyError::OtherPublicKey {
                public: beside,
                found,
                expected,
            }),
            _ => Ok(key),
        }
    }

    /// Reads a private key file, which must be closed to everyone but its owner.
    ///
    /// # Errors
    /// [`KeyError::PrivateKeyOpenToOthers`] if others may read the file, [`KeyError::Io`] if it
    /// cannot be read. [`KeyError::NotAPrivateKey`] if it holds none.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let mode = fs::metadata(path).map_err(KeyError::io(path))?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::PrivateKeyOpenToOthers {
                path: path.to_owned(),
                mode,
            });
        }
        let text = fs::read_to_string(path).map_err(KeyError::io(path))?;
        text.trim()
            .strip_prefix(PRIVATE)
            .and_then(decode_hex)
            .map(SigningKey::from_seed)
            .ok_or_else(|| KeyError::NotAPrivateKey {
                path: path.to_owned(),
            })
    }

    /// Writes a private key file of mode 0600 that must not exist yet: a key is never lost to
    /// another of the same name. It is there whole or not at all.
    ///
    /// # Errors
    /// [`KeyError::Io`] if the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let line = format!("{PRIVATE}{}\n", hex::encode(self.0.as_bytes()));
        create_durably(path, OWNER_ONLY, line.as_bytes()).map_err(KeyError::io(path))
    }

    /// Signs `message`. The message begins with its own domain, so that a signature means one
    /// thing.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(of {})", self.public())
    }
}

fn not_a_key_file(path: &Path) -> KeyError {
    KeyError::NotAPublicKeyFile {
        path: path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn keys_survive_their_files() {
        let dir = tempfile::tempdir().unwrap();
        let (private, public) = (dir.path().join("a.key"), dir.path().join("a.pub"));
        let key = SigningKey::from_seed([7; 32]);
        key.write(&private).unwrap();
        key.public().write(&public, "valuation team").unwrap();

        assert_eq!(fs::metadata(&private).unwrap().mode() & 0o777, 0o600);
        assert_eq!(SigningKey::read(&private).unwrap().public(), key.public());
        let (read, comment) = PublicKey::read(&public).unwrap();
        assert_eq!((read, comment.as_str()), (key.public(), "valuation team"));
        assert!(key.write(&private).is_err(), "a key was overwritten");
        assert!(!format!("{key:?}").contains(&hex::encode([7_u8; 32])));
        let of_public = format!("SigningKey(of {})", key.public());
        assert_eq!(format!("{key:?}"), of_public);
        assert_eq!(format!("SigningKey(of {:?})", key.public()), of_public);
    }

    #[test]
    fn a_public_key_file_may_have_remarks_and_empty_lines_around_its_one_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.pub");
        let key = SigningKey::from_seed([7; 32]).public();
        fs::write(&path, format!("# A remark.\n\n  {key}  the team \n\n")).unwrap();
        let (read, comment) = PublicKey::read(&path).unwrap();
        assert_eq!((read, comment.as_str()), (key, "the team"));
        fs::write(&path, format!("{key}\n{key}\n")).unwrap();
        let error = PublicKey::read(&path).unwrap_err();
        assert!(matches!(error, KeyError::NotAPublicKeyFile { path: refused } if refused == path));
    }

    /// A crash between the two files leaves the private key alone. Earlier versions could leave an
    /// empty file behind.
    #[test]
    fn a_pair_is_made_once_and_its_public_key_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let (path, beside) = (dir.path().join("host.key"), dir.path().join("host.pub"));
        let open = |seed| SigningKey::open_pair(&path, [seed; 32], "host").map(|key| key.public());
        let public = open(7).unwrap();
        let line = fs::read_to_string(&beside).unwrap();
        assert_eq!(line, format!("{public} host\n"));
        let two = format!("{line}{line}");
        for found in [None, Some(""), Some(two.as_str())] {
            fs::remove_file(&beside).unwrap();
            if let Some(text) = found {
                fs::write(&beside, text).unwrap();
            }
            assert_eq!(open(8).unwrap(), public);
            assert_eq!(fs::read_to_string(&beside).unwrap(), line, "{found:?}");
        }
        fs::write(&beside, format!("{public} my words\n")).unwrap();
        open(8).unwrap();
        let (_, comment) = PublicKey::read(&beside).unwrap();
        assert_eq!(comment, "my words");
        // Another's public key is not overwritten: its private key may be in a backup.
        let other = SigningKey::from_seed([8; 32]).public();
        fs::write(&beside, other.line("host")).unwrap();
        let refused = open(8).unwrap_err();
        assert!(
            matches!(&refused, KeyError::OtherPublicKey { found, expected, .. }
                if (*found, *expected) == (other, public)),
            "{refused}"
        );
        let message = refused.to_string();
        for part in [other, public].map(|key| key.to_string()) {
            assert!(message.contains(&part), "{message}");
        }
        assert!(message.contains("remove"), "{message}");
        assert_eq!(fs::read_to_string(&beside).unwrap(), other.line("host"));
        fs::write(&beside, &line).unwrap();
        // An empty private key is not replaced: a backup may have it.
        fs::write(&path, "").unwrap();
        let error = open(8).unwrap_err();
        assert!(matches!(error, KeyError::NotAPrivateKey { .. }), "{error}");
        assert!(fs::read(&path).unwrap().is_empty());
    }

    #[test]
    fn a_public_key_whose_private_key_is_lost_gets_no_other_one() {
        let dir = tempfile::tempdir().unwrap();
        let (path, beside) = (dir.path().join("host.key"), dir.path().join("host.pub"));
        SigningKey::open_pair(&path, [7; 32], "host").unwrap();
        let line = fs::read_to_string(&beside).unwrap();
        fs::remove_file(&path).unwrap();
        let refused = SigningKey::open_pair(&path, [8; 32], "host").unwrap_err();
        assert!(
            matches!(refused, KeyError::NoPrivateKey { .. }),
            "{refused}"
        );
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(&beside).unwrap(), line);
    }

    #[test]
    fn a_private_key_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.key");
        SigningKey::from_seed([7; 32]).write(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(
            SigningKey::read(&path),
            Err(KeyError::PrivateKeyOpenToOthers { mode: 0o640, .. })
        ));
    }

    #[test]
    fn invalid_keys_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        // The point of order 1 would accept forged signatures.
        let weak = format!("ed25519:01{}", "00".repeat(31));
        let upper = SigningKey::from_seed([7; 32]).public().to_string();
        let upper = upper.to_uppercase().replace("ED25519", "ed25519");
        for text in ["", "ed25519:00", &weak, &upper, "ed25519-private:00"] {
            fs::write(&path, text).unwrap();
            assert!(
                matches!(
                    PublicKey::read(&path),
                    Err(KeyError::NotAPublicKeyFile { .. })
                ),
                "{text}"
            );
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let error = SigningKey::read(&path).unwrap_err();
        assert!(matches!(error, KeyError::NotAPrivateKey { .. }));
    }
}
