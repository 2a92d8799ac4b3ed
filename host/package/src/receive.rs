//! Receives a package from a place that is not a directory.
//!
//! The manifest comes first and says which files must follow. In the end the packages folder holds
//! the whole package durably, or nothing.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::durable::parent_directory;
use crate::error::PackageErrorKind;
use crate::existing::find_existing;
use crate::files::{check_tree, make_readable, sync_directory};
use crate::manifest::{MANIFEST, SIGNATURE};
use crate::open::{check_digest, check_size, read_body};
use crate::publish::put_in_place;
use crate::staging::StagingDirectory;
use crate::write::put_file;
use crate::{
    Attachments, Body, FilePath, Kind, Manifest, PackageError, PackageId, PublicKey,
    PublishOutcome, Sha256Digest, TransferControl, Trust, make_readable_directory, signature,
};

/// The manifest and signature of a package elsewhere, judged before any of its files is fetched.
#[derive(Debug)]
pub struct RemoteManifest {
    manifest: Manifest,
    stored: Vec<u8>,
    signature: Option<Vec<u8>>,
    signer: Option<PublicKey>,
    attachments: Attachments,
    /// The keys whose reports and approvals count.
    trust: Trust,
}

/// The state of a remote package in a packages folder.
#[derive(Debug)]
pub enum ReceiveState {
    /// The package is there already, with the same bytes and at least the same signature.
    Existing(PublishOutcome),
    /// The files of the package are still to come.
    Receiving(Box<PackageReceiver>),
}

/// A package whose files are coming. Dropped before [`PackageReceiver::finish`], it leaves nothing.
#[derive(Debug)]
pub struct PackageReceiver {
    remote: RemoteManifest,
    packages_dir: PathBuf,
    destination: PathBuf,
    staging: StagingDirectory,
}

impl RemoteManifest {
    /// Reads and judges the bytes of a manifest and of its signature. Errors name `from`, their
    /// origin.
    ///
    /// # Errors
    /// The manifest does not parse, is not of `kind` and `id`, or is not signed as `trust` demands.
    pub fn judge(
        (kind, id): (Kind, &PackageId),
        stored: Vec<u8>,
        signature: Option<Vec<u8>>,
        trust: &Trust,
        from: &Path,
    ) -> Result<RemoteManifest, PackageError> {
        let attempt = || {
            let manifest = Manifest::parse(&stored)?;
            if manifest.kind != kind {
                return Err(PackageErrorKind::WrongKind {
                    found: manifest.kind,
                    expected: kind,
                });
            }
            if manifest.id != *id {
                return Err(PackageErrorKind::WrongId {
                    manifest: manifest.id,
                    directory: id.to_string(),
                });
            }
            let signer = match &signature {
                Some(bytes) => Some(signature::judge(bytes, &manifest)?),
                None => None,
            };
            trust.judge(id, signer.as_ref())?;
            Ok((manifest, signer))
        };
        let (manifest, signer) = attempt().map_err(|error| error.of(from))?;
        Ok(RemoteManifest {
            manifest,
            stored,
            signature,
            signer,
            attachments: Attachments::default(),
            trust: trust.clone(),
        })
    }

    /// Adds the attachments that came with the manifest. They are judged where they are needed.
    pub fn with_attachments(self, attachments: Attachments) -> RemoteManifest {
        RemoteManifest {
            attachments,
            ..self
        }
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the SHA-256 of the manifest, which identifies the package with all its files.
    pub fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(&self.stored)
    }

    /// Returns the key that made the signature, if there is a signature.
    pub fn signer(&self) -> Option<&PublicKey> {
        self.signer.as_ref()
    }

    /// Reads the body as the kind that the caller expects.
    ///
    /// # Errors
    /// The body is of another kind or breaks a rule of its kind.
    pub fn body<B: Body>(&self) -> Result<B, PackageError> {
        read_body(&self.manifest).map_err(|error| error.of(Path::new(self.manifest.id.as_str())))
    }

