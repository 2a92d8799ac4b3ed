//! Opening: from a directory to a package whose every byte agrees.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::PackageErrorKind;
use crate::files::{check_tree, open_plain, read_small};
use crate::manifest::{LARGEST, MANIFEST};
use crate::{
    Body, BodyError, FileEntry, FileFacts, FilePath, Full, Manifest, PackageError, PublicKey,
    Sha256Digest, Trust, Verification, signature,
};

/// A package that was opened: at that moment every byte agreed with the manifest.
#[derive(Debug, Clone)]
pub struct Package {
    directory: PathBuf,
    manifest: Manifest,
    digest: Sha256Digest,
    signer: Option<PublicKey>,
}

/// Opens the package in `directory` and hashes every byte. The error names the problem and its
/// place.
///
/// # Errors
/// [`PackageError`] with the first problem. It names a manifest that is absent or not canonical, a
/// signature that `trust` refuses, or a file that differs from the manifest.
pub fn open(directory: &Path, trust: &Trust) -> Result<Package, PackageError> {
    open_with(directory, trust, &Full)
}

/// Opens a package as [`open`] does, with the caller's way to prove files.
///
/// # Errors
/// As [`open`], for the files that `verification` does not vouch for.
pub fn open_with(
    directory: &Path,
    trust: &Trust,
    verification: &dyn Verification,
) -> Result<Package, PackageError> {
    let attempt = || {
        let mut package = Package::read_claim(directory)?;
        // Trust comes before the files: a stranger's package is not worth hashing.
        package.signer = signature::signer(directory, &package.manifest)?;
        trust.judge(&package.manifest.id, package.signer.as_ref())?;
        package.prove_files(verification)?;
        Ok(package)
    };
    attempt().map_err(|error: PackageErrorKind| error.of(directory))
}

/// Opens a package without reading its files. They are there with the listed sizes, and the
/// manifest is signed as `trust` demands. What reads a file later has to prove it.
///
/// # Errors
/// As [`open`], but for bytes that are not those of the manifest.
pub fn open_unproved(directory: &Path, trust: &Trust) -> Result<Package, PackageError> {
    /// A verification that reads no file and takes the manifest's word.
    struct Unread;

    impl Verification for Unread {
        fn is_proved(&self, _facts: &FileFacts, _digest: &Sha256Digest) -> bool {
            true
        }

        fn record_proof(&self, _facts: &FileFacts, _digest: &Sha256Digest) {}
    }

    open_with(directory, trust, &Unread)
}

/// Reads the body of the package in `directory` from its signed manifest, and opens no file.
///
/// # Errors
/// The manifest does not parse, is of another kind or is not signed as `trust` demands.
pub fn read_claimed_body<B: Body>(directory: &Path, trust: &Trust) -> Result<B, PackageError> {
    let attempt = || {
        let package = Package::read_claim(directory)?;
        let signer = signature::signer(directory, &package.manifest)?;
        trust.judge(&package.manifest.id, signer.as_ref())?;
        read_body(&package.manifest)
    };
    attempt().map_err(|error: PackageErrorKind| error.of(directory))
}

/// Returns the SHA-256 of the manifest in `directory`, which identifies a package, and reads
/// nothing else. Returns `None` where no manifest can be read.
pub fn read_claimed_digest(directory: &Path) -> Option<Sha256Digest> {
    let stored = read_small(directory, MANIFEST, LARGEST).ok()??;
    Some(Sha256Digest::of(&stored))
}

impl Package {
    /// Reads the claims of the directory; no file is proved yet.
    fn read_claim(directory: &Path) -> Result<Self, PackageErrorKind> {
        let name = directory_name(directory)?;
        let stored =
            read_small(directory, MANIFEST, LARGEST)?.ok_or(PackageErrorKind::NoManifest)?;
        let manifest = Manifest::parse(&stored)?;
        if manifest.id.as_str() != name {
            return Err(PackageErrorKind::WrongId {
                manifest: manifest.id,
                directory: name,
            });
        }
        Ok(Package {
            directory: directory.to_owned(),
            manifest,
            digest: Sha256Digest::of(&stored),
            signer: None,
        })
    }

    /// Proves every file and looks at no signature.
    pub(crate) fn open_without_trust(directory: &Path) -> Result<Self, PackageErrorKind> {
        Package::open_without_trust_with(directory, &Full)
    }

    /// Proves the files as `verification` says, and looks at no signature.
    pub(crate) fn open_without_trust_with(
        directory: &Path,
        verification: &dyn Verification,
    ) -> Result<Self, PackageErrorKind> {
        let package = Package::read_claim(directory)?;
        package.prove_files(verification)?;
        Ok(package)
    }

    /// Returns the package with a signature by `key`.
    pub(crate) fn with_signer(self, key: PublicKey) -> Self {
        Package {
            signer: Some(key),
            ..self
        }
    }

    fn prove_files(&self, verification: &dyn Verification) -> Result<(), PackageErrorKind> {
        check_tree(&self.directory, &self.manifest.files)?;
        for (file, entry) in &self.manifest.files {
            self.prove_file(file, entry, verification)?;
        }
        Ok(())
    }

