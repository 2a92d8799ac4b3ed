//! `domesday release`: build, sign and list releases, and make the keys that sign them.

use super::ReleasesFolder;
use super::backtest::Backtest;
use super::check::Check;
use super::compiled_folder::CompiledFolder;
use super::handing::{Publish, Pull};
use super::new_release::New;
use super::pin;
use super::place::Place;
use super::progress::Progress;
use super::trust::trust;
use crate::admin::wire::{Order, ReleasedKind};
use crate::clock::random;
use crate::families::FamilyShelf;
use crate::release_build::{Plan, build};
use crate::releases::{names, open_release};
use anyhow::Context;
use chrono::{DateTime, NaiveDate, Utc};
use clap::parser::ValueSource;
use clap::{ArgMatches, Subcommand};
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_package::{Body, Kind, PackageId, SigningKey, Trust, ValuationBody, open, sign};
use domesday_series::catalogue::Family;
use domesday_series::package::{MarketsBody, RatesBody, ReleaseBody};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Release {
    /// Make a model's crate from a template, to build a release of.
    New(New),
    /// Make a release from a model's source and a property snapshot.
    Build(Box<Build>),
    /// Value sales that the release had not seen, each as at its own day, and say how far off it was.
    Backtest(Box<Backtest>),
    /// Check what a release must keep to: exit 0 only if nothing failed.
    Check(Box<Check>),
    /// Sign a release or a snapshot that is in the releases folder.
    Sign {
        /// Its id.
        id: PackageId,
        /// What it is.
        #[arg(long, value_enum, default_value_t = Signable::Valuation)]
        kind: Signable,
        /// The private key.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        #[command(flatten)]
        releases: ReleasesFolder,
    },
    /// Make a signing key: FILE holds the private key, FILE.pub the public one.
    Keygen {
        /// Where.
        file: PathBuf,
        /// Whose it is, kept in the public file.
        #[arg(long, default_value = "")]
        comment: String,
    },
    /// Copy a release with its snapshot into another folder of releases or an OCI registry, for other hosts to pull.
    Publish(Publish),
    /// Copy a release with its snapshot out of another folder of releases or an OCI registry, proved against the keys
    /// trusted here.
    Pull(Pull),
    /// Make a release the current one: of the server that runs on the data folder, and of every host
    /// of its state. It is opened, proved and admitted first; requests under way stay on theirs.
    Promote {
        /// Its id.
        id: PackageId,
        /// What it is a release of.
        #[arg(long, value_enum, default_value = "valuation")]
        kind: ReleasedKind,
        /// Folder of releases, where no server runs; a running one has its own.
        #[arg(
            long,
            env = "DOMESDAY_RELEASES",
            default_value = "releases",
            value_name = "DIR"
        )]
        releases: PathBuf,
        /// Promote it although no trusted key signed it, where no server runs.
        #[arg(long)]
        allow_unsigned: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List the releases, each opened and proved.
    List {
        #[command(flatten)]
        releases: ReleasesFolder,
        /// List unsigned packages too.
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

#[derive(Debug, clap::Args)]
pub struct Build {
    /// The release's id: lower-case letters, digits, dots and hyphens. It is never used again.
    #[arg(long)]
    id: String,
    /// The model's folder: a crate with Cargo.toml and release.toml, or a module in Python with release.toml.
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The property snapshot that the release is pinned to.
    #[arg(long, value_name = "ID")]
    snapshot: String,
    /// First valuation date; by default the day after the snapshot's latest sale.
    #[arg(long, value_name = "DATE")]
    valuation_from: Option<NaiveDate>,
    /// Last valuation date; by default a year after the first.
    #[arg(long, value_name = "DATE")]
    valuation_to: Option<NaiveDate>,
    /// The day from which the release is in force; by default the first valuation date.
    #[arg(long, value_name = "DATE")]
    effective: Option<NaiveDate>,
    /// Sales up to this day are fitted, later ones calibrate the ranges; by default two years
    /// before the snapshot's latest sale.
    #[arg(long, value_name = "DATE")]
    fit_through: Option<NaiveDate>,
    /// Sales up to this day calibrate the ranges, and the release is tested on later ones; by default
    /// half a year before the snapshot's latest sale.
    #[arg(long, value_name = "DATE")]
    calibrate_through: Option<NaiveDate>,
    /// Calibrate on at most so many sales, evenly taken.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    calibrate_on: usize,
    /// Days up to --fit-through whose sales a model that shows its inputs learns from.
    #[arg(long, default_value_t = 2_922, value_name = "DAYS")]
    learn_days: i32,
    /// Let it learn from at most so many sales, evenly taken.
    #[arg(long, default_value_t = 40_000, value_name = "N")]
    learn_on: usize,
    /// Test on at most so many sales, evenly taken.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    backtest_on: usize,
    /// Sign with this private key.
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    /// When the package is made, for a build that is to be the same bytes again; by default now.
    #[arg(long, value_name = "TIME")]
    created: Option<DateTime<Utc>>,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
}

impl Release {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Release::New(arguments) => arguments.run()?,
            Release::Build(arguments) => arguments.run()?,
            Release::Backtest(arguments) => arguments.run()?,
            Release::Check(arguments) => return arguments.run(),
            Release::Sign {
                id,
                kind,
                key,
                releases,
            } => {
                let key = SigningKey::read(&key)?;
                let place = releases
                    .releases
                    .join(Kind::from(kind).as_str())
                    .join(id.as_str());
                let package = sign(&place, &key)?;
                println!("{id} is signed; manifest {}", package.digest());
            }
            Release::Keygen { file, comment } => {
                let key = SigningKey::from_seed(random().context("no randomness for a key")?);
                key.write(&file)?;
                let public = file.with_added_extension("pub");
                key.public().write(&public, &comment)?;
                println!(
                    "The private key is {}, the public key {}",
                    file.display(),
                    public.display()
                );
            }
            Release::Publish(publish) => publish.run()?,
            Release::Pull(pull) => pull.run()?,
            Release::Promote {
                id,
                kind,
                releases,
                allow_unsigned,
                place,
            } => {
                let place = place.settled(matches)?;
                let given = matches.value_source("releases") == Some(ValueSource::CommandLine);
                promote(&id, kind, &place, &releases, given, allow_unsigned)?;
            }
            Release::List { releases, unsigned } => list(&releases.releases, unsigned)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn promote(
    id: &PackageId,
    kind: ReleasedKind,
    place: &Place,
    releases: &Path,
    releases_given: bool,
    allow_unsigned: bool,
) -> anyhow::Result<()> {
    let order = Order::Promote {
        kind,
        release: id.to_string(),
    };
    if place.order_server(&order)?.is_some() {
        if releases_given || allow_unsigned {
            eprintln!(
                "A server runs here: it took the package from its own releases folder, by its own trust."
            );
        }
    } else {
        // No server proves it, so that this does: the next start would refuse it otherwise.
        let unsigned = allow_unsigned.then(|| id.to_string());
        let trust = trust(releases, unsigned.as_slice())?;
        let family = |family| FamilyShelf::open(releases, family, trust.clone(), Some(id.as_str()));
        match kind {
            ReleasedKind::Markets => drop(family(Family::Markets)?),
            ReleasedKind::Rates => drop(family(Family::Rates)?),
            ReleasedKind::Valuation => {
                let runtime = Runtime::new(Allocation::OnDemand)?;
                let snapshots = &mut BTreeMap::new();
                drop(open_release(
                    releases,
                    id.as_str(),
                    &trust,
                    &runtime,
                    snapshots,
                )?);
            }
        }
        place.order(order)?;
    }
    println!("{id} is current");
    Ok(())
}

fn list(root: &std::path::Path, unsigned: bool) -> anyhow::Result<()> {
    let trust = if unsigned {
        Trust::Unsigned
    } else {
        trust(root, &[])?
    };
    let shelf = root.join(Kind::Valuation.as_str());
    for id in names(&shelf)? {
        match open(&shelf.join(&id), &trust).and_then(|package| package.body::<ValuationBody>()) {
            Ok(body) => match pin::here(root, &body, &trust) {
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

/// The releases of a family; its folder may be absent.
fn list_series<B: Body>(
    root: &Path,
    trust: &Trust,
    inner: fn(B) -> ReleaseBody,
) -> anyhow::Result<()> {
    let kind = B::KIND.as_str();
    let shelf = root.join(kind);
    if !shelf.exists() {
        return Ok(());
    }
    for id in names(&shelf)? {
        match open(&shelf.join(&id), trust).and_then(|package| package.body::<B>()) {
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

impl Build {
    fn run(self) -> anyhow::Result<()> {
        let plan = Plan {
            id: self
                .id
                .parse::<PackageId>()
                .with_context(|| format!("--id {}", self.id))?,
            model: self.model,
            releases: self.releases.releases,
            snapshot: self
                .snapshot
                .parse::<PackageId>()
                .with_context(|| format!("--snapshot {}", self.snapshot))?,
            valuation_from: self.valuation_from,
            valuation_to: self.valuation_to,
            effective: self.effective,
            fit_through: self.fit_through,
            calibrate_through: self.calibrate_through,
            calibrate_on: self.calibrate_on,
            learn_days: self.learn_days,
            learn_on: self.learn_on,
            backtest_on: self.backtest_on,
            created: self.created,
            compiled: self.compiled.compiled,
        };
        let mut progress = Progress::new();
        let place = build(&plan, &mut |stage, done, total| {
            progress.show(stage, done, total)
        })?;
        drop(progress);
        if let Some(key) = &self.sign_with {
            sign(&place, &SigningKey::read(key)?)?;
        }
        println!("Release {} is in {}", plan.id, place.display());
        Ok(())
    }
}