    /// Prepares a staging directory on `packages_dir`, unless the package is there already.
    ///
    /// A missing packages folder is created. An unsigned package with the same bytes takes the
    /// signature that came. The control counts the bytes that are proved.
    ///
    /// # Errors
    /// [`PackageErrorKind::Republished`] if the id exists with other bytes, or the error of the
    /// package that exists. [`PackageErrorKind::Io`] where the transfer was stopped.
    pub fn begin_receiving(
        self,
        packages_dir: &Path,
        control: &TransferControl,
    ) -> Result<ReceiveState, PackageError> {
        let destination = packages_dir.join(self.manifest.id.as_str());
        let attempt = || {
            let heads = (self.signature.as_deref(), &self.attachments, &self.trust);
            match find_existing(&destination, &self.manifest, heads, control)? {
                Some(published) => Ok(Err(published)),
                None => StagingDirectory::new(packages_dir, &self.manifest.id).map(Ok),
            }
        };
        match attempt().map_err(|error: PackageErrorKind| error.of(&destination))? {
            Err(published) => Ok(ReceiveState::Existing(published)),
            Ok(staging) => Ok(ReceiveState::Receiving(Box::new(PackageReceiver {
                remote: self,
                packages_dir: packages_dir.to_owned(),
                destination,
                staging,
            }))),
        }
    }
}

impl PackageReceiver {
    /// Returns the manifest and signature of the package.
    pub fn remote_manifest(&self) -> &RemoteManifest {
        &self.remote
    }

    /// Creates an empty file for the content of `file`. An earlier attempt is discarded.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(&self, file: &FilePath) -> Result<File, PackageError> {
        let path = self.staging.path().join(file.as_str());
        let directory = parent_directory(&path);
        make_readable_directory(directory)
            .map_err(PackageErrorKind::io(directory))
            .and_then(|()| {
                let mut options = OpenOptions::new();
                options.write(true).create(true).truncate(true);
                make_readable(&options, &path).map_err(PackageErrorKind::io(&path))
            })
            .map_err(|error| error.of(&self.destination))
    }

    /// Proves every file against the manifest, makes all durable and puts the package in place. The
    /// control counts the bytes that are proved.
    ///
    /// # Errors
    /// The first file that is missing or differs from the manifest. [`PackageErrorKind::Io`] where
    /// the transfer was stopped. Nothing is kept then.
    pub fn finish(self, control: &TransferControl) -> Result<PublishOutcome, PackageError> {
        let PackageReceiver {
            remote,
            packages_dir,
            destination,
            staging,
        } = self;
        control.note_staging(staging.path());
        let attempt = || {
            let root = staging.path();
            check_tree(root, &remote.manifest.files)?;
            for (file, entry) in &remote.manifest.files {
                let path = root.join(file.as_str());
                let handle = File::open(&path).map_err(PackageErrorKind::io(&path))?;
                handle.sync_all().map_err(PackageErrorKind::io(&path))?;
                let (digest, bytes) =
                    Sha256Digest::of_stream(handle, |piece| control.count(piece.len()))
                        .map_err(PackageErrorKind::io(&path))?;
                check_size(file, entry, bytes)?;
                check_digest(file, entry, digest)?;
                for directory in parent_directory(&path).ancestors() {
                    if directory.starts_with(root) {
                        sync_directory(directory)?;
                    }
                }
            }
            put_file(&root.join(MANIFEST), &remote.stored)?;
            if let Some(signature) = &remote.signature {
                put_file(&root.join(SIGNATURE), signature)?;
            }
            remote.attachments.put_new(root)?;
            sync_directory(root)?;
            let signature = remote.signature.as_deref();
            put_in_place(
                staging,
                &packages_dir,
                &destination,
                &remote.manifest,
                (signature, &remote.attachments, &remote.trust),
                control,
            )
        };
        attempt().map_err(|error: PackageErrorKind| error.of(&destination))
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
