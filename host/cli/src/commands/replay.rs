//! `domesday replay`: the same bits, or the row and the field that differ.

use super::ReleasesFolder;
use super::compile_cache_arg::CompiledFolder;
use super::progress::ProgressLine;
use super::replay_journal::{JournalOptions, Releases};
use super::trust::UnsignedPackages;
use anyhow::Context;
use domesday_engine::config::Allocation;
use domesday_engine::replay::{Mismatch, agrees, replay};
use domesday_engine::{Release, Runtime, fixture};
use domesday_package::PackageId;
use domesday_valuation::release_store::{open_component, open_release};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
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

#[derive(Serialize)]
struct Report {
    release_id: String,
    engine: &'static str,
    rows: usize,
    identical: usize,
    mismatches: Vec<Mismatch>,
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
        let mut progress = ProgressLine::new();
        progress.show("opening the release", 0, 1);
        let (manifest, release, evidence): (_, Release, _) = if self.snapshot {
            let open = open_release(root, id, &trust, &runtime, &mut BTreeMap::new())?;
            (open.manifest, open.release, Some(open.evidence))
        } else {
            let open = open_component(root, id, &trust, &runtime)?;
            (open.manifest, open.release, None)
        };
        let own = || {
            root.join("valuation")
                .join(id)
                .join(manifest.fixtures.as_str())
        };
        let path = self.fixtures.clone().unwrap_or_else(own);
        let file = File::open(&path)
            .with_context(|| format!("cannot open the fixtures {}", path.display()))?;
        let fixtures = fixture::read(BufReader::new(file))
            .with_context(|| format!("invalid fixtures {}", path.display()))?;

        let mut mismatches = Vec::new();
        for (at, fixture) in fixtures.iter().enumerate() {
            progress.show("replaying fixtures", at as u64, fixtures.len() as u64);
            let found = replay(&release, fixture).and_then(|()| match &evidence {
                Some(evidence) => agrees(&**evidence, fixture),
                None => Ok(()),
            });
            mismatches.extend(found.err());
        }
        drop(progress);
        let report = Report {
            release_id: id.to_owned(),
            engine: Runtime::version(),
            rows: fixtures.len(),
            identical: fixtures.len() - mismatches.len(),
            mismatches,
        };
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
        }
        Ok(if report.mismatches.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
