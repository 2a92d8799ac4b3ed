//! `domesday property build` and `update`: from the registers' own downloads to a snapshot package.

use super::address_directory::AddressDirectory;
use super::package_output::PackageOutput;
use super::wrong_kind::{GivenFiles, name_true_kind};
use crate::commands::progress::ProgressLine;
use anyhow::Context;
use clap::Subcommand;
use domesday_package::PackageId;
use domesday_property::build::{DEFAULT_MEMORY, HomesReport, Inputs, REJECTS_FILE};
use domesday_registers::{MaxRejected, RegisterKind};
use domesday_release_tools::snapshot_package::{
    SnapshotPlan, SnapshotTarget, build_snapshot, update_snapshot,
};
use domesday_series::build::recognition::{Builder, InputKind};
use serde::Serialize;
use std::path::PathBuf;
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
    /// Id of the snapshot: lower-case letters, digits, dots, hyphens and underscores. An id is
    /// never reused.
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
        let target = target(&self.snapshot_id, &self.output)?;
        let plan = SnapshotPlan {
            inputs: Inputs {
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
            },
            memory_bytes: (self.memory as usize).saturating_mul(1 << 20),
            without_homes: self.without_homes,
            synthetic: self.synthetic,
        };
        let mut progress = ProgressLine::new();
        let built = build_snapshot(&target, &plan, &mut |stage, done, total| {
            progress.show(stage, done, total);
        });
        drop(progress);
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
        let report =
            built.map_err(|error| name_true_kind(error.into(), Builder::Snapshot, &given))?;
        print_report(&target, &report)?;
        // Last, since the report is long.
        if let Some(note) = note_of_homes(&report.homes) {
            eprintln!("{note}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Update {
    fn run(self) -> anyhow::Result<ExitCode> {
        let target = target(&self.snapshot_id, &self.output)?;
        let from: PackageId = self
            .from
            .parse()
            .with_context(|| format!("--from {}", self.from))?;
        let files = (self.price_paid.as_slice(), self.max_rejected);
        let mut progress = ProgressLine::new();
        let built = update_snapshot(&target, &from, files, &mut |stage, done, total| {
            progress.show(stage, done, total);
        });
        drop(progress);
        let price_paid = InputKind::Register(RegisterKind::PricePaid);
        let given = [(price_paid, self.price_paid.as_slice())];
        let report =
            built.map_err(|error| name_true_kind(error.into(), Builder::Update, &given))?;
        print_report(&target, &report)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the package that the options of a command ask for.
fn target(snapshot_id: &str, output: &PackageOutput) -> anyhow::Result<SnapshotTarget> {
    let id = snapshot_id.parse();
    Ok(SnapshotTarget {
        id: id.with_context(|| format!("--snapshot-id {snapshot_id}"))?,
        releases: output.releases().to_owned(),
        created: output.creation_time(),
        key: output.signing_key()?,
    })
}

/// Prints the folder and the report of a snapshot that was built.
fn print_report(target: &SnapshotTarget, report: &impl Serialize) -> anyhow::Result<()> {
    eprintln!(
        "Snapshot {} is in {}; rejected rows are listed in its {REJECTS_FILE}.",
        target.id,
        target.package_dir().display()
    );
    println!("{}", serde_json::to_string_pretty(report)?);
    Ok(())
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
