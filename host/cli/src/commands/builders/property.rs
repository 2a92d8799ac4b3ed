//! `domesday property build` and `update`: from the registers' own downloads to a snapshot package.

use super::address_directory::AddressDirectory;
use super::package_output::PackageOutput;
use super::wrong_kind::{GivenFiles, name_true_kind};
use crate::commands::progress::ProgressLine;
use anyhow::Context;
use clap::Subcommand;
use domesday_package::{
    Draft, FilePath, PackageId, PropertyBody, RegisterFile, Sha256Digest, Source, Trust,
    make_readable_directory, open, sign, write,
};
use domesday_property::build::{
    DEFAULT_MEMORY, FileReport, HomesReport, Inputs, REJECTS_FILE, REPORT_FILE, SNAPSHOT_FILE,
};
use domesday_property::{Identity, build};
use domesday_registers::{MaxRejected, RegisterKind};
use domesday_release_tools::build::timestamp;
use domesday_series::build::recognition::{Builder, InputKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Property {
    /// Build a snapshot from register files.
    Build(Box<Build>),
    /// Build a new snapshot from an old one and later monthly price paid files.
    Update(Box<Update>),
    /// Make the file of addresses that the console searches.
    AddressDirectory(AddressDirectory),
}

#[derive(Debug, clap::Args)]
pub struct Update {
    /// Id of the new snapshot; an id is never reused.
    #[arg(long, value_name = "ID")]
    snapshot_id: String,
    /// Id of the snapshot to start from; it stays unchanged.
    #[arg(long, value_name = "SNAPSHOT")]
    from: String,
    /// HM Land Registry monthly Price Paid Data: additions, changes and deletions. Repeatable.
    #[arg(long, required = true, value_name = "CSV")]
    price_paid: Vec<PathBuf>,
    /// Largest share of a file's rows that may be rejected, per cent. More stops the build.
    #[arg(long, value_name = "PERCENT", default_value_t)]
    max_rejected: MaxRejected,
    #[command(flatten)]
    output: PackageOutput,
}

const DEFAULT_MEMORY_MIB: u32 = (DEFAULT_MEMORY >> 20) as u32;

#[derive(Debug, clap::Args)]
pub struct Build {
    /// Id of the snapshot: lower-case letters, digits, dots and hyphens. An id is never reused.
    #[arg(long, value_name = "ID")]
    snapshot_id: String,
    /// HM Land Registry Price Paid Data: the 16-column file or the linked-data export. Repeatable.
    #[arg(long, required = true, value_name = "CSV")]
    price_paid: Vec<PathBuf>,
    /// Domestic energy certificates (certificates.csv). Repeatable.
    #[arg(long, value_name = "CSV")]
    certificates: Vec<PathBuf>,
    /// OS Code-Point Open, the zip as downloaded.
    #[arg(long, value_name = "ZIP")]
    code_point: PathBuf,
    /// ONS Standard Area Measurements of local authorities. Repeatable.
    #[arg(long, value_name = "CSV")]
    areas: Vec<PathBuf>,
    /// ONS local authority codes, past and current.
    #[arg(long, value_name = "CSV")]
    authority_codes: PathBuf,
    /// UK House Price Index, full file. Repeatable.
    #[arg(long, value_name = "CSV")]
    house_price_index: Vec<PathBuf>,
    /// Licensed address file (docs/reference/address-file.md; default: UPRNs of the certificates).
    #[arg(long, value_name = "CSV")]
    addresses: Vec<PathBuf>,
    /// Price paid file whose addresses become homes with invented UPRNs, for back-tests.
    /// Repeatable.
    #[arg(long, value_name = "CSV", conflicts_with_all = ["addresses", "certificates"])]
    sold_addresses: Vec<PathBuf>,
    /// Build a snapshot that has no home, of sales and figures alone.
    #[arg(long)]
    without_homes: bool,
    /// OS Open UPRN, the zip or its CSV: coordinates of homes that the address file lacks.
    #[arg(long, value_name = "FILE")]
    open_uprn: Vec<PathBuf>,
    /// Join sales and certificates by exact address only, without the matching rules of
    /// docs/explanation/address-matching.md.
    #[arg(long)]
    exact_addresses: bool,
    /// Memory of the external sort, MiB. Postcodes, pages and buffers need more.
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_MEMORY_MIB,
        value_parser = clap::value_parser!(u32).range(4..=1_048_576))]
    memory: u32,
    /// Largest share of a file's rows that may be rejected, per cent. More stops the build.
    #[arg(long, value_name = "PERCENT", default_value_t)]
    max_rejected: MaxRejected,
    /// Mark the registers as synthetic in the manifest.
    #[arg(long)]
    synthetic: bool,
    #[command(flatten)]
    output: PackageOutput,
}

