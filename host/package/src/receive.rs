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
    PublishOutcome, Sha256Digest, Trust, make_readable_directory, signature,
};

/// The manifest and signature of a package elsewhere, judged before any of its files is fetched.
#[derive(Debug)]
pub struct RemoteManifest {
    manifest: Manifest,
    stored: Vec<u8>,
    signature: Option<Vec<u8>>,
    signer: Option<PublicKey>,
    attachments: Attachments,
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
    /// A missing packages folder is created. An unsigned package with the same bytes
    /// takes the signature that came.
    ///
    /// # Errors
    /// [`PackageErrorKind::Republished`] if the id exists with other bytes, or the error of the
    /// package that exists.
    pub fn begin_receiving(self, packages_dir: &Path) -> Result<ReceiveState, PackageError> {
        let destination = packages_dir.join(self.manifest.id.as_str());
        let attempt = || {
            let signature = self.signature.as_deref();
            match find_existing(&destination, &self.manifest, signature, &self.attachments)? {
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

    /// Proves every file against the manifest, makes all durable and puts the package in place.
    ///
    /// # Errors
    /// The first file that is missing or differs from the manifest. Nothing is kept then.
    pub fn finish(self) -> Result<PublishOutcome, PackageError> {
        let PackageReceiver {
            remote,
            packages_dir,
            destination,
            staging,
        } = self;
        let attempt = || {
            let root = staging.path();
            check_tree(root, &remote.manifest.files)?;
            for (file, entry) in &remote.manifest.files {
                let path = root.join(file.as_str());
                let handle = File::open(&path).map_err(PackageErrorKind::io(&path))?;
                handle.sync_all().map_err(PackageErrorKind::io(&path))?;
                let (digest, bytes) = Sha256Digest::of_stream(handle, |_| Ok(()))
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
                (signature, &remote.attachments),
            )
        };
        attempt().map_err(|error: PackageErrorKind| error.of(&destination))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Draft, Package, PropertyBody, RegisterFile, SigningKey, Source, TrustList, open, sign,
        write,
    };
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;

    /// Writes a signed package in a new packages folder, and returns it with its key.
    fn signed_package() -> (tempfile::TempDir, Package, TrustList) {
        let packages_dir = tempfile::tempdir().unwrap();
        let draft = Draft {
            id: "s-1".parse().unwrap(),
            created: "2026-01-31T09:30:00Z".parse().unwrap(),
            body: PropertyBody {
                snapshot_id: "s-1".parse().unwrap(),
                content_digest: Sha256Digest::of(b"c"),
                schema: 1,
                database: "deep/data".parse().unwrap(),
                sources: vec![RegisterFile {
                    name: "sales.csv".to_owned(),
                    sha256: Sha256Digest::of(b"s"),
                    rows: 1,
                }],
                synthetic: true,
                latest_sale: None,
                counts: BTreeMap::new(),
            },
            files: BTreeMap::from([(
                "deep/data".parse().unwrap(),
                Source::Bytes(b"rows".to_vec()),
            )]),
        };
        write(packages_dir.path(), draft).unwrap();
        let key = SigningKey::from_seed([7; 32]);
        let package = sign(&packages_dir.path().join("s-1"), &key).unwrap();
        let mut list = TrustList::new();
        list.add(key.public(), "");
        (packages_dir, package, list)
    }

    fn remote_manifest(package: &Package, trust: Trust) -> Result<RemoteManifest, PackageError> {
        let read = |name| fs::read(package.directory().join(name)).unwrap();
        RemoteManifest::judge(
            (Kind::Property, &package.manifest().id),
            read(MANIFEST),
            Some(read(SIGNATURE)),
            &trust,
            Path::new("far"),
        )
    }

    fn begin_receiving(
        package: &Package,
        list: &TrustList,
        packages_dir: &Path,
    ) -> Box<PackageReceiver> {
        let state = remote_manifest(package, Trust::Required(list.clone()))
            .unwrap()
            .begin_receiving(packages_dir);
        match state.unwrap() {
            ReceiveState::Receiving(receiver) => receiver,
            ReceiveState::Existing(_) => panic!("it is not there"),
        }
    }

    fn count_entries(packages_dir: &Path) -> usize {
        fs::read_dir(packages_dir).unwrap().count()
    }

    #[test]
    fn a_whole_transfer_is_published() {
        let (_dir, package, list) = signed_package();
        let packages_dir = tempfile::tempdir().unwrap();
        let receiver = begin_receiving(&package, &list, packages_dir.path());
        assert_eq!(receiver.remote_manifest().signer(), package.signer());
        let file = "deep/data".parse().unwrap();
        receiver.create(&file).unwrap().write_all(b"ro").unwrap();
        receiver.create(&file).unwrap().write_all(b"rows").unwrap();
        assert_eq!(receiver.finish().unwrap(), PublishOutcome::Copied);
        let trust = Trust::Required(list.clone());
        let there = open(&packages_dir.path().join("s-1"), &trust).unwrap();
        assert_eq!(there.digest(), package.digest());
        assert_eq!(there.signer(), package.signer());
        let again = remote_manifest(&package, trust)
            .unwrap()
            .begin_receiving(packages_dir.path());
        let signer = package.signer().copied();
        assert!(matches!(
            again.unwrap(),
            ReceiveState::Existing(PublishOutcome::AlreadyThere(by)) if by == signer
        ));
    }

    #[test]
    fn a_transfer_unlike_its_manifest_leaves_no_files() {
        let (_dir, package, list) = signed_package();
        let packages_dir = tempfile::tempdir().unwrap();
        let file: FilePath = "deep/data".parse().unwrap();
        let other = begin_receiving(&package, &list, packages_dir.path());
        other.create(&file).unwrap().write_all(b"wors").unwrap();
        assert!(matches!(
            other.finish().unwrap_err().kind,
            PackageErrorKind::Digest { .. }
        ));
        let short = begin_receiving(&package, &list, packages_dir.path());
        short.create(&file).unwrap();
        assert!(matches!(
            short.finish().unwrap_err().kind,
            PackageErrorKind::Size { .. }
        ));
        let none = begin_receiving(&package, &list, packages_dir.path());
        assert!(matches!(
            none.finish().unwrap_err().kind,
            PackageErrorKind::Missing { .. }
        ));
        drop(begin_receiving(&package, &list, packages_dir.path()));
        assert_eq!(count_entries(packages_dir.path()), 0);
    }

    #[test]
    fn it_is_judged_before_any_file_comes() {
        let (_dir, package, _) = signed_package();
        let error = remote_manifest(&package, Trust::Required(TrustList::new())).unwrap_err();
        assert!(matches!(error.kind, PackageErrorKind::Untrusted { .. }));
        let stored = fs::read(package.directory().join(MANIFEST)).unwrap();
        let judge_error = |kind, id: &str, signature| {
            let id = id.parse().unwrap();
            let trust = Trust::Required(TrustList::new());
            RemoteManifest::judge(
                (kind, &id),
                stored.clone(),
                signature,
                &trust,
                Path::new(""),
            )
            .unwrap_err()
            .kind
        };
        assert!(matches!(
            judge_error(Kind::Property, "s-1", None),
            PackageErrorKind::Unsigned
        ));
        assert!(matches!(
            judge_error(Kind::Property, "s-1", Some(b"x".to_vec())),
            PackageErrorKind::SignatureForm
        ));
        assert!(matches!(
            judge_error(Kind::Valuation, "s-1", None),
            PackageErrorKind::WrongKind { .. }
        ));
        assert!(matches!(
            judge_error(Kind::Property, "s-2", None),
            PackageErrorKind::WrongId { .. }
        ));
    }

    #[test]
    fn an_unsigned_copy_takes_the_new_signature_and_a_signed_copy_keeps_its_own() {
        let (_dir, package, list) = signed_package();
        let trust = Trust::Required(list.clone());
        let (other, _, _) = signed_package();
        let destination = other.path().join("s-1");
        for published in [
            |package: &Package, packages_dir: &Path, trust: Trust| match remote_manifest(
                package, trust,
            )
            .unwrap()
            .begin_receiving(packages_dir)
            .unwrap()
            {
                ReceiveState::Existing(published) => published,
                ReceiveState::Receiving(_) => panic!("it is there"),
            },
            |package: &Package, packages_dir: &Path, _: Trust| {
                crate::publish(package, packages_dir).unwrap()
            },
        ] {
            fs::remove_file(destination.join(SIGNATURE)).unwrap();
            let first = published(&package, other.path(), trust.clone());
            assert_eq!(first, PublishOutcome::Completed);
            let signed = open(&destination, &trust).unwrap();
            assert_eq!(signed.signer(), package.signer());
            let again = published(&package, other.path(), trust.clone());
            assert_eq!(
                again,
                PublishOutcome::AlreadyThere(package.signer().copied())
            );

            // Another's signature stays, and it is said whose it is.
            let another = SigningKey::from_seed([8; 32]);
            sign(&destination, &another).unwrap();
            let outcome = published(&package, other.path(), trust.clone());
            assert_eq!(
                outcome,
                PublishOutcome::AlreadyThere(Some(another.public()))
            );
        }
        assert_eq!(count_entries(other.path()), 1);
    }

    #[test]
    fn an_id_that_is_there_with_other_bytes_stays() {
        let (_dir, package, list) = signed_package();
        let (other, _, _) = signed_package();
        let destination = other.path().join("s-1/manifest.json");
        let text = fs::read_to_string(&destination).unwrap();
        fs::write(&destination, text.replace("2026-01-31", "2026-02-01")).unwrap();
        let state = remote_manifest(&package, Trust::Required(list))
            .unwrap()
            .begin_receiving(other.path());
        assert!(matches!(
            state.unwrap_err().kind,
            PackageErrorKind::Republished
        ));
    }

    #[test]
    fn a_failed_rename_is_an_error_though_the_same_package_is_there() {
        let (dir, package, _) = signed_package();
        let manifest = package.manifest();
        let staging = StagingDirectory::new(dir.path(), &manifest.id).unwrap();
        fs::remove_dir(staging.path()).unwrap();
        let destination = package.directory();
        let renamed = crate::write::rename_into_place(staging, dir.path(), destination, manifest);
        assert!(matches!(renamed, Err(PackageErrorKind::Io { .. })));
    }
}
