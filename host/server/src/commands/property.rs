//! `domesday property build`: from the registers' own downloads to a snapshot package.

use super::ReleasesFolder;
use super::progress::Progress;
use crate::release_build::timestamp;
use anyhow::Context;
use chrono::{DateTime, Utc};
use clap::Subcommand;
use domesday_package::{
    Draft, FilePath, PackageId, PropertyBody, RegisterFile, Sha256Digest, SigningKey, Source, sign,
    write,
};
use domesday_property::build::{self, Inputs, REJECTS_FILE, REPORT_FILE, Report, SNAPSHOT_FILE};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Property {
    /// Build a snapshot from register files.
    Build(Box<Build>),
}

#[derive(Debug, clap::Args)]
pub struct Build {
    /// The snapshot's id: lower-case letters, digits, dots and hyphens. It is never used again.
    #[arg(long)]
    id: String,
    /// HM Land Registry Price Paid Data: the 16-column file, or the linked-data export. Repeat.
    #[arg(long, required = true, value_name = "CSV")]
    price_paid: Vec<PathBuf>,
    /// Domestic energy certificates (certificates.csv). Repeat.
    #[arg(long, value_name = "CSV")]
    certificates: Vec<PathBuf>,
    /// OS Code-Point Open, the zip as downloaded.
    #[arg(long, value_name = "ZIP")]
    code_point: PathBuf,
    /// ONS Standard Area Measurements of local authorities. Repeat.
    #[arg(long, value_name = "CSV")]
    areas: Vec<PathBuf>,
    /// ONS local authority codes, past and current.
    #[arg(long, value_name = "CSV")]
    authority_codes: PathBuf,
    /// UK House Price Index, full file. Repeat.
    #[arg(long, value_name = "CSV")]
    price_index: Vec<PathBuf>,
    /// A licensed address file (docs/address-file.md). Without one, UPRNs come from certificates.
    #[arg(long, value_name = "CSV")]
    addresses: Vec<PathBuf>,
    /// Join sales and certificates to homes by their exact address alone, without the rules of
    /// docs/address-matching.md.
    #[arg(long)]
    exact_addresses: bool,
    /// Say in the manifest that the registers are made up.
    #[arg(long)]
    synthetic: bool,
    /// Sign with this private key.
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    /// When the package is made, for a build that is to be the same bytes again; by default now.
    #[arg(long, value_name = "TIME")]
    created: Option<DateTime<Utc>>,
    #[command(flatten)]
    releases: ReleasesFolder,
}

impl Property {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Property::Build(build) => build.run(),
        }
    }
}

impl Build {
    fn run(self) -> anyhow::Result<ExitCode> {
        let id: PackageId = self
            .id
            .parse()
            .with_context(|| format!("--id {}", self.id))?;
        let shelf = self.releases.releases.join("property");
        std::fs::create_dir_all(&shelf).with_context(|| shelf.display().to_string())?;
        let inputs = Inputs {
            price_paid: self.price_paid.clone(),
            certificates: self.certificates.clone(),
            code_point: self.code_point.clone(),
            areas: self.areas.clone(),
            code_map: self.authority_codes.clone(),
            price_index: self.price_index.clone(),
            addresses: self.addresses.clone(),
            by_rules: !self.exact_addresses,
        };
        // Package ids cannot begin with a dot, so no reader takes this for a package.
        let workshop = tempfile::Builder::new()
            .prefix(".build-")
            .tempdir_in(&shelf)?;
        let built = workshop.path().join("snapshot");
        let mut progress = Progress::new();
        let report = build::build(id.as_str(), &inputs, &built, &mut |stage, done, total| {
            progress.show(stage, done, total)
        })?;
        drop(progress);

        let created = timestamp(self.created)?;
        let body = body(&id, &report, self.synthetic)?;
        write(
            &shelf,
            Draft {
                id: id.clone(),
                created,
                body,
                files: files(&built)?,
            },
        )?;
        let place = shelf.join(id.as_str());
        if let Some(key) = &self.sign_with {
            sign(&place, &SigningKey::read(key)?)?;
        }
        println!("{}", serde_json::to_string_pretty(&report)?);
        eprintln!(
            "Snapshot {id} is in {}; what was not taken is listed in its {REJECTS_FILE}.",
            place.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}

fn files(built: &Path) -> anyhow::Result<BTreeMap<FilePath, Source>> {
    [SNAPSHOT_FILE, REPORT_FILE, REJECTS_FILE]
        .into_iter()
        .map(|name| Ok((name.parse()?, Source::Path(built.join(name)))))
        .collect()
}

fn body(id: &PackageId, report: &Report, synthetic: bool) -> anyhow::Result<PropertyBody> {
    let rows = report.identity.rows;
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
        content_digest: report.identity.content_digest.parse::<Sha256Digest>()?,
        schema: domesday_property::store::SCHEMA,
        database: SNAPSHOT_FILE.parse()?,
        sources: report
            .files
            .iter()
            .map(|file| {
                Ok(RegisterFile {
                    name: file.file.clone(),
                    sha256: file.sha256.parse()?,
                    rows: file.rows_read,
                })
            })
            .collect::<anyhow::Result<_>>()?,
        synthetic,
        latest_sale: report.identity.latest_sale.and_then(|day| day.date()),
        counts: counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect(),
    })
}
