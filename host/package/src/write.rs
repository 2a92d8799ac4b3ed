//! Writing: a package appears whole and durable, or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::durable::parent_directory;
use crate::error::PackageErrorKind;
use crate::files::{make_readable, sync_directory};
use crate::manifest::{FORMAT, MANIFEST, SIGNATURE};
use crate::open::{Package, read_body};
use crate::signature::{DetachedSignature, put};
use crate::staging::StagingDirectory;
use crate::{
    Body, FileEntry, FilePath, Manifest, PackageError, PackageId, Sha256Digest, SigningKey,
    Timestamp, TransferControl, make_readable_directory,
};

/// A package that is to be written.
#[derive(Debug, Clone)]
pub struct Draft<B> {
    /// Its id.
    pub id: PackageId,
    /// Creation time, by the caller's clock.
    pub created: Timestamp,
    /// The kind's own part, which also says the kind.
    pub body: B,
    /// Its files and where their bytes come from.
    pub files: BTreeMap<FilePath, Source>,
}

/// The source of a file's bytes.
#[derive(Debug, Clone)]
pub enum Source {
    /// Another file, which is copied.
    Path(PathBuf),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// Writes `draft` as `<packages>/<id>`, unsigned, and returns its manifest.
///
/// A missing packages folder is created. Everything is written and made durable in a
/// hidden staging directory, which is then renamed into place. Where the id exists with the same
/// manifest and intact files, nothing is done and its signature stays. With other bytes it is
/// [`PackageErrorKind::Republished`].
///
/// # Errors
/// [`PackageErrorKind::Republished`] if the id is there with other bytes,
/// [`PackageErrorKind::Body`] if the body breaks a rule. [`PackageErrorKind::Io`] if a file cannot
/// be copied or written.
pub fn write<B: Body>(packages_dir: &Path, draft: Draft<B>) -> Result<Manifest, PackageError> {
    write_signed(packages_dir, draft, None)
}

/// Writes `draft` as [`write()`] does, and signs it where there is a key.
///
/// The package appears with its signature: one without would stop the hosts of its folder. Where
/// the id exists with the same bytes, the signature replaces an earlier one.
///
/// # Errors
/// As [`write()`].
pub fn write_signed<B: Body>(
    packages_dir: &Path,
    draft: Draft<B>,
    key: Option<&SigningKey>,
) -> Result<Manifest, PackageError> {
    let destination = packages_dir.join(draft.id.as_str());
    write_to((packages_dir, &destination), draft, key).map_err(|error| error.of(&destination))
}

fn write_to<B: Body>(
    (packages_dir, destination): (&Path, &Path),
    draft: Draft<B>,
    key: Option<&SigningKey>,
) -> Result<Manifest, PackageErrorKind> {
    let staging = StagingDirectory::new(packages_dir, &draft.id)?;
    let mut files = BTreeMap::new();
    for (file, source) in draft.files {
        let entry = copy(staging.path(), &file, &source, &TransferControl::default())?;
        files.insert(file, entry);
    }
    let manifest = Manifest {
        format: FORMAT,
        kind: B::KIND,
        id: draft.id,
        created: draft.created,
        files,
        body: serde_json::to_value(&draft.body).map_err(PackageErrorKind::ManifestJson)?,
    };
    let stored = manifest.to_bytes()?;
    // The returned manifest is the one that a reader will read. A body that a reader would refuse
    // is refused here.
    let manifest = Manifest::parse(&stored)?;
    read_body::<B>(&manifest)?;
    put_file(&staging.path().join(MANIFEST), &stored)?;
    let signature = match key {
        Some(key) => Some(DetachedSignature::of_manifest(key, &manifest)?.text()),
        None => None,
    };
    if let Some(signature) = &signature {
        put_file(&staging.path().join(SIGNATURE), signature.as_bytes())?;
    }
    sync_directory(staging.path())?;
    let is_new = rename_into_place(staging, packages_dir, destination, &manifest)?;
    if let Some(signature) = signature.filter(|_| !is_new) {
        put(destination, SIGNATURE, signature.as_bytes())?;
    }
    Ok(manifest)
}

/// Writes a small file and makes it durable.
pub(crate) fn put_file(path: &Path, bytes: &[u8]) -> Result<(), PackageErrorKind> {
    create(path)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .map_err(PackageErrorKind::io(path))
}

/// Renames the finished staging directory into place, and returns whether it was renamed.
///
/// It was not where the same package is there already. Renaming never replaces: the system refuses
/// where a directory that holds anything is in the way.
pub(crate) fn rename_into_place(
    staging: StagingDirectory,
    packages_dir: &Path,
    destination: &Path,
    manifest: &Manifest,
) -> Result<bool, PackageErrorKind> {
    match fs::rename(staging.path(), destination) {
        Ok(()) => {
            staging.keep();
            sync_directory(packages_dir)?;
            Ok(true)
        }
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::DirectoryNotEmpty
                    | io::ErrorKind::AlreadyExists
                    | io::ErrorKind::NotADirectory
            ) =>
        {
            let published = Package::open_without_trust(destination)?;
            if published.manifest() == manifest {
                Ok(false)
            } else {
                Err(PackageErrorKind::Republished)
            }
        }
        Err(error) => Err(PackageErrorKind::io(destination)(error)),
    }
}

fn create(path: &Path) -> io::Result<File> {
    make_readable(OpenOptions::new().write(true).create_new(true), path)
}

/// Writes one file below `root` and makes it and its directories durable.
pub(crate) fn copy(
    root: &Path,
    file: &FilePath,
    source: &Source,
    control: &TransferControl,
) -> Result<FileEntry, PackageErrorKind> {
    let path = root.join(file.as_str());
    let directory = parent_directory(&path);
    make_readable_directory(directory).map_err(PackageErrorKind::io(directory))?;
    let mut target = create(&path).map_err(PackageErrorKind::io(&path))?;
    let (sha256, bytes) = match source {
        Source::Path(from) => {
            let from = File::open(from).map_err(PackageErrorKind::io(from))?;
            Sha256Digest::of_stream(from, |piece| {
                control.count(piece.len())?;
                target.write_all(piece)
            })
        }
        Source::Bytes(bytes) => {
            Sha256Digest::of_stream(bytes.as_slice(), |piece| target.write_all(piece))
        }
    }
    .map_err(PackageErrorKind::io(&path))?;
    target.sync_all().map_err(PackageErrorKind::io(&path))?;
    for ancestor in directory
        .ancestors()
        .take_while(|dir| dir.starts_with(root))
    {
        sync_directory(ancestor)?;
    }
    Ok(FileEntry { bytes, sha256 })
}
