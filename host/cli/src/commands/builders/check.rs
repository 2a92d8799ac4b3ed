//! `domesday release check`: the conformance kit.

use super::sale_days::check_sale_days;
use crate::commands::ReleasesFolder;
use crate::commands::compile_cache_arg::CompiledFolder;
use crate::commands::progress::ProgressLine;
use crate::commands::report_file::ReportFile;
use crate::commands::trust::UnsignedPackages;
use chrono::NaiveDate;
use domesday_package::{
    CHECKED_ADVERSARIAL_ROWS, CHECKED_HOMES, Kind, PackageId, Sha256Digest, SigningKey,
};
use domesday_registers::Day;
use domesday_release_tools::check::{CheckOptions, Reference, check, store_report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Id of the release.
    release: PackageId,
    /// Maximum number of homes from the snapshot's last ten years, most of the last three, sampled
    /// evenly.
    #[arg(long, value_name = "N", default_value_t = CHECKED_HOMES, value_parser = clap::value_parser!(u32).range(1..))]
    homes: u32,
    /// Maximum number of adversarial rows.
    #[arg(long, value_name = "N", default_value_t = CHECKED_ADVERSARIAL_ROWS)]
    adversarial_rows: u32,
    /// First day of the sales that coverage is checked on (default: the package's back-test).
    #[arg(long, value_name = "DATE", requires = "to")]
    from: Option<NaiveDate>,
    /// Last day of those sales.
    #[arg(long, value_name = "DATE", requires = "from")]
    to: Option<NaiveDate>,
    /// Maximum number of those sales, sampled evenly.
    #[arg(long, value_name = "N", requires = "from", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Compare estimates with this release's (default: the newest other one that knows the homes).
    #[arg(long, value_name = "ID")]
    reference: Option<PackageId>,
    /// Compare estimates with no release.
    #[arg(long, conflicts_with = "reference")]
    no_reference: bool,
    /// Fail if a check is not judged.
    #[arg(long)]
    strict: bool,
    /// Write all findings as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Sign the report with this private key and store it beside the release's manifest.
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        check_sale_days(self.from, self.to)?;
        let window = self.from.zip(self.to);
        let root = &self.releases.releases;
        let trust = self.unsigned.trust(root)?;
        let options = CheckOptions {
            homes: self.homes as usize,
            adversarial_rows: self.adversarial_rows as usize,
            window: window.map(|(from, to)| (Day::from(from), Day::from(to))),
            sample: self.sample.map(|rows| rows as usize),
            reference: match self.reference {
                Some(id) => Reference::Named(id.to_string()),
                None if self.no_reference => Reference::Off,
                None => Reference::Newest,
            },
            strict: self.strict,
            compiled: self.compiled.compiled,
        };
        let json = ReportFile::open_optional(self.json.as_deref())?;
        let key = self
            .sign_with
            .as_deref()
            .map(SigningKey::read)
            .transpose()?;
        let mut progress = ProgressLine::new();
        let report = check(
            root,
            self.release.as_str(),
            &trust,
            &options,
            &mut |stage, done, total| progress.show(stage, done, total),
        )?;
        drop(progress);
        if let Some(output) = json {
            output.write_json(&report)?;
        }
        print!("{}", report.text());
        if let Some(key) = key {
            let package_dir = package_dir(root, &self.release);
            let digest = store_report(&report, &package_dir, &trust, &key)?;
            print_stored_report(&digest, &key);
        }
        Ok(match report.passed {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

/// Returns the directory of a release's package.
fn package_dir(releases: &Path, id: &PackageId) -> PathBuf {
    releases.join(Kind::Valuation.as_str()).join(id.as_str())
}

/// Prints the digest and the signer of a report that was stored.
pub fn print_stored_report(digest: &Sha256Digest, key: &SigningKey) {
    println!("The signed report is {digest}, by {}", key.public());
}
