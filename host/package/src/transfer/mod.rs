//! Transfers of releases between a folder of releases and another folder, a registry or an object
//! store.
//!
//! A release travels with the snapshot that it is pinned to. The snapshot goes first, so no release
//! is anywhere without it. Another snapshot of the same id is refused before anything is copied.

mod error;
mod replacement;
mod repository;
mod set_aside;
#[cfg(test)]
mod tests;

pub use self::error::TransferError;
pub use self::repository::{FileProgress, Repository, RepositoryError};

use self::replacement::Replacement;
use self::repository::reword_conflict;
use crate::publish::publish_under;
use crate::snapshot_pin::check_pin;
use crate::{
    Attachments, Full, Kind, LARGEST_VERIFIED_AGAIN, Manifest, Package, PackageId, PublicKey,
    PublishOutcome, RemoteManifest, Sha256Digest, TransferControl, Trust, ValuationBody,
    Verification, judge_check, open_with, publish,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// A location that packages are published to or pulled from.
pub enum Remote {
    /// A folder of releases, and the control of what is copied.
    Folder(PathBuf, Arc<TransferControl>),
    /// A repository of a registry or a location in an object store, and the control of what is
    /// fetched.
    Repository(Box<dyn Repository>, Arc<TransferControl>),
}

/// The listener to a transfer.
pub trait TransferObserver {
    /// Shows how far a file has come: its name, the bytes so far and in all.
    fn show_progress(&self, file: &str, done: u64, total: u64);

    /// Takes a sentence about a package that is where it should be.
    fn say(&self, sentence: &str);

    /// Takes a warning about a package.
    fn warn(&self, warning: &str) {
        self.say(warning);
    }
}

/// A release to publish to a location.
pub struct PublishedRelease<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: &'a PackageId,
    /// True if the snapshot that it pins goes too.
    pub with_snapshot: bool,
}

/// A release to pull from a location.
pub struct PulledRelease<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: &'a PackageId,
    /// The SHA-256 of its manifest, where it is known. Other bytes are refused there, and set aside
    /// here.
    pub manifest: Option<&'a str>,
    /// True if the snapshot that it pins comes too.
    pub with_snapshot: bool,
}

