//! `domesday release build`: from a model's source and a property snapshot to a release.

use super::check::print_stored_report;
use super::package_output::PackageOutput;
use crate::commands::compile_cache_arg::CompiledFolder;
use crate::commands::progress::ProgressLine;
use anyhow::Context;
use chrono::NaiveDate;
use domesday_package::{
    CHECKED_ADVERSARIAL_ROWS, CHECKED_HOMES, KEYS, PackageId, PublicKey, SigningKey, Trust,
    TrustList, ValuationBody, open,
};
use domesday_release_tools::backtest::{EVIDENCE_LAG_DAYS, stored_lag_warning};
use domesday_release_tools::build::{BuildOptions, build};
use domesday_release_tools::check::{CheckOptions, Reference, check, store_report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Build {
    /// Id of the release: lower-case letters, digits, dots, hyphens and underscores. An id is never
    /// reused.
    #[arg(long, value_name = "ID")]
    release_id: String,
    /// Folder of the model: a crate or a Python module, with release.toml.
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Id of the property snapshot to pin.
    #[arg(long, value_name = "ID")]
    snapshot: String,
    /// First valuation date (default: the day after the snapshot's latest sale).
    #[arg(long, value_name = "DATE")]
    valuation_from: Option<NaiveDate>,
    /// Last valuation date (default: a year after the first).
    #[arg(long, value_name = "DATE")]
    valuation_to: Option<NaiveDate>,
    /// Effective date of the release (default: the first valuation date).
    #[arg(long, value_name = "DATE")]
    effective: Option<NaiveDate>,
    /// Last day of the sales to train on (default: two years before the snapshot's latest sale).
    #[arg(long, value_name = "DATE")]
    train_until: Option<NaiveDate>,
    /// Last day of the sales to calibrate on (default: half a year before the latest sale).
    #[arg(long, value_name = "DATE")]
    calibrate_until: Option<NaiveDate>,
    /// Days that registers lag by: hides evidence registered within them before each past
    /// valuation.
    #[arg(long, value_name = "DAYS", default_value_t = EVIDENCE_LAG_DAYS, value_parser = clap::value_parser!(u16).range(..=3_660))]
    evidence_lag: u16,
    /// Count each sale of the calibration alike. By default the ranges follow how those before them
    /// held as the market moved (adaptive conformal inference).
    #[arg(long)]
    fixed_ranges: bool,
    /// Let the ranges of each confidence band follow how its own held.
    #[arg(long, conflicts_with = "fixed_ranges")]
    ranges_by_band: bool,
    /// Maximum number of sales to calibrate on, sampled evenly.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    max_calibration_rows: usize,
    /// Days before --train-until whose sales are in the table of features, of a model that shows
    /// its inputs.
    #[arg(long, default_value_t = 2_922, value_name = "DAYS")]
    feature_days: i32,
    /// Maximum number of sales in the table of features, sampled evenly.
    #[arg(long, default_value_t = 40_000, value_name = "N")]
    max_feature_rows: usize,
    /// Maximum number of sales to test on, sampled evenly.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    max_backtest_rows: usize,
    /// Skip the check of the signed release, and its signed report.
    #[arg(long)]
    without_check: bool,
    #[command(flatten)]
    output: PackageOutput,
    #[command(flatten)]
    compiled: CompiledFolder,
}

impl Build {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let options = BuildOptions {
            id: self
                .release_id
                .parse::<PackageId>()
                .with_context(|| format!("--release-id {}", self.release_id))?,
            model: self.model,
            releases: self.output.releases().to_owned(),
            snapshot: self
                .snapshot
                .parse::<PackageId>()
                .with_context(|| format!("--snapshot {}", self.snapshot))?,
            valuation_from: self.valuation_from,
            valuation_to: self.valuation_to,
            effective: self.effective,
            train_until: self.train_until,
            calibrate_until: self.calibrate_until,
            evidence_lag_days: self.evidence_lag,
            fixed_ranges: self.fixed_ranges,
            ranges_by_band: self.ranges_by_band,
            max_calibration_rows: self.max_calibration_rows,
            feature_days: self.feature_days,
            max_feature_rows: self.max_feature_rows,
            max_backtest_rows: self.max_backtest_rows,
            created: self.output.creation_time(),
            key: self.output.signing_key()?,
            compiled: self.compiled.compiled,
        };
        let mut progress = ProgressLine::new();
        let package_dir = build(&options, &mut |stage, done, total| {
            progress.show(stage, done, total)
        })?;
        drop(progress);
        println!("Release {} is in {}", options.id, package_dir.display());
        warn_of_early_evidence(&package_dir)?;
        match &options.key {
            Some(key) if !self.without_check => check_and_sign(&options, &package_dir, key)?,
            None if !self.without_check => eprintln!(
                "warning: {id} was not checked, since it is not signed. `domesday release sign {id}` and `domesday release check {id} --sign-with KEY` make it ready to be published",
                id = options.id
            ),
            _ => {}
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Warns where the back-test shows evidence of real registers sooner than a server has it.
///
/// # Errors
/// The package cannot be read.
fn warn_of_early_evidence(package_dir: &Path) -> anyhow::Result<()> {
    let package = open(package_dir, &Trust::Unsigned)?;
    let body: ValuationBody = package.body()?;
    if let Some(file) = &body.backtest
        && let Some(warning) = stored_lag_warning(&package.bytes(file.as_str())?)
    {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// Returns the trust of the folder, with the key that signed the release a moment ago. The check
/// compares the release with no package that the folder does not trust. Its own snapshot may be
/// unsigned: the manifest pins the bytes.
///
/// # Errors
/// The keys of the folder cannot be read.
fn trust_of_check(releases: &Path, snapshot: &PackageId, key: PublicKey) -> anyhow::Result<Trust> {
    let list = TrustList::of_releases(releases);
    let mut list = list.with_context(|| {
        let keys = releases.join(KEYS);
        format!("cannot read the trusted keys in {}", keys.display())
    })?;
    list.add(key, "the key of the build");
    list.exempt(snapshot.clone());
    Ok(Trust::Required(list))
}

/// Checks the release and stores the signed report. A release that fails stays, with a warning: its
/// maker may want to look at it.
///
/// # Errors
/// The report cannot be written. A check that cannot run is a warning too.
fn check_and_sign(
    options: &BuildOptions,
    package_dir: &Path,
    key: &SigningKey,
) -> anyhow::Result<()> {
    let check_options = CheckOptions {
        homes: CHECKED_HOMES as usize,
        adversarial_rows: CHECKED_ADVERSARIAL_ROWS as usize,
        window: None,
        sample: None,
        reference: Reference::Newest,
        strict: false,
        compiled: options.compiled.clone(),
    };
    let mut progress = ProgressLine::new();
    let id = options.id.as_str();
    let trust = trust_of_check(&options.releases, &options.snapshot, key.public())?;
    let checked = check(
        &options.releases,
        id,
        &trust,
        &check_options,
        &mut |stage, done, total| progress.show(stage, done, total),
    );
    drop(progress);
    let report = match checked {
        Ok(report) => report,
        Err(error) => {
            eprintln!(
                "warning: {id} has no check report: {error}. `domesday release check {id}` tries again"
            );
            return Ok(());
        }
    };
    if !report.passed {
        eprintln!(
            "warning: {id} failed its check: {}. It can be neither published nor promoted; `domesday release check {id}` shows why",
            report.failed_checks().join(", ")
        );
    }
    let digest = store_report(&report, package_dir, &trust, key)?;
    print_stored_report(&digest, key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_of_a_build_trusts_the_folder_and_the_builder_alone() {
        let releases = tempfile::tempdir().unwrap();
        let [own, theirs, strange] = [1, 2, 3].map(|seed| SigningKey::from_seed([seed; 32]));
        std::fs::create_dir(releases.path().join(KEYS)).unwrap();
        let public = releases.path().join(KEYS).join("team.pub");
        theirs.public().write(&public, "team").unwrap();
        let snapshot = "s-1".parse().unwrap();
        let trust = trust_of_check(releases.path(), &snapshot, own.public()).unwrap();
        let Trust::Required(list) = trust else {
            panic!("packages that nobody signed would be trusted");
        };
        assert!(list.trusts(&own.public()) && list.trusts(&theirs.public()));
        assert!(!list.trusts(&strange.public()));
    }
}
