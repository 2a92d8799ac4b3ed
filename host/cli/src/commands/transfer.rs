//! `domesday release publish` and `pull`. A release moves between folders of releases, or to a
//! registry or an object store and back, with its pinned snapshot.

use super::ReleasesFolder;
use super::oci::{Address, LogLine};
use super::progress::ProgressLine;
use super::remote::{package_kind, parse_remote};
use super::trust::UnsignedPackages;
use anyhow::{Context, bail};
use domesday_package::{
    Kind, PackageId, PublishedRelease, PulledRelease, Remote, TransferObserver, Trust,
};
use domesday_server::admin::protocol::ReleaseKindArg;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Options of `release publish` and `release pull`.
#[derive(Debug, clap::Args)]
pub struct TransferArgs {
    /// Kind of the release.
    #[arg(long, value_enum, default_value = "valuation")]
    kind: ReleaseKindArg,
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
    /// Folder of releases, a registry oci://HOST[:PORT]/REPOSITORY, or an object store such as
    /// s3://BUCKET/PREFIX.
    #[arg(value_name = "FOLDER_OR_URL")]
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
    /// Folder of releases, a registry oci://HOST[:PORT]/REPOSITORY, or an object store such as
    /// s3://BUCKET/PREFIX.
    #[arg(value_name = "FOLDER_OR_URL")]
    from: Option<String>,
    #[command(flatten)]
    transfer: TransferArgs,
}

/// The line that shows how far a transfer has come, and the messages of its registry.
#[derive(Clone)]
struct SharedLine(Arc<Mutex<ProgressLine>>);

impl Publish {
    /// Copies from the releases folder to the remote location.
    ///
    /// # Errors
    /// A package is incomplete or not trusted, or its id exists with other bytes. The release has
    /// no trusted report of a check that it passed.
    pub fn run(&self) -> anyhow::Result<()> {
        let here = &self.transfer.releases.releases;
        let trust = self.transfer.trust()?;
        let (to, line) = self.transfer.remote(&self.to, &self.id)?;
        let wanted = PublishedRelease {
            kind: self.transfer.kind(),
            id: &self.id,
            with_snapshot: !self.transfer.without_snapshot,
        };
        Ok(to.publish(wanted, (here, &trust), &line)?)
    }
}

impl Pull {
    /// Copies from the remote location to the releases folder.
    ///
    /// # Errors
    /// As [`Publish::run`]. Nothing stays of a refused package.
    pub fn run(&self) -> anyhow::Result<()> {
        let (id, from) = self.source()?;
        let here = &self.transfer.releases.releases;
        let trust = self.transfer.trust()?;
        let (from, line) = self.transfer.remote(&from, &id)?;
        let wanted = PulledRelease {
            kind: self.transfer.kind(),
            id: &id,
            manifest: None,
            with_snapshot: !self.transfer.without_snapshot,
        };
        Ok(from.pull(wanted, (here, &trust), &line)?)
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
                    "{} names no release: add :RELEASE after the repository",
                    self.release
                ),
            },
            None => {
                Address::or_folder(&self.release)?;
                bail!(
                    "the location of release {} is missing: name another folder of releases, a registry oci://HOST[:PORT]/REPOSITORY, or an object store such as s3://BUCKET/PREFIX",
                    self.release
                )
            }
        }
    }
}

impl TransferArgs {
    /// Loads the trusted keys from this host's releases folder. Keys of the remote location are not
    /// trusted.
    fn trust(&self) -> anyhow::Result<Trust> {
        self.unsigned.trust(&self.releases.releases)
    }

    fn kind(&self) -> Kind {
        package_kind(self.kind.into())
    }

    /// Returns the remote location, and the line that shows how far a transfer has come.
    fn remote(&self, location: &str, id: &PackageId) -> anyhow::Result<(Remote, SharedLine)> {
        if Address::is(location)
            && let Some(tag) = Address::parse(location)?.id
            && tag != *id
        {
            bail!("the tag {tag} of {location} is not the release's id {id}; leave the tag out");
        }
        let line = SharedLine::new();
        let remote = parse_remote(location, self.plain_http, line.log(), Arc::default())?;
        Ok((remote, line))
    }
}

impl TransferObserver for SharedLine {
    fn show_progress(&self, file: &str, done: u64, total: u64) {
        self.lock().show(file, done, total);
    }

    fn say(&self, sentence: &str) {
        println!("{sentence}");
    }

    fn warn(&self, warning: &str) {
        eprintln!("{warning}");
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