impl Property {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Property::Build(build) => build.run(),
            Property::Update(update) => update.run(),
            Property::AddressDirectory(directory) => directory.run(),
        }
    }
}

impl Build {
    fn run(self) -> anyhow::Result<ExitCode> {
        let id: PackageId = self
            .snapshot_id
            .parse()
            .with_context(|| format!("--snapshot-id {}", self.snapshot_id))?;
        let packages_dir = self.output.releases().join("property");
        make_readable_directory(&packages_dir)
            .with_context(|| format!("cannot create {}", packages_dir.display()))?;
        let inputs = Inputs {
            price_paid: self.price_paid.clone(),
            certificates: self.certificates.clone(),
            code_point: self.code_point.clone(),
            areas: self.areas.clone(),
            code_map: self.authority_codes.clone(),
            price_index: self.house_price_index.clone(),
            addresses: self.addresses.clone(),
            sold_addresses: self.sold_addresses.clone(),
            open_uprn: self.open_uprn.clone(),
            by_rules: !self.exact_addresses,
            max_rejected: self.max_rejected,
        };
        let memory_bytes = (self.memory as usize).saturating_mul(1 << 20);
        let target = SnapshotTarget {
            packages_dir: &packages_dir,
            output: &self.output,
        };
        let made = target.make(id, |id, built, progress| {
            let report = build::build_within(
                id.as_str(),
                &inputs,
                built,
                memory_bytes,
                &mut |stage, done, total| progress.show(stage, done, total),
            )?;
            anyhow::ensure!(
                report.homes.properties > 0 || self.without_homes,
                "snapshot {id} would have no home, so that every address is address_not_found. Give \
                 --certificates, --addresses or --sold-addresses, or state --without-homes"
            );
            let note = note_of_homes(&report.homes);
            let body = body(
                id,
                &report.identity,
                source_files(&report.files),
                self.synthetic,
            )?;
            Ok(BuiltSnapshot {
                body,
                report,
                note,
            })
        });
        let register = InputKind::Register;
        let given: [GivenFiles<'_>; 9] = [
            (register(RegisterKind::PricePaid), &self.price_paid),
            (register(RegisterKind::PricePaid), &self.sold_addresses),
            (register(RegisterKind::Certificates), &self.certificates),
            (
                register(RegisterKind::CodePoint),
                std::slice::from_ref(&self.code_point),
            ),
            (register(RegisterKind::Areas), &self.areas),
            (
                register(RegisterKind::AuthorityCodes),
                std::slice::from_ref(&self.authority_codes),
            ),
            (register(RegisterKind::PriceIndex), &self.house_price_index),
            (register(RegisterKind::Addresses), &self.addresses),
            (register(RegisterKind::OpenUprn), &self.open_uprn),
        ];
        made.map_err(|error| name_true_kind(error, Builder::Snapshot, &given))
    }
}

impl Update {
    fn run(self) -> anyhow::Result<ExitCode> {
        let id: PackageId = self
            .snapshot_id
            .parse()
            .with_context(|| format!("--snapshot-id {}", self.snapshot_id))?;
        let from: PackageId = self
            .from
            .parse()
            .with_context(|| format!("--from {}", self.from))?;
        let packages_dir = self.output.releases().join("property");
        // An update may start from a snapshot that is not signed yet. Serving it needs a signature.
        let old = open(&packages_dir.join(from.as_str()), &Trust::Unsigned)
            .with_context(|| format!("--from {from}: no snapshot in {}", packages_dir.display()))?;
        let before: PropertyBody = old.body()?;
        let database = old.path(before.database.as_str())?;
        let target = SnapshotTarget {
            packages_dir: &packages_dir,
            output: &self.output,
        };
        let made = target.make(id, |id, built, progress| {
            let report = build::update(
                id.as_str(),
                &database,
                &self.price_paid,
                self.max_rejected,
                built,
                &mut |stage, done, total| progress.show(stage, done, total),
            )?;
            let sources = report
                .sources
                .iter()
                .map(|file| (file.file.clone(), file.sha256.clone(), file.rows));
            let body = body(id, &report.identity, sources, before.synthetic)?;
            Ok(BuiltSnapshot {
                body,
                report,
                note: None,
            })
        });
        let price_paid = InputKind::Register(RegisterKind::PricePaid);
        let given = [(price_paid, self.price_paid.as_slice())];
        made.map_err(|error| name_true_kind(error, Builder::Update, &given))
    }
}

