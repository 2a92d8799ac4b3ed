//! `domesday release publish` and `pull`: a release goes from one folder of releases to another, with the
//! snapshot that it is pinned to.

use super::ReleasesFolder;
use super::trust::trust;
use anyhow::Context;
use domesday_package::{Kind, Package, PackageId, Published, Trust, ValuationBody, open, publish};
use std::path::{Path, PathBuf};

/// What is handed on, and where.
#[derive(Debug, clap::Args)]
pub struct Handing {
    /// The release's id.
    id: PackageId,
    /// The other folder of releases, laid out as this one: valuation/<id>, property/<id>.
    #[arg(value_name = "FOLDER")]
    other: PathBuf,
    /// Leave the snapshot out: it is there already, or goes another way.
    #[arg(long)]
    without_snapshot: bool,
    /// Take this package although no trusted key signed it. Repeat for several.
    #[arg(long = "allow-unsigned", value_name = "ID")]
    unsigned: Vec<String>,
    #[command(flatten)]
    releases: ReleasesFolder,
}

impl Handing {
    /// From the releases folder to the other.
    ///
    /// # Errors
    /// Where a package is not whole or not trusted, or the id is there with other bytes.
    pub fn publish(&self) -> anyhow::Result<()> {
        self.hand(&self.releases.releases, &self.other)
    }

    /// From the other to the releases folder.
    ///
    /// # Errors
    /// As [`Handing::publish`]; nothing is kept of what is refused.
    pub fn pull(&self) -> anyhow::Result<()> {
        self.hand(&self.other, &self.releases.releases)
    }

    /// Whose keys count is always said by the releases folder of this host, never by the other.
    fn hand(&self, from: &Path, to: &Path) -> anyhow::Result<()> {
        let trust = trust(&self.releases.releases, &self.unsigned)?;
        let release = taken(from, Kind::Valuation, &self.id, &trust)?;
        let body: ValuationBody = release.body()?;
        if !self.without_snapshot {
            // First, so that no release stands anywhere without what it is pinned to.
            let snapshot = taken(from, Kind::Property, &body.snapshot.id, &trust)?;
            put(&snapshot, to)?;
        }
        put(&release, to)
    }
}

/// A package of a folder of releases, every byte proved.
fn taken(folder: &Path, kind: Kind, id: &PackageId, trust: &Trust) -> anyhow::Result<Package> {
    let place = folder.join(kind.as_str()).join(id.as_str());
    if !place.exists() {
        anyhow::bail!("there is no {} {id} in {}", word(kind), folder.display());
    }
    Ok(open(&place, trust)?)
}

fn put(package: &Package, folder: &Path) -> anyhow::Result<()> {
    let manifest = package.manifest();
    let (kind, id) = (manifest.kind, &manifest.id);
    let shelf = folder.join(kind.as_str());
    let published =
        publish(package, &shelf).with_context(|| format!("{} {id} was not copied", word(kind)))?;
    let signer = match package.signer() {
        Some(key) => format!("signed by {key}"),
        None => "not signed".to_owned(),
    };
    let place = shelf.join(id.as_str());
    match published {
        Published::Copied => println!("{} {id} is in {}, {signer}", word(kind), place.display()),
        Published::AlreadyThere => {
            println!(
                "{} {id} is in {} already, the same bytes",
                word(kind),
                place.display()
            );
        }
    }
    Ok(())
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Property => "snapshot",
        _ => "release",
    }
}
