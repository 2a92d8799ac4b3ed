//! `domesday status`: how a running server is.

use super::target::AdminTarget;
use anyhow::bail;
use clap::ArgMatches;
use domesday_server::admin::protocol::{self, Command, ReleaseKindArg, Response};
use domesday_state::ReleaseKind;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Print the status as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: AdminTarget,
}

impl Status {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let target = self.target.resolve(matches)?;
        let Some(Response::Status(status)) = target.execute_on_server(&Command::Status {})? else {
            bail!(
                "no server runs on the data folder {}; `domesday serve` starts one",
                target.data.display()
            );
        };
        if self.json {
            println!("{}", serde_json::to_string_pretty(&status)?);
            return Ok(ExitCode::SUCCESS);
        }
        println!("version            {}", status.version);
        println!("current release    {}", status.current_release);
        println!(
            "check report       {}",
            status.check_problem.as_deref().unwrap_or("good")
        );
        println!("releases           {}", status.releases.join(" "));
        show_promoted(&status);
        for withdrawn in &status.withdrawn {
            println!(
                "withdrawn          {}: {}",
                withdrawn.release, withdrawn.reason
            );
        }
        if let Some(shadow) = &status.shadow {
            println!(
                "shadow             {} on {} of rows",
                shadow.release, shadow.share
            );
        }
        let jobs = match status.jobs_waiting {
            Some(jobs) => jobs.to_string(),
            None => "unknown".to_owned(),
        };
        let paused = if status.jobs_paused { ", paused" } else { "" };
        println!("jobs waiting       {jobs}{paused}");
        println!(
            "state              {}",
            status.storage_problem.as_deref().unwrap_or("good")
        );
        for missing in &status.missing_snapshots {
            println!("receipts           lack {missing}");
        }
        println!("log lines dropped  {}", status.log_lines_dropped);
        if let Some(bytes) = status.resident_bytes {
            println!("resident memory    {} MiB", bytes >> 20);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the promoted releases, and how the source of releases is.
fn show_promoted(status: &protocol::Status) {
    for promoted in &status.promoted {
        let manifest = promoted.manifest.as_deref().unwrap_or("unknown");
        let held = match (promoted.held, &promoted.problem) {
            (true, _) => "held".to_owned(),
            (false, Some(problem)) => format!("not held: {problem}"),
            (false, None) => "not held".to_owned(),
        };
        println!(
            "promoted           {} {}, manifest {manifest}: {held}",
            name(promoted.kind),
            promoted.release
        );
    }
    let Some(source) = &status.release_source else {
        return;
    };
    let problem = source.problem.as_deref();
    println!("release source     {}", problem.unwrap_or("good"));
    for fetch in &source.fetches {
        println!(
            "fetching           {} {}, {} MiB so far",
            name(fetch.kind),
            fetch.release,
            fetch.bytes >> 20
        );
    }
}

fn name(kind: ReleaseKindArg) -> &'static str {
    ReleaseKind::from(kind).as_str()
}
