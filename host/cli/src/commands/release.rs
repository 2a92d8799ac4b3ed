//! `domesday release`: build, sign and list releases, and make the keys that sign them.

use super::ReleasesFolder;
use super::approve::Approve;
use super::builders::{Backtest, Build, Check, Monitor, NewRelease, Profile};
use super::history::History;
use super::promote::Promote;
use super::transfer::{Publish, Pull};
use super::trust::trust;
use anyhow::Context;
use clap::{ArgMatches, Subcommand};
use domesday_package::{
    Body, Kind, PackageId, SigningKey, Trust, ValuationBody, find_pinned_snapshot, open, sign,
};
use domesday_series::package::{MarketsBody, RatesBody, ReleaseBody};
use domesday_server::clock::random;
use domesday_valuation::release_store::package_ids;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Release {
    /// Create a model's crate from a template.
    New(NewRelease),
    /// Build a release from a model's source and a property snapshot.
    Build(Box<Build>),
    /// Value past sales as at their own days and report the errors.
    Backtest(Box<Backtest>),
    /// Check a release's guarantees; exit 0 only if no check fails.
    Check(Box<Check>),
    /// Value sales that were registered since a release was made; exit 0 only without an alarm.
    Monitor(Box<Monitor>),
    /// Count a release's fuel by function, as a table and a flame graph.
    Profile(Profile),
    /// Sign a package in the releases folder.
    Sign {
        /// Id of the package.
        id: PackageId,
        /// Kind of the package.
        #[arg(long, value_enum, default_value_t = Signable::Valuation)]
        kind: Signable,
        /// Private key file.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        #[command(flatten)]
        releases: ReleasesFolder,
    },
    /// Create a signing key: FILE holds the private key, FILE.pub the public one.
    Keygen {
        /// File of the private key.
        file: PathBuf,
        /// Comment in the public file, such as the owner.
        #[arg(long, default_value = "")]
        comment: String,
    },
    /// Publish a release with its snapshot to a folder, an OCI registry or an object store.
    Publish(Publish),
    /// Pull a release with its snapshot from a folder, an OCI registry or an object store, and
    /// verify it with the keys trusted here.
    Pull(Pull),
    /// Approve a release and its check report, as a second person.
    Approve(Approve),
    /// Make a release the current one on all hosts, after it was opened, verified and admitted.
    /// Requests in progress stay on their release.
    Promote(Promote),
    /// Show the promotion ledger and verify it; exit 0 only if every entry fits.
    History(History),
    /// List the releases, each opened and verified.
    List {
        #[command(flatten)]
        releases: ReleasesFolder,
        /// Include unsigned packages.
        #[arg(long)]
        unsigned: bool,
    },
}

/// Kinds of package that this program makes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Signable {
    /// A release.
    Valuation,
    /// A property snapshot.
    Property,
    /// A release of market statistics.
    Markets,
    /// A release of sterling rates.
    Rates,
}

impl From<Signable> for Kind {
    fn from(kind: Signable) -> Kind {
        match kind {
            Signable::Valuation => Kind::Valuation,
            Signable::Property => Kind::Property,
            Signable::Markets => Kind::Markets,
            Signable::Rates => Kind::Rates,
        }
    }
}

impl Release {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Release::New(arguments) => return arguments.run(),
            Release::Build(arguments) => return arguments.run(),
            Release::Backtest(arguments) => return arguments.run(),
            Release::Check(arguments) => return arguments.run(),
            Release::Monitor(arguments) => return arguments.run(),
            Release::Profile(arguments) => return arguments.run(),
            Release::Sign {
                id,
                kind,
                key,
                releases,
            } => {
                let key = SigningKey::read(&key)?;
                let package_dir = releases
                    .releases
                    .join(Kind::from(kind).as_str())
                    .join(id.as_str());
                let package = sign(&package_dir, &key)?;
                println!("{id} is signed; manifest {}", package.digest());
            }
            Release::Keygen { file, comment } => {
                let seed = random().context("cannot make a key without randomness")?;
                let public = file.with_added_extension("pub");
                // An earlier command may have ended between the two files.
                let has_private_key_alone = file.exists() && !public.exists();
                if !has_private_key_alone {
                    SigningKey::from_seed(seed).write(&file)?;
                }
                let key = SigningKey::read(&file)?;
                key.public().write(&public, &comment)?;
                let (file, public) = (file.display(), public.display());
                match has_private_key_alone {
                    true => println!(
                        "The private key {file} was there already, and no new one is made. \
                         Its public key was missing, and is made: {public}"
                    ),
                    false => println!("The private key is {file}, the public key {public}"),
                }
            }
            Release::Publish(publish) => publish.run()?,
            Release::Pull(pull) => pull.run()?,
            Release::Approve(approve) => approve.run()?,
            Release::Promote(promote) => promote.run(matches)?,
            Release::History(history) => return history.run(matches),
            Release::List { releases, unsigned } => list(&releases.releases, unsigned)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(root: &std::path::Path, unsigned: bool) -> anyhow::Result<()> {
    let trust = if unsigned {
        Trust::Unsigned
    } else {
        trust(root, &[])?
    };
    let packages_dir = root.join(Kind::Valuation.as_str());
    for id in package_ids(&packages_dir)? {
        match open(&packages_dir.join(&id), &trust)
            .and_then(|package| package.body::<ValuationBody>())
        {
            Ok(body) => match find_pinned_snapshot(root, &body, &trust) {
                Ok(()) => println!(
                    "{id}\teffective {}\tvalues {} to {}\tsnapshot {}",
                    body.effective_date,
                    body.valuation_date.from,
                    body.valuation_date.to,
                    body.snapshot.id
                ),
                Err(error) => println!("{id}\tcannot be used: {error}"),
            },
            Err(error) => println!("{id}\tcannot be used: {error}"),
        }
    }
    list_series(root, &trust, |MarketsBody(body)| body)?;
    list_series(root, &trust, |RatesBody(body)| body)
}

/// Lists the releases of a family. Its folder may be absent.
fn list_series<B: Body>(
    root: &Path,
    trust: &Trust,
    inner: fn(B) -> ReleaseBody,
) -> anyhow::Result<()> {
    let kind = B::KIND.as_str();
    let packages_dir = root.join(kind);
    if !packages_dir.exists() {
        return Ok(());
    }
    for id in package_ids(&packages_dir)? {
        match open(&packages_dir.join(&id), trust).and_then(|package| package.body::<B>()) {
            Ok(body) => {
                let body = inner(body);
                println!(
                    "{id}\t{kind}\t{} series, {} observations{}",
                    body.series,
                    body.observations,
                    if body.synthetic { "\tinvented" } else { "" }
                );
            }
            Err(error) => println!("{id}\t{kind}\tcannot be used: {error}"),
        }
    }
    Ok(())
}
