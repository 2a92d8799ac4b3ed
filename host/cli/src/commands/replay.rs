//! `domesday replay`: the same bits, or the row and the field that differ.

use super::ReleasesFolder;
use super::compile_cache_arg::CompiledFolder;
use super::progress::ProgressLine;
use super::replay_journal::JournalOptions;
use super::trust::UnsignedPackages;
use anyhow::Context;
use domesday_engine::config::Allocation;
use domesday_package::PackageId;
use domesday_replay::{FixtureReplay, Releases};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Replay {
    /// Id of the release. With --journal, replay only its receipts.
    #[arg(required_unless_present = "journal")]
    release: Option<PackageId>,
    /// Fixtures file (default: those of the release).
    #[arg(conflicts_with = "journal")]
    fixtures: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalOptions,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    compiled: CompiledFolder,
    /// Also verify the recorded evidence against the release's snapshot.
    #[arg(long)]
    snapshot: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    unsigned: UnsignedPackages,
}

impl Replay {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let root = &self.releases.releases;
        let release = self.release.as_ref().map(PackageId::as_str);
        let runtime = self.compiled.runtime(Allocation::OnDemand)?;
        if let Some(journal) = &self.journal.journal {
            let trust = self.unsigned.trust(root)?;
            let releases = Releases::new(root, trust, runtime, self.snapshot);
            return self.journal.run(journal, releases, release, self.json);
        }
        let id = release.context("name a release, or a journal with --journal")?;
        let trust = self.unsigned.trust(root)?;
        let mut line = ProgressLine::new();
        let replay = FixtureReplay {
            root,
            release: id,
            fixtures: self.fixtures.as_deref(),
            with_snapshot: self.snapshot,
        };
        let report = replay.run(&trust, &runtime, &mut |stage, done, total| {
            line.show(stage, done, total);
        })?;
        drop(line);
        if self.json {
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            for mismatch in &report.mismatches {
                println!("{mismatch}");
            }
            println!(
                "{} of {} rows identical to the bit ({})",
                report.identical, report.rows, report.engine
            );
            if let Some(snapshot) = &report.snapshot {
                println!("Snapshot {snapshot} gives the recorded evidence of the identical rows");
            }
        }
        Ok(if report.mismatches.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
