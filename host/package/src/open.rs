//! Opening: from a directory to a package whose every byte agrees.

use std::fs;
use std::path::{Path, PathBuf};

use domesday_breaks::broken;

use crate::error::Fault;
use crate::files::{check_tree, open_plain, read_small};
use crate::manifest::{LARGEST, MANIFEST};
use crate::{
    Body, BodyFault, FileEntry, FileFacts, FilePath, Full, Manifest, PackageError, PublicKey,
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

/// Opens the package in `directory`, hashing every byte; the error names what is wrong and where.
pub fn open(directory: &Path, trust: &Trust) -> Result<Package, PackageError> {
    open_with(directory, trust, &Full)
}

/// As [`open`], with the caller's way to prove files.
pub fn open_with(
    directory: &Path,
    trust: &Trust,
    verification: &dyn Verification,
) -> Result<Package, PackageError> {
    let attempt = || {
        let mut package = Package::claimed(directory)?;
        // Trust comes before the files: a stranger's package is not worth hashing.
        package.signer = signature::signer(directory, &package.manifest)?;
        trust.judge(&package.manifest.id, package.signer.as_ref())?;
        package.prove_files(verification)?;
        Ok(package)
    };
    attempt().map_err(|fault: Fault| fault.of(directory))
}

/// The body of the package in `directory` as its signed manifest has it; no file is looked at.
///
/// # Errors
/// Where the manifest is none, not of this kind or not signed as `trust` demands.
pub fn claimed_body<B: Body>(directory: &Path, trust: &Trust) -> Result<B, PackageError> {
    let attempt = || {
        let package = Package::claimed(directory)?;
        let signer = signature::signer(directory, &package.manifest)?;
        trust.judge(&package.manifest.id, signer.as_ref())?;
        read_body(&package.manifest)
    };
    attempt().map_err(|fault: Fault| fault.of(directory))
}

impl Package {
    /// Reads what the directory claims to be; no file is proved yet.
    fn claimed(directory: &Path) -> Result<Self, Fault> {
        let name = directory_name(directory)?;
        let stored = read_small(directory, MANIFEST, LARGEST)?.ok_or(Fault::NoManifest)?;
        let manifest = Manifest::parse(&stored)?;
        if manifest.id.as_str() != name {
            return Err(Fault::WrongId {
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
    pub(crate) fn open_unjudged(directory: &Path) -> Result<Self, Fault> {
        let package = Package::claimed(directory)?;
        package.prove_files(&Full)?;
        Ok(package)
    }

    /// The package, now with a good signature by `key`.
    pub(crate) fn signed_by(self, key: PublicKey) -> Self {
        Package {
            signer: Some(key),
            ..self
        }
    }

    fn prove_files(&self, verification: &dyn Verification) -> Result<(), Fault> {
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
    ) -> Result<(), Fault> {
        let (handle, metadata) = open_plain(&self.directory, file.as_str())?;
        check_size(file, entry, metadata.len())?;
        let facts = FileFacts::of(&metadata);
        if verification.vouches(&facts, &entry.sha256) {
            return Ok(());
        }
        let path = self.directory.join(file.as_str());
        let (digest, bytes) =
            Sha256Digest::of_stream(handle, |_| Ok(())).map_err(Fault::io(&path))?;
        check_size(file, entry, bytes)?;
        check_digest(file, entry, digest)?;
        verification.proved(&facts, &digest);
        Ok(())
    }

    /// Proves every file again, reading every byte.
    pub fn prove(&self, verification: &dyn Verification) -> Result<(), PackageError> {
        self.prove_files(verification)
            .map_err(|fault| fault.of(&self.directory))
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// SHA-256 of `manifest.json`. It identifies the package with all its files.
    pub fn digest(&self) -> Sha256Digest {
        self.digest
    }

    /// The key whose signature is good; `None` where there is no signature.
    pub fn signer(&self) -> Option<&PublicKey> {
        self.signer.as_ref()
    }

    /// The directory that the package lies in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The body, as the kind that the caller expects.
    pub fn body<B: Body>(&self) -> Result<B, PackageError> {
        read_body(&self.manifest).map_err(|fault| fault.of(&self.directory))
    }

    /// Where `file` lies. It held the listed bytes when the package was opened; a reader to whom
    /// a later change matters uses [`Package::bytes`].
    pub fn path(&self, file: &str) -> Result<PathBuf, PackageError> {
        self.entry(file)
            .map(|_| self.directory.join(file))
            .map_err(|fault| fault.of(&self.directory))
    }

    /// The bytes of `file`, read now and proved now, so that a file that was changed after
    /// opening is found. The bytes returned are those that were hashed.
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
            .map_err(Fault::io(self.directory.join(file.as_str())))?;
            check_size(file, entry, bytes)?;
            check_digest(file, entry, digest)?;
            Ok(content)
        };
        attempt().map_err(|fault: Fault| fault.of(&self.directory))
    }

    fn entry(&self, file: &str) -> Result<(&FilePath, &FileEntry), Fault> {
        file.parse::<FilePath>()
            .ok()
            .and_then(|file| self.manifest.files.get_key_value(&file))
            .ok_or_else(|| Fault::NotListed {
                file: file.to_owned(),
            })
    }
}

/// The body of `manifest` as `B`, checked.
pub(crate) fn read_body<B: Body>(manifest: &Manifest) -> Result<B, Fault> {
    if manifest.kind != B::KIND {
        return Err(Fault::WrongKind {
            found: manifest.kind,
            expected: B::KIND,
        });
    }
    let body: B = serde_json::from_value(manifest.body.clone()).map_err(BodyFault::Shape)?;
    body.check(manifest)?;
    Ok(body)
}

fn directory_name(directory: &Path) -> Result<String, Fault> {
    // Components drop a trailing slash, through which a link would be followed unseen.
    let plain: PathBuf = directory.components().collect();
    let metadata = fs::symlink_metadata(&plain).map_err(Fault::io(directory))?;
    if !metadata.is_dir() {
        return Err(Fault::NotADirectory);
    }
    // The real name, also of "." or "..".
    let real = fs::canonicalize(&plain).map_err(Fault::io(directory))?;
    Ok(real
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default())
}

pub(crate) fn check_size(file: &FilePath, entry: &FileEntry, found: u64) -> Result<(), Fault> {
    if found == entry.bytes {
        return Ok(());
    }
    Err(Fault::Size {
        file: file.clone(),
        expected: entry.bytes,
        found,
    })
}

pub(crate) fn check_digest(
    file: &FilePath,
    entry: &FileEntry,
    found: Sha256Digest,
) -> Result<(), Fault> {
    if found == entry.sha256 || broken("package-digest") {
        return Ok(());
    }
    Err(Fault::Digest {
        file: file.clone(),
        expected: entry.sha256,
        found,
    })
}
