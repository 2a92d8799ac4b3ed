//! `domesday release check`: the conformance kit.

use super::ReleasesFolder;
use super::compiled_folder::CompiledFolder;
use super::output::Output;
use super::progress::Progress;
use super::trust::trust;
use crate::release_check::{Plan, check};
use anyhow::bail;
use chrono::NaiveDate;
use domesday_package::PackageId;
use domesday_registers::Day;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Check {
    /// The release's id.
    release: PackageId,
    /// Value at most so many homes of the snapshot's last three years, evenly taken.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    homes: u32,
    /// Value at most so many rows of hostile inputs.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    hostile: u32,
    /// First day of the sales that coverage is judged on, in place of those of the package's back-test.
    #[arg(long, value_name = "DATE", requires = "to")]
    from: Option<NaiveDate>,
    /// Last day of those sales.
    #[arg(long, value_name = "DATE", requires = "from")]
    to: Option<NaiveDate>,
    /// Value at most so many of those sales, evenly taken.
    #[arg(long, value_name = "N", requires = "from", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Write everything that was found as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
    /// Take this package although no trusted key signed it. Repeat for several.
    #[arg(long = "allow-unsigned", value_name = "ID")]
    unsigned: Vec<String>,
}

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let window = self.from.zip(self.to);
        if let Some((from, to)) = window.filter(|(from, to)| from > to) {
            bail!("--from {from} is after --to {to}");
        }
        let root = &self.releases.releases;
        let trust = trust(root, &self.unsigned)?;
        let plan = Plan {
            homes: self.homes as usize,
            hostile: self.hostile as usize,
            window: window.map(|(from, to)| (Day::from(from), Day::from(to))),
            sample: self.sample.map(|rows| rows as usize),
            compiled: self.compiled.compiled,
        };
        let json = Output::wanted(self.json.as_deref())?;
        let mut progress = Progress::new();
        let report = check(
            root,
            self.release.as_str(),
            &trust,
            &plan,
            &mut |stage, done, total| progress.show(stage, done, total),
        )?;
        drop(progress);
        if let Some(output) = json {
            output.write_json(&report)?;
        }
        print!("{}", report.text());
        Ok(match report.passed {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}
