//! `domesday compare`: two releases on the same homes.

use super::sale_days::check_sale_days;
use crate::commands::ReleasesFolder;
use crate::commands::compile_cache_arg::CompiledFolder;
use crate::commands::progress::ProgressLine;
use crate::commands::report_file::ReportFileArgs;
use crate::commands::trust::UnsignedPackages;
use anyhow::Context;
use chrono::NaiveDate;
use domesday_engine::config::Allocation;
use domesday_engine::fixture;
use domesday_evaluation::compare::sides::Sides;
use domesday_package::{Kind, PackageId, PropertyBody, Trust, read_claimed_body};
use domesday_registers::Day;
use domesday_release_tools::backtest::EVIDENCE_LAG_DAYS;
use domesday_release_tools::compare::{Rows, run};
use domesday_valuation::release_store::{OpenRelease, open_release};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Instances of each release, as on a small server. One is in use at a time.
const INSTANCES: u32 = 4;

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Release A, the baseline.
    release_a: PackageId,
    /// Release B, the candidate.
    release_b: PackageId,
    /// Fixtures whose subjects are valued (default: sold homes of A's snapshot).
    #[arg(conflicts_with_all = ["from", "to", "sample", "evidence_lag"])]
    fixtures: Option<PathBuf>,
    /// First day of the sales to value (default: the day after the training data of both ends).
    #[arg(long, value_name = "DATE")]
    from: Option<NaiveDate>,
    /// Last day of the sales to value (default: the last day in both snapshots).
    #[arg(long, value_name = "DATE")]
    to: Option<NaiveDate>,
    /// Maximum number of sales, sampled evenly.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Days that registers lag by: hides evidence registered within them before each sale.
    #[arg(long, value_name = "DAYS", default_value_t = EVIDENCE_LAG_DAYS, value_parser = clap::value_parser!(u16).range(..=3_660))]
    evidence_lag: u16,
    #[command(flatten)]
    outputs: ReportFileArgs,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

impl Compare {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        check_sale_days(self.from, self.to)?;
        let outputs = self.outputs.open()?;
        let root = &self.releases.releases;
        let fixtures = self.fixtures.as_deref().map(read_fixtures).transpose()?;
        let trust = self.unsigned.trust(root)?;
        let runtime = self.compiled.runtime(Allocation::Pooling {
            instances: INSTANCES,
        })?;
        let mut snapshots = BTreeMap::new();
        let mut open_side =
            |id: &PackageId| open_release(root, id.as_str(), &trust, &runtime, &mut snapshots);
        let releases = Sides {
            a: open_side(&self.release_a)?,
            b: open_side(&self.release_b)?,
        };
        let rows = match fixtures {
            Some(rows) => rows,
            None => Rows::Sales {
                from: self.from.map(Day::from),
                to: self.to.map(Day::from),
                sample: self.sample as usize,
                evidence_lag_days: self.evidence_lag,
                synthetic: is_synthetic(root, &releases.a)?,
            },
        };
        let mut progress = ProgressLine::new();
        let comparison = run(&releases, rows, &mut |stage, done, total| {
            progress.show(stage, done, total);
        })?;
        drop(progress);
        outputs.write(&comparison)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns whether every household in a release's snapshot is invented. The package is verified
/// already. Only its manifest is read here.
fn is_synthetic(root: &Path, release: &OpenRelease) -> anyhow::Result<bool> {
    let snapshots = root.join(Kind::Property.as_str());
    let package = snapshots.join(release.manifest.snapshot.id.as_str());
    let body: PropertyBody = read_claimed_body(&package, &Trust::Unsigned)?;
    Ok(body.synthetic)
}

fn read_fixtures(path: &Path) -> anyhow::Result<Rows> {
    let subject = || format!("cannot read the fixtures {}", path.display());
    let file = File::open(path).with_context(subject)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(Rows::Fixtures {
        file: name.to_string_lossy().into_owned(),
        fixtures: fixture::read(BufReader::new(file)).with_context(subject)?,
    })
}
