//! `domesday release publish` and `pull`: a release goes from one folder of releases to another or
//! to a registry, and back, with the snapshot that it is pinned to.

use super::ReleasesFolder;
use super::oci::{Address, LogLine, Registry, RegistryError, SharedProgress};
use super::progress::Progress;
use super::snapshot_pin::pinned;
use super::trust::UnsignedPackages;
use anyhow::{Context, bail};
use domesday_package::{
    Kind, Manifest, Package, PackageError, PackageErrorKind, PackageId, PublicKey, PublishOutcome,
    Trust, ValuationBody, open, publish,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

/// What is published, and where.
#[derive(Debug, clap::Args)]
pub struct Publish {
    /// Id of the release.
    id: PackageId,
    /// Folder of releases, or a registry: oci://HOST[:PORT]/REPOSITORY.
    #[arg(value_name = "FOLDER_OR_REGISTRY")]
    to: String,
    #[command(flatten)]
    handing: TransferArgs,
}

/// What is pulled, and from where.
#[derive(Debug, clap::Args)]
pub struct Pull {
    /// Id of the release, or oci://HOST[:PORT]/REPOSITORY:RELEASE.
    #[arg(value_name = "RELEASE")]
    what: String,
    /// Folder of releases, or a registry: oci://HOST[:PORT]/REPOSITORY.
    #[arg(value_name = "FOLDER_OR_REGISTRY")]
    from: Option<String>,
    #[command(flatten)]
    handing: TransferArgs,
}

/// Where releases come from or go to.
enum Other {
    Folder(PathBuf),
    Registry(Box<Registry>),
}

impl Publish {
    /// From the releases folder to the other place.
    ///
    /// # Errors
    /// Where a package is not whole or not trusted, or the id is there with other bytes.
    pub fn run(&self) -> anyhow::Result<()> {
        let here = &self.handing.releases.releases;
        let trust = self.handing.trust()?;
        let to = self.handing.other(&self.to, &self.id)?;
        let release = taken(here, Kind::Valuation, &self.id, &trust)?;
        let body: ValuationBody = release.body()?;
        if !self.handing.without_snapshot {
            // First, so that no release stands anywhere without what it is pinned to.
            let snapshot = taken(here, Kind::Property, &body.snapshot.id, &trust)?;
            pinned(&body, &snapshot.body()?, &shown(here))?;
            to.put(&snapshot)?;
        }
        to.put(&release)
    }
}

impl Pull {
    /// From the other place to the releases folder.
    ///
    /// # Errors
    /// As [`Publish::run`]; nothing is kept of what is refused.
    pub fn run(&self) -> anyhow::Result<()> {
        let (id, from) = self.asked()?;
        let here = &self.handing.releases.releases;
        let trust = self.handing.trust()?;
        let snapshot = !self.handing.without_snapshot;
        match self.handing.other(&from, &id)? {
            Other::Folder(folder) => {
                let release = taken(&folder, Kind::Valuation, &id, &trust)?;
                let body: ValuationBody = release.body()?;
                if snapshot {
                    let snapshot = taken(&folder, Kind::Property, &body.snapshot.id, &trust)?;
                    pinned(&body, &snapshot.body()?, &shown(&folder))?;
                    copied(&snapshot, here, Some(&from))?;
                }
                copied(&release, here, Some(&from))
            }
            Other::Registry(registry) => {
                let release = registry.announced(Kind::Valuation, &id, &trust)?;
                let body: ValuationBody = release.body()?;
                if snapshot {
                    let id = &body.snapshot.id;
                    let snapshot = registry.announced(Kind::Property, id, &trust)?;
                    let place = registry.place(Kind::Property, id);
                    pinned(&body, &snapshot.body()?, &place)?;
                    fetched(&registry, snapshot, here)?;
                }
                fetched(&registry, release, here)
            }
        }
    }

    /// The release's id, and where it is.
    fn asked(&self) -> anyhow::Result<(PackageId, String)> {
        match &self.from {
            Some(from) => {
                let id = self.what.parse().with_context(|| self.what.clone())?;
                Ok((id, from.clone()))
            }
            None if Address::is(&self.what) => match Address::parse(&self.what)?.id {
                Some(id) => Ok((id, self.what.clone())),
                None => bail!(
                    "{}: which release? Say :RELEASE after the repository",
                    self.what
                ),
            },
            None => {
                Address::or_folder(&self.what)?;
                bail!(
                    "where is release {}? Name another folder of releases, or a registry: oci://HOST[:PORT]/REPOSITORY",
                    self.what
                )
            }
        }
    }
}

impl TransferArgs {
    /// Whose keys count is always said by the releases folder of this host, never by the other
    /// place.
    fn trust(&self) -> anyhow::Result<Trust> {
        self.unsigned.trust(&self.releases.releases)
    }

    fn other(&self, place: &str, id: &PackageId) -> anyhow::Result<Other> {
        if !Address::is(place) {
            Address::or_folder(place)?;
            return Ok(Other::Folder(PathBuf::from(place)));
        }
        let address = Address::parse(place)?;
        if let Some(tag) = address.id.as_ref().filter(|tag| *tag != id) {
            bail!("{place}: the tag is the release's id, and {tag} is not {id}; leave the tag out");
        }
        let (progress, log) = watched();
        let registry = Registry::new(address, self.plain_http, progress, log)?;
        Ok(Other::Registry(Box::new(registry)))
    }
}

impl Other {
    fn put(&self, package: &Package) -> anyhow::Result<()> {
        let registry = match self {
            Other::Folder(folder) => return copied(package, folder, None),
            Other::Registry(registry) => registry,
        };
        let manifest = package.manifest();
        let published = registry
            .publish(package)
            .with_context(|| format!("{} {} was not sent", word(manifest.kind), manifest.id))?;
        let place = registry.place(manifest.kind, &manifest.id);
        say(manifest, &place, package.signer(), published);
        Ok(())
    }
}

/// Shows a person how far a transfer has come, and what it waits for.
fn watched() -> (SharedProgress, LogLine) {
    let progress = Arc::new(Mutex::new(Progress::new()));
    let shown = Arc::clone(&progress);
    let report: SharedProgress = Arc::new(move |file, done, total| {
        let mut progress = shown.lock().unwrap_or_else(PoisonError::into_inner);
        progress.show(file, done, total);
    });
    let log: LogLine = Arc::new(move |line| {
        let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.say(line);
    });
    (report, log)
}

/// What it means to who pulls that the id is here with other bytes: the new id that a publisher
/// would take helps nobody here.
fn held(error: PackageError, from: &str) -> PackageError {
    match error {
        PackageError {
            package,
            kind: PackageErrorKind::Republished,
        } => PackageError {
            package,
            kind: PackageErrorKind::HeldOtherwise {
                from: from.to_owned(),
            },
        },
        other => other,
    }
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}

/// A package of a folder of releases, every byte proved.
fn taken(folder: &Path, kind: Kind, id: &PackageId, trust: &Trust) -> anyhow::Result<Package> {
    let place = folder.join(kind.as_str()).join(id.as_str());
    if !place.exists() {
        bail!("there is no {} {id} in {}", word(kind), folder.display());
    }
    Ok(open(&place, trust)?)
}

/// Copies a package into a folder; `from` is where it is pulled from, if it is.
fn copied(package: &Package, folder: &Path, from: Option<&str>) -> anyhow::Result<()> {
    let manifest = package.manifest();
    let (kind, id) = (manifest.kind, &manifest.id);
    let packages_dir = folder.join(kind.as_str());
    let published = publish(package, &packages_dir)
        .map_err(|error| match from {
            Some(from) => held(error, from),
            None => error,
        })
        .with_context(|| format!("{} {id} was not copied", word(kind)))?;
    let place = packages_dir.join(id.as_str()).display().to_string();
    say(manifest, &place, package.signer(), published);
    Ok(())
}

fn fetched(
    registry: &Registry,
    announced: domesday_package::RemoteManifest,
    folder: &Path,
) -> anyhow::Result<()> {
    let manifest = announced.manifest().clone();
    let signer = announced.signer().copied();
    let (kind, id) = (manifest.kind, &manifest.id);
    let packages_dir = folder.join(kind.as_str());
    let published = registry.pull(announced, &packages_dir).map_err(|error| {
        let error = match error {
            RegistryError::Package(error) => held(error, &registry.place(kind, id)).into(),
            error => anyhow::Error::from(error),
        };
        error.context(format!("{} {id} was not fetched", word(kind)))
    })?;
    let place = packages_dir.join(id.as_str()).display().to_string();
    say(&manifest, &place, signer.as_ref(), published);
    Ok(())
}

fn say(manifest: &Manifest, place: &str, signer: Option<&PublicKey>, published: PublishOutcome) {
    let (kind, id) = (word(manifest.kind), &manifest.id);
    let by = |signer: Option<&PublicKey>| match signer {
        Some(key) => format!("signed by {key}"),
        None => "not signed".to_owned(),
    };
    match published {
        PublishOutcome::Copied => println!("{kind} {id} is in {place}, {}", by(signer)),
        PublishOutcome::Completed => println!(
            "{kind} {id} is in {place} already, the same bytes; what was missing there has come, {}",
            by(signer)
        ),
        PublishOutcome::AlreadyThere(there) => println!(
            "{kind} {id} is in {place} already, the same bytes, {}",
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