    fn prove_file(
        &self,
        file: &FilePath,
        entry: &FileEntry,
        verification: &dyn Verification,
    ) -> Result<(), PackageErrorKind> {
        let (handle, metadata) = open_plain(&self.directory, file.as_str())?;
        check_size(file, entry, metadata.len())?;
        let facts = FileFacts::of(&metadata);
        if verification.is_proved(&facts, &entry.sha256) {
            return Ok(());
        }
        let path = self.directory.join(file.as_str());
        let (digest, bytes) =
            Sha256Digest::of_stream(handle, |piece| verification.pace(piece.len()))
                .map_err(PackageErrorKind::io(&path))?;
        check_size(file, entry, bytes)
            .and_then(|()| check_digest(file, entry, digest))
            .inspect_err(|_| verification.record_damage(&facts))?;
        verification.record_proof(&facts, &digest);
        Ok(())
    }

    /// Proves every file again, reading every byte.
    ///
    /// # Errors
    /// [`PackageErrorKind::Size`] or [`PackageErrorKind::Digest`] for a file that differs from the
    /// manifest. [`PackageErrorKind::Io`] for one that cannot be read.
    pub fn prove(&self, verification: &dyn Verification) -> Result<(), PackageError> {
        self.prove_files(verification)
            .map_err(|error| error.of(&self.directory))
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the SHA-256 of `manifest.json`, which identifies the package with all its files.
    pub fn digest(&self) -> Sha256Digest {
        self.digest
    }

    /// Returns the key that made the signature; `None` where there is no signature.
    pub fn signer(&self) -> Option<&PublicKey> {
        self.signer.as_ref()
    }

    /// Returns the directory of the package.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads the body as the kind that the caller expects.
    ///
    /// # Errors
    /// [`PackageErrorKind::WrongKind`] for a package of another kind, [`PackageErrorKind::Body`] if
    /// the body breaks a rule.
    pub fn body<B: Body>(&self) -> Result<B, PackageError> {
        read_body(&self.manifest).map_err(|error| error.of(&self.directory))
    }

    /// Returns the path of `file`, which held the listed bytes when the package was opened.
    ///
    /// A reader to whom a later change matters uses [`Package::bytes`].
    ///
    /// # Errors
    /// [`PackageErrorKind::NotListed`] if the manifest does not list the file.
    pub fn path(&self, file: &str) -> Result<PathBuf, PackageError> {
        self.entry(file)
            .map(|_| self.directory.join(file))
            .map_err(|error| error.of(&self.directory))
    }

    /// Reads and proves the bytes of `file` now, and returns the bytes that were hashed.
    ///
    /// A file that changed after opening is found.
    ///
    /// # Errors
    /// [`PackageErrorKind::NotListed`] if the manifest does not list the file.
    /// [`PackageErrorKind::Size`] or [`PackageErrorKind::Digest`] if it changed,
    /// [`PackageErrorKind::Io`] if it cannot be read.
    pub fn bytes(&self, file: &str) -> Result<Vec<u8>, PackageError> {
        let attempt = || {
            let (file, entry) = self.entry(file)?;
            let (handle, metadata) = open_plain(&self.directory, file.as_str())?;
            check_size(file, entry, metadata.len())?;
            let mut content = Vec::with_capacity(usize::try_from(entry.bytes).unwrap_or(0));
            let (digest, bytes) = Sha256Digest::of_stream(handle, |piece| {
                content.extend_from_slice(piece);
                Ok(())
            })
            .map_err(PackageErrorKind::io(self.directory.join(file.as_str())))?;
            check_size(file, entry, bytes)?;
            check_digest(file, entry, digest)?;
            Ok(content)
        };
        attempt().map_err(|error: PackageErrorKind| error.of(&self.directory))
    }

    fn entry(&self, file: &str) -> Result<(&FilePath, &FileEntry), PackageErrorKind> {
        file.parse::<FilePath>()
            .ok()
            .and_then(|file| self.manifest.files.get_key_value(&file))
            .ok_or_else(|| PackageErrorKind::NotListed {
                file: file.to_owned(),
            })
    }
}

/// Reads the body of `manifest` as `B` and checks it.
pub(crate) fn read_body<B: Body>(manifest: &Manifest) -> Result<B, PackageErrorKind> {
    if manifest.kind != B::KIND {
        return Err(PackageErrorKind::WrongKind {
            found: manifest.kind,
            expected: B::KIND,
        });
    }
    let body: B = serde_json::from_value(manifest.body.clone()).map_err(BodyError::Shape)?;
    body.check(manifest)?;
    Ok(body)
}

fn directory_name(directory: &Path) -> Result<String, PackageErrorKind> {
    // Components drop a trailing slash, through which a link would be followed unseen.
    let plain: PathBuf = directory.components().collect();
    let metadata = fs::symlink_metadata(&plain).map_err(PackageErrorKind::io(directory))?;
    if !metadata.is_dir() {
        return Err(PackageErrorKind::NotADirectory);
    }
    // The real name, also of "." or "..".
    let real = fs::canonicalize(&plain).map_err(PackageErrorKind::io(directory))?;
    Ok(real
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default())
}

pub(crate) fn check_size(
    file: &FilePath,
    entry: &FileEntry,
    found: u64,
) -> Result<(), PackageErrorKind> {
    if found == entry.bytes {
        return Ok(());
    }
    Err(PackageErrorKind::Size {
        file: file.clone(),
        expected: entry.bytes,
        found,
    })
}

pub(crate) fn check_digest(
    file: &FilePath,
    entry: &FileEntry,
    found: Sha256Digest,
) -> Result<(), PackageErrorKind> {
    if found == entry.sha256 {
        return Ok(());
    }
    Err(PackageErrorKind::Digest {
        file: file.clone(),
        expected: entry.sha256,
        found,
    })
}
