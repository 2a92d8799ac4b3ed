//! `domesday release publish` and `pull`. A release moves between folders of releases, or to a
//! registry and back, with its pinned snapshot.

use super::ReleasesFolder;
use super::oci::{Address, LogLine, Registry, RegistryError};
use super::progress::ProgressLine;
use super::snapshot_pin::check_pin;
use super::trust::UnsignedPackages;
use anyhow::{Context, bail};
use domesday_package::{
    Attachments, Kind, Manifest, Package, PackageError, PackageErrorKind, PackageId, PublicKey,
    PublishOutcome, Trust, ValuationBody, judge_check, open, publish,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Options of `release publish` and `release pull`.
#[derive(Debug, clap::Args)]
pub struct TransferArgs {
    /// Leave out the snapshot.
    #[arg(long)]
    without_snapshot: bool,
    #[command(flatten)]
    unsigned: UnsignedPackages,
    /// Allow a registry on another machine without TLS. Others can then read the password.
    #[arg(long)]
    plain_http: bool,
    #[command(flatten)]
    releases: ReleasesFolder,
}

/// Arguments of `release publish`.
#[derive(Debug, clap::Args)]
pub struct Publish {
    /// Id of the release.
    id: PackageId,
    /// Folder of releases, or a registry: oci://HOST[:PORT]/REPOSITORY.
    #[arg(value_name = "FOLDER_OR_REGISTRY")]
    to: String,
    #[command(flatten)]
    transfer: TransferArgs,
}

/// Arguments of `release pull`.
#[derive(Debug, clap::Args)]
pub struct Pull {
    /// Id of the release, or oci://HOST[:PORT]/REPOSITORY:RELEASE.
    #[arg(value_name = "RELEASE")]
    release: String,
    /// Folder of releases, or a registry: oci://HOST[:PORT]/REPOSITORY.
    #[arg(value_name = "FOLDER_OR_REGISTRY")]
    from: Option<String>,
    #[command(flatten)]
    transfer: TransferArgs,
}

/// The other end of a transfer.
enum Remote {
    Folder(PathBuf),
    Registry(Box<Registry>, SharedLine),
}

/// The line that shows how far a transfer has come, and the messages of its registry.
#[derive(Clone)]
struct SharedLine(Arc<Mutex<ProgressLine>>);

impl Publish {
    /// Copies from the releases folder to the other place.
    ///
    /// # Errors
    /// A package is incomplete or not trusted, or its id exists with other bytes. The release has
    /// no trusted report of a check that it passed.
    pub fn run(&self) -> anyhow::Result<()> {
        let here = &self.transfer.releases.releases;
        let trust = self.transfer.trust()?;
        let to = self.transfer.remote(&self.to, &self.id)?;
        let release = open_package(here, Kind::Valuation, &self.id, &trust)?;
        // Before anything is copied. A host that pulls the release judges it when it promotes it.
        judge_check(
            &release,
            &Attachments::read(release.directory())?,
            &trust,
            false,
        )?;
        let body: ValuationBody = release.body()?;
        if !self.transfer.without_snapshot {
            // First, so that no release exists without its pinned snapshot.
            let snapshot = open_package(here, Kind::Property, &body.snapshot.id, &trust)?;
            check_pin(&body, &snapshot.body()?, &display(here))?;
            to.put(&snapshot)?;
        }
        to.put(&release)
    }
}

impl Pull {
    /// Copies from the other place to the releases folder.
    ///
    /// # Errors
    /// As [`Publish::run`]. Nothing stays of a refused package.
    pub fn run(&self) -> anyhow::Result<()> {
        let (id, from) = self.source()?;
        let here = &self.transfer.releases.releases;
        let trust = self.transfer.trust()?;
        let snapshot = !self.transfer.without_snapshot;
        match self.transfer.remote(&from, &id)? {
            Remote::Folder(folder) => {
                let release = open_package(&folder, Kind::Valuation, &id, &trust)?;
                let body: ValuationBody = release.body()?;
                if snapshot {
                    let snapshot =
                        open_package(&folder, Kind::Property, &body.snapshot.id, &trust)?;
                    check_pin(&body, &snapshot.body()?, &display(&folder))?;
                    copy(&snapshot, here, Some(&from))?;
                }
                copy(&release, here, Some(&from))
            }
            Remote::Registry(registry, line) => {
                let release = registry.fetch_manifest(Kind::Valuation, &id, &trust)?;
                let body: ValuationBody = release.body()?;
                if snapshot {
                    let id = &body.snapshot.id;
                    let snapshot = registry.fetch_manifest(Kind::Property, id, &trust)?;
                    let location = registry.reference(Kind::Property, id);
                    check_pin(&body, &snapshot.body()?, &location)?;
                    fetch((&registry, &line), snapshot, here)?;
                }
                fetch((&registry, &line), release, here)
            }
        }
    }

    /// Returns the id of the release and its location.
    fn source(&self) -> anyhow::Result<(PackageId, String)> {
        match &self.from {
            Some(from) => {
                let id = self
                    .release
                    .parse()
                    .with_context(|| format!("invalid release id {}", self.release))?;
                Ok((id, from.clone()))
            }
            None if Address::is(&self.release) => match Address::parse(&self.release)?.id {
                Some(id) => Ok((id, self.release.clone())),
                None => bail!(
                    "{}: which release? Say :RELEASE after the repository",
                    self.release
                ),
            },
            None => {
                Address::or_folder(&self.release)?;
                bail!(
                    "where is release {}? Name another folder of releases, or a registry: oci://HOST[:PORT]/REPOSITORY",
                    self.release
                )
            }
        }
    }
}

impl TransferArgs {
    /// Loads the trusted keys from this host's releases folder. The other place has no say in them.
    fn trust(&self) -> anyhow::Result<Trust> {
        self.unsigned.trust(&self.releases.releases)
    }

    fn remote(&self, location: &str, id: &PackageId) -> anyhow::Result<Remote> {
        if !Address::is(location) {
            Address::or_folder(location)?;
            return Ok(Remote::Folder(PathBuf::from(location)));
        }
        let address = Address::parse(location)?;
        if let Some(tag) = address.id.as_ref().filter(|tag| *tag != id) {
            bail!(
                "{location}: the tag is the release's id, and {tag} is not {id}; leave the tag out"
            );
        }
        let line = SharedLine::new();
        let registry = Registry::new(address, self.plain_http, line.log())?;
        Ok(Remote::Registry(Box::new(registry), line))
    }
}

impl Remote {
    fn put(&self, package: &Package) -> anyhow::Result<()> {
        let (registry, line) = match self {
            Remote::Folder(folder) => return copy(package, folder, None),
            Remote::Registry(registry, line) => (registry, line),
        };
        let manifest = package.manifest();
        let outcome = registry
            .publish(package, &mut |file, done, total| {
                line.lock().show(file, done, total);
            })
            .with_context(|| format!("{} {} was not sent", word(manifest.kind), manifest.id))?;
        let location = registry.reference(manifest.kind, &manifest.id);
        say(manifest, &location, package.signer(), outcome);
        Ok(())
    }
}

impl SharedLine {
    fn new() -> SharedLine {
        SharedLine(Arc::new(Mutex::new(ProgressLine::new())))
    }

    fn lock(&self) -> MutexGuard<'_, ProgressLine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a callback that prints a message above the line.
    fn log(&self) -> LogLine {
        let line = self.clone();
        Arc::new(move |message: &str| line.lock().say(message))
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

fn display(folder: &Path) -> String {
    folder.display().to_string()
}

/// Opens a package of a folder of releases and verifies every byte.
fn open_package(
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
fn copy(package: &Package, folder: &Path, from: Option<&str>) -> anyhow::Result<()> {
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
    say(manifest, &location, package.signer(), outcome);
    Ok(())
}

fn fetch(
    (registry, line): (&Registry, &SharedLine),
    remote: domesday_package::RemoteManifest,
    folder: &Path,
) -> anyhow::Result<()> {
    let manifest = remote.manifest().clone();
    let signer = remote.signer().copied();
    let (kind, id) = (manifest.kind, &manifest.id);
    let packages_dir = folder.join(kind.as_str());
    let progress = &mut |file: &str, done, total| line.lock().show(file, done, total);
    let outcome = registry
        .pull(remote, &packages_dir, progress)
        .map_err(|error| {
            let error = match error {
                RegistryError::Package(error) => {
                    reword_conflict(error, &registry.reference(kind, id)).into()
                }
                error => anyhow::Error::from(error),
            };
            error.context(format!("{} {id} was not fetched", word(kind)))
        })?;
    let location = packages_dir.join(id.as_str()).display().to_string();
    say(&manifest, &location, signer.as_ref(), outcome);
    Ok(())
}

fn say(manifest: &Manifest, location: &str, signer: Option<&PublicKey>, outcome: PublishOutcome) {
    let (kind, id) = (word(manifest.kind), &manifest.id);
    let by = |signer: Option<&PublicKey>| match signer {
        Some(key) => format!("signed by {key}"),
        None => "not signed".to_owned(),
    };
    match outcome {
        PublishOutcome::Copied => println!("{kind} {id} is in {location}, {}", by(signer)),
        PublishOutcome::Completed => println!(
            "{kind} {id} is in {location} already, the same bytes; missing files were added, {}",
            by(signer)
        ),
        PublishOutcome::AlreadyThere(there) => println!(
            "{kind} {id} is in {location} already, the same bytes, {}",
            by(there.as_ref())
        ),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Property => "snapshot",
        _ => "release",
    }
}
