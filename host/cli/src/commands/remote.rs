//! The other end of a transfer of packages: a folder of releases, a registry or an object store.

use super::objects::{BucketError, Location, PackageBucket};
use super::oci::{Address, LogLine, Registry, RegistryError};
use super::snapshot_pin::check_pin;
use anyhow::{Context, bail};
use domesday_package::{
    Kind, Manifest, Package, PackageError, PackageErrorKind, PackageId, PublicKey, PublishOutcome,
    RemoteManifest, Sha256Digest, Trust, ValuationBody, open, publish,
};
use domesday_registers::Progress;
use domesday_state::ReleaseKind;
use std::path::{Path, PathBuf};

/// A location that packages are published to or pulled from.
pub enum Remote {
    /// A folder of releases.
    Folder(PathBuf),
    /// A repository of a registry, or a location in an object store.
    Repository(Box<dyn Repository>),
}

/// A store that packages are fetched from by their manifests.
pub trait Repository {
    /// Sends a package there, unless it is there already.
    fn publish(
        &self,
        package: &Package,
        progress: &mut Progress<'_>,
    ) -> anyhow::Result<PublishOutcome>;

    /// Fetches and judges a package's manifest.
    fn fetch_manifest(
        &self,
        kind: Kind,
        id: &PackageId,
        trust: &Trust,
    ) -> anyhow::Result<RemoteManifest>;

    /// Fetches a package's files into a folder of packages.
    fn pull(
        &self,
        remote: RemoteManifest,
        packages_dir: &Path,
        progress: &mut Progress<'_>,
    ) -> anyhow::Result<PublishOutcome>;

    /// Returns the address of a package there, for messages.
    fn reference(&self, kind: Kind, id: &PackageId) -> String;
}

/// Implements [`Repository`] by methods of the same names, whose errors hold a package's error.
macro_rules! repository {
    ($store:ty, $error:ident) => {
        impl Repository for $store {
            fn publish(
                &self,
                package: &Package,
                progress: &mut Progress<'_>,
            ) -> anyhow::Result<PublishOutcome> {
                Ok(<$store>::publish(self, package, progress)?)
            }

            fn fetch_manifest(
                &self,
                kind: Kind,
                id: &PackageId,
                trust: &Trust,
            ) -> anyhow::Result<RemoteManifest> {
                Ok(<$store>::fetch_manifest(self, kind, id, trust)?)
            }

            fn pull(
                &self,
                remote: RemoteManifest,
                packages_dir: &Path,
                progress: &mut Progress<'_>,
            ) -> anyhow::Result<PublishOutcome> {
                let from = self.reference(remote.manifest().kind, &remote.manifest().id);
                <$store>::pull(self, remote, packages_dir, progress).map_err(|error| match error {
                    $error::Package(error) => reword_conflict(error, &from).into(),
                    error => error.into(),
                })
            }

            fn reference(&self, kind: Kind, id: &PackageId) -> String {
                <$store>::reference(self, kind, id)
            }
        }
    };
}

repository!(Registry, RegistryError);
repository!(PackageBucket, BucketError);

/// The listener to a transfer.
pub trait TransferObserver {
    /// Shows how far a file has come: its name, the bytes so far and in all.
    fn show_progress(&self, file: &str, done: u64, total: u64);

    /// Takes a sentence about a package that is where it should be.
    fn say(&self, sentence: &str);
}

/// A release to pull from a location.
pub struct PulledRelease<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: &'a PackageId,
    /// The SHA-256 of its manifest, where it is known. Other bytes are refused.
    pub manifest: Option<&'a str>,
    /// True if the snapshot that it pins comes too.
    pub with_snapshot: bool,
}

impl PulledRelease<'_> {
    /// Refuses another manifest than the known one.
    fn check(&self, found: Sha256Digest) -> anyhow::Result<()> {
        match self.manifest {
            Some(manifest) if manifest != found.to_string() => bail!(
                "{} there has the manifest {found}, and the promoted one {manifest}; publish that one there",
                self.id
            ),
            _ => Ok(()),
        }
    }
}

impl Remote {
    /// Parses a location. `plain_http` allows HTTP without TLS to another
    /// machine.
    ///
    /// # Errors
    /// The text is not a location, or the client of the registry or store cannot be made.
    pub fn parse(location: &str, plain_http: bool, log: LogLine) -> anyhow::Result<Remote> {
        if Location::is(location) {
            let bucket = PackageBucket::open(Location::parse(location)?)?;
            return Ok(Remote::Repository(Box::new(bucket)));
        }
        if !Address::is(location) {
            Address::or_folder(location)?;
            return Ok(Remote::Folder(PathBuf::from(location)));
        }
        let registry = Registry::new(Address::parse(location)?, plain_http, log)?;
        Ok(Remote::Repository(Box::new(registry)))
    }