/// The destination of a finished snapshot.
struct SnapshotTarget<'a> {
    packages_dir: &'a Path,
    output: &'a PackageOutput,
}

impl SnapshotTarget<'_> {
    /// Runs `make` in a folder beside the packages, makes a package of its snapshot and prints the
    /// report.
    fn make<R: Serialize>(
        self,
        id: PackageId,
        make: impl FnOnce(&PackageId, &Path, &mut ProgressLine) -> anyhow::Result<BuiltSnapshot<R>>,
    ) -> anyhow::Result<ExitCode> {
        let key = self.output.signing_key()?;
        // Package ids cannot begin with a dot, so no reader takes this for a package.
        let work_dir = tempfile::Builder::new()
            .prefix(".build-")
            .tempdir_in(self.packages_dir)?;
        let built = work_dir.path().join("snapshot");
        let mut progress = ProgressLine::new();
        let made = make(&id, &built, &mut progress)?;
        drop(progress);
        let package_dir = self.packages_dir.join(id.as_str());
        let draft = Draft {
            id: id.clone(),
            created: timestamp(self.output.creation_time())?,
            body: made.body,
            files: files(&built)?,
        };
        write(self.packages_dir, draft)?;
        if let Some(key) = &key {
            sign(&package_dir, key)?;
        }
        eprintln!(
            "Snapshot {id} is in {}; rejected rows are listed in its {REJECTS_FILE}.",
            package_dir.display()
        );
        println!("{}", serde_json::to_string_pretty(&made.report)?);
        // Last, since the report is long.
        if let Some(note) = made.note {
            eprintln!("{note}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A snapshot that was made, with its report and a note for the user.
struct BuiltSnapshot<R> {
    body: PropertyBody,
    report: R,
    note: Option<String>,
}

/// Returns the note that homes have invented UPRNs, where they do.
fn note_of_homes(homes: &HomesReport) -> Option<String> {
    (homes.from_sold_addresses > 0).then(|| {
        format!(
            "{} homes have an invented UPRN. Use the snapshot for back-tests, not to serve.",
            homes.from_sold_addresses
        )
    })
}

/// Returns name, digest and rows of each file of a build.
fn source_files(files: &[FileReport]) -> impl Iterator<Item = (String, String, u64)> {
    files
        .iter()
        .map(|file| (file.file.clone(), file.sha256.clone(), file.rows_read))
}

fn files(built: &Path) -> anyhow::Result<BTreeMap<FilePath, Source>> {
    [SNAPSHOT_FILE, REPORT_FILE, REJECTS_FILE]
        .into_iter()
        .map(|name| Ok((name.parse()?, Source::Path(built.join(name)))))
        .collect()
}

fn body(
    id: &PackageId,
    identity: &Identity,
    sources: impl Iterator<Item = (String, String, u64)>,
    synthetic: bool,
) -> anyhow::Result<PropertyBody> {
    let rows = identity.rows;
    let counts = [
        ("postcodes", rows.postcodes),
        ("address_keys", rows.address_keys),
        ("properties", rows.properties),
        ("certificates", rows.certificates),
        ("placed_sales", rows.placed_sales),
        ("unplaced_sales", rows.unplaced_sales),
        ("matched_sales", rows.matched_sales),
    ];
    Ok(PropertyBody {
        snapshot_id: id.clone(),
        content_digest: identity.content_digest.parse::<Sha256Digest>()?,
        schema: domesday_property::store::SCHEMA,
        database: SNAPSHOT_FILE.parse()?,
        sources: sources
            .map(|(name, sha256, rows)| {
                Ok(RegisterFile {
                    name,
                    sha256: sha256.parse()?,
                    rows,
                })
            })
            .collect::<anyhow::Result<_>>()?,
        synthetic,
        latest_sale: identity.latest_sale.and_then(|day| day.date()),
        counts: counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect(),
    })
}