impl PulledRelease<'_> {
    /// Refuses another manifest than the known one.
    fn check(&self, found: Sha256Digest) -> Result<(), TransferError> {
        match self.manifest {
            Some(manifest) if manifest != found.to_string() => Err(TransferError::OtherManifest {
                id: self.id.clone(),
                found,
                promoted: manifest.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Brings the release by `transfer`, into the folder of packages that it takes. A package here
    /// that has another manifest than the known one stays in its place until the new one is whole.
    fn bring<T>(
        &self,
        (here, control): (&Path, &TransferControl),
        observer: &dyn TransferObserver,
        transfer: impl FnOnce(&Path) -> Result<T, TransferError>,
    ) -> Result<T, TransferError> {
        let packages_dir = here.join(self.kind.as_str());
        let replacement = match self.manifest {
            Some(manifest) => Replacement::prepare(&packages_dir, self.id, manifest, control)?,
            None => None,
        };
        let Some(replacement) = replacement else {
            return transfer(&packages_dir);
        };
        let transferred = transfer(replacement.folder())?;
        if let Some(folder) = replacement.put_in_place(control)? {
            observer.say(&format!(
                "another package of {} was here, and is in {} now",
                self.id,
                folder.display()
            ));
        }
        Ok(transferred)
    }
}

impl Remote {
    /// Asks whether releases can be fetched from there, and fetches none.
    ///
    /// # Errors
    /// The folder cannot be read, or the registry or store cannot be reached or refuses.
    pub fn probe(&self) -> Result<(), TransferError> {
        let folder = match self {
            Remote::Folder(folder, _) => folder,
            Remote::Repository(repository, _) => return Ok(repository.probe()?),
        };
        let mut folders = vec![folder.clone()];
        let kinds = [Kind::Valuation, Kind::Property, Kind::Markets, Kind::Rates];
        folders.extend(kinds.map(|kind| folder.join(kind.as_str())));
        for path in folders {
            match fs::read_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && path != *folder => {}
                listed => drop(listed.map_err(|source| TransferError::Unreadable(path, source))?),
            }
        }
        Ok(())
    }

    /// Sends a release of a folder of releases there, if it passed its check.
    ///
    /// # Errors
    /// A package is incomplete or not trusted, or its id exists with other bytes. The release has
    /// no trusted report of a check that it passed.
    pub fn publish(
        &self,
        wanted: PublishedRelease<'_>,
        (here, trust): (&Path, &Trust),
        observer: &dyn TransferObserver,
    ) -> Result<(), TransferError> {
        let release = open_package(here, wanted.kind, wanted.id, trust)?;
        if wanted.kind != Kind::Valuation {
            return self.put(&release, observer);
        }
        // Before anything is copied. A host that pulls the release judges it when it promotes it.
        let attachments = Attachments::read(release.directory())?;
        let evidence = judge_check(&release, &attachments, trust, false)?;
        if !evidence.not_judged.is_empty() {
            observer.warn(&format!(
                "Its check did not judge {}, and not judged is not passed",
                evidence.not_judged.join(", ")
            ));
        }
        let body: ValuationBody = release.body()?;
        if wanted.with_snapshot {
            let snapshot = open_package(here, Kind::Property, &body.snapshot.id, trust)?;
            check_pin(&body, &snapshot.body()?, &here.display().to_string())?;
            self.put(&snapshot, observer)?;
        }
        self.put(&release, observer)
    }

    /// Sends a package there.
    fn put(&self, package: &Package, observer: &dyn TransferObserver) -> Result<(), TransferError> {
        let manifest = package.manifest();
        let repository = match self {
            Remote::Folder(folder, control) => {
                let packages_dir = folder.join(manifest.kind.as_str());
                let copied = copy(package, (&packages_dir, control), None)?;
                copied.say(folder, observer);
                return Ok(());
            }
            Remote::Repository(repository, _) => repository,
        };
        let progress = &mut |file: &str, done, total| observer.show_progress(file, done, total);
        let outcome =
            repository
                .publish(package, progress)
                .map_err(|error| TransferError::NotSent {
                    word: word(manifest.kind),
                    id: manifest.id.clone(),
                    source: Box::new(error),
                })?;
        let location = repository.reference(manifest.kind, &manifest.id);
        say(manifest, &location, package.signer(), outcome, observer);
        Ok(())
    }

    /// Brings a release from there into a folder of releases.
    ///
    /// # Errors
    /// A package is not there, is not trusted, or its id is here with other bytes. Nothing stays
    /// of a refused package.
    pub fn pull(
        &self,
        wanted: PulledRelease<'_>,
        (here, trust): (&Path, &Trust),
        observer: &dyn TransferObserver,
    ) -> Result<(), TransferError> {
        let (kind, id) = (wanted.kind, wanted.id);
        let with_snapshot = wanted.with_snapshot && kind == Kind::Valuation;
        let snapshots = here.join(Kind::Property.as_str());
        match self {
            Remote::Folder(folder, control) => {
                let from = folder.display().to_string();
                let open =
                    |kind, id: &PackageId| open_package_with(folder, (kind, id), trust, &**control);
                let release = open(kind, id)?;
                wanted.check(release.digest())?;
                let source = (from.as_str(), trust);
                let copy = |package: &Package, packages_dir: &Path| {
                    copy(package, (packages_dir, control), Some(source))
                };
                if with_snapshot {
                    let body: ValuationBody = release.body()?;
                    let snapshot = open(Kind::Property, &body.snapshot.id)?;
                    check_pin(&body, &snapshot.body()?, &from)?;
                    copy(&snapshot, &snapshots)?.say(here, observer);
                }
                let copied = wanted.bring((here, control), observer, |packages_dir| {
                    copy(&release, packages_dir)
                })?;
                copied.say(here, observer);
            }
            Remote::Repository(repository, control) => {
                let repository = &**repository;
                let release = repository.fetch_manifest(kind, id, trust)?;
                wanted.check(release.digest())?;
                if with_snapshot {
                    let body: ValuationBody = release.body()?;
                    let id = &body.snapshot.id;
                    let snapshot = repository.fetch_manifest(Kind::Property, id, trust)?;
                    let location = repository.reference(Kind::Property, id);
                    check_pin(&body, &snapshot.body()?, &location)?;
                    fetch(repository, snapshot, &snapshots, observer)?.say(here, observer);
                }
                let fetched = wanted.bring((here, control), observer, |packages_dir| {
                    fetch(repository, release, packages_dir, observer)
                })?;
                fetched.say(here, observer);
            }
        }
        Ok(())
    }
}

/// Opens a package of a folder of releases and verifies every byte.
fn open_package(
    folder: &Path,
    kind: Kind,
    id: &PackageId,
    trust: &Trust,
) -> Result<Package, TransferError> {
    open_package_with(folder, (kind, id), trust, &Full)
}

fn open_package_with(
    folder: &Path,
    (kind, id): (Kind, &PackageId),
    trust: &Trust,
    verification: &dyn Verification,
) -> Result<Package, TransferError> {
    let package_dir = folder.join(kind.as_str()).join(id.as_str());
    if !package_dir.exists() {
        return Err(TransferError::Absent {
            word: word(kind),
            id: id.clone(),
            folder: folder.to_owned(),
        });
    }
    Ok(open_with(&package_dir, trust, verification)?)
}

/// A package that came into a folder of releases.
struct TransferredPackage {
    manifest: Manifest,
    signer: Option<PublicKey>,
    outcome: PublishOutcome,
}

impl TransferredPackage {
    /// Says that the package is in a folder of releases.
    fn say(&self, releases: &Path, observer: &dyn TransferObserver) {
        let packages_dir = releases.join(self.manifest.kind.as_str());
        let location = packages_dir.join(self.manifest.id.as_str());
        let location = location.display().to_string();
        let signer = self.signer.as_ref();
        say(&self.manifest, &location, signer, self.outcome, observer);
    }
}

/// Copies a package into a folder of packages. `from` is the source of a pull, if it is one, and
/// the trust of the host that pulls.
fn copy(
    package: &Package,
    (packages_dir, control): (&Path, &TransferControl),
    from: Option<(&str, &Trust)>,
) -> Result<TransferredPackage, TransferError> {
    let manifest = package.manifest();
    let copied = match from {
        Some((from, trust)) => publish_under(trust, package, packages_dir, control)
            .map_err(|error| reword_conflict(error, from)),
        None => publish(package, packages_dir, control),
    };
    let outcome = copied.map_err(|error| TransferError::NotCopied {
        word: word(manifest.kind),
        id: manifest.id.clone(),
        source: Box::new(error),
    })?;
    Ok(TransferredPackage {
        manifest: manifest.clone(),
        signer: package.signer().copied(),
        outcome,
    })
}

/// Fetches a package into a folder of packages.
fn fetch(
    repository: &dyn Repository,
    remote: RemoteManifest,
    packages_dir: &Path,
    observer: &dyn TransferObserver,
) -> Result<TransferredPackage, TransferError> {
    let manifest = remote.manifest().clone();
    let signer = remote.signer().copied();
    let (kind, id) = (manifest.kind, &manifest.id);
    let progress = &mut |file: &str, done, total| observer.show_progress(file, done, total);
    let outcome = repository
        .pull(remote, packages_dir, progress)
        .map_err(|error| TransferError::NotFetched {
            word: word(kind),
            id: id.clone(),
            source: Box::new(error.reword_conflict(&repository.reference(kind, id))),
        })?;
    Ok(TransferredPackage {
        manifest,
        signer,
        outcome,
    })
}

fn say(
    manifest: &Manifest,
    location: &str,
    signer: Option<&PublicKey>,
    outcome: PublishOutcome,
    observer: &dyn TransferObserver,
) {
    let (kind, id) = (word(manifest.kind), &manifest.id);
    let by = |signer: Option<&PublicKey>| match signer {
        Some(key) => format!("signed by {key}"),
        None => "not signed".to_owned(),
    };
    observer.say(&match outcome {
        PublishOutcome::Copied => format!("{kind} {id} is in {location}, {}", by(signer)),
        PublishOutcome::Completed => format!(
            "{kind} {id} is in {location} already, the same bytes; missing files were added, {}",
            by(signer)
        ),
        PublishOutcome::AlreadyThere(there) => format!(
            "{kind} {id} is in {location} already, the same bytes, {}",
            by(there.as_ref())
        ),
        PublishOutcome::Repaired => format!(
            "{kind} {id} is in {location}, the same bytes again; damaged files were replaced, {}",
            by(signer)
        ),
        PublishOutcome::SizesCompared { signer, sent } => {
            let sent = match sent {
                true => "missing or damaged files were sent; ",
                false => "",
            };
            format!(
                "{kind} {id} is in {location} already; {sent}files of more than {} MiB were not \
                 read and have the same sizes, {}",
                LARGEST_VERIFIED_AGAIN >> 20,
                by(signer.as_ref())
            )
        }
    });
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Property => "snapshot",
        _ => "release",
    }
}