    /// Sends a package there.
    ///
    /// # Errors
    /// The package cannot be sent, or its id is there with other bytes.
    pub fn put(&self, package: &Package, observer: &dyn TransferObserver) -> anyhow::Result<()> {
        let repository = match self {
            Remote::Folder(folder) => return copy(package, folder, None, observer),
            Remote::Repository(repository) => repository,
        };
        let manifest = package.manifest();
        let outcome = repository
            .publish(package, &mut |file, done, total| {
                observer.show_progress(file, done, total);
            })
            .with_context(|| format!("{} {} was not sent", word(manifest.kind), manifest.id))?;
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
    ) -> anyhow::Result<()> {
        let (kind, id) = (wanted.kind, wanted.id);
        let with_snapshot = wanted.with_snapshot && kind == Kind::Valuation;
        match self {
            Remote::Folder(folder) => {
                let from = folder.display().to_string();
                let release = open_package(folder, kind, id, trust)?;
                wanted.check(release.digest())?;
                if with_snapshot {
                    let body: ValuationBody = release.body()?;
                    let snapshot = open_package(folder, Kind::Property, &body.snapshot.id, trust)?;
                    check_pin(&body, &snapshot.body()?, &from)?;
                    copy(&snapshot, here, Some(&from), observer)?;
                }
                copy(&release, here, Some(&from), observer)
            }
            Remote::Repository(repository) => {
                let repository = &**repository;
                let release = repository.fetch_manifest(kind, id, trust)?;
                wanted.check(release.digest())?;
                if with_snapshot {
                    let body: ValuationBody = release.body()?;
                    let id = &body.snapshot.id;
                    let snapshot = repository.fetch_manifest(Kind::Property, id, trust)?;
                    let location = repository.reference(Kind::Property, id);
                    check_pin(&body, &snapshot.body()?, &location)?;
                    fetch(repository, snapshot, here, observer)?;
                }
                fetch(repository, release, here, observer)
            }
        }
    }
}

/// Rewords the error for an id that is here with other bytes. A new id, as a publisher would
/// choose, helps nobody who pulls.
fn reword_conflict(error: PackageError, from: &str) -> PackageError {
    match error {
        PackageError {
            package,
            kind: PackageErrorKind::Republished,
        } => PackageError {
            package,
            kind: PackageErrorKind::ConflictingCopy {
                from: from.to_owned(),
            },
        },
        other => other,
    }
}

/// Opens a package of a folder of releases and verifies every byte.
///
/// # Errors
/// The package is not in the folder, or cannot be opened.
pub fn open_package(
    folder: &Path,
    kind: Kind,
    id: &PackageId,
    trust: &Trust,
) -> anyhow::Result<Package> {
    let package_dir = folder.join(kind.as_str()).join(id.as_str());
    if !package_dir.exists() {
        bail!("there is no {} {id} in {}", word(kind), folder.display());
    }
    Ok(open(&package_dir, trust)?)
}

/// Copies a package into a folder. `from` is the source of a pull, if it is one.
fn copy(
    package: &Package,
    folder: &Path,
    from: Option<&str>,
    observer: &dyn TransferObserver,
) -> anyhow::Result<()> {
    let manifest = package.manifest();
    let (kind, id) = (manifest.kind, &manifest.id);
    let packages_dir = folder.join(kind.as_str());
    let outcome = publish(package, &packages_dir)
        .map_err(|error| match from {
            Some(from) => reword_conflict(error, from),
            None => error,
        })
        .with_context(|| format!("{} {id} was not copied", word(kind)))?;
    let location = packages_dir.join(id.as_str()).display().to_string();
    say(manifest, &location, package.signer(), outcome, observer);
    Ok(())
}

fn fetch(
    repository: &dyn Repository,
    remote: RemoteManifest,
    folder: &Path,
    observer: &dyn TransferObserver,
) -> anyhow::Result<()> {
    let manifest = remote.manifest().clone();
    let signer = remote.signer().copied();
    let (kind, id) = (manifest.kind, &manifest.id);
    let packages_dir = folder.join(kind.as_str());
    let progress = &mut |file: &str, done, total| observer.show_progress(file, done, total);
    let outcome = repository
        .pull(remote, &packages_dir, progress)
        .with_context(|| format!("{} {id} was not fetched", word(kind)))?;
    let location = packages_dir.join(id.as_str()).display().to_string();
    say(&manifest, &location, signer.as_ref(), outcome, observer);
    Ok(())
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
    });
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Property => "snapshot",
        _ => "release",
    }
}

/// Returns the kind of the packages of a kind of release.
pub fn package_kind(kind: ReleaseKind) -> Kind {
    match kind {
        ReleaseKind::Valuation => Kind::Valuation,
        ReleaseKind::Markets => Kind::Markets,
        ReleaseKind::Rates => Kind::Rates,
    }
}
