//! `domesday jobs`: whether new jobs are taken.

use super::target::AdminTarget;
use clap::{ArgMatches, Subcommand};
use domesday_server::admin::protocol::Command;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Jobs {
    /// Refuse new jobs on all hosts. Accepted jobs continue and stay readable.
    Pause {
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Accept new jobs again.
    Resume {
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Jobs {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let (target, paused) = match self {
            Jobs::Pause { target } => (target, true),
            Jobs::Resume { target } => (target, false),
        };
        target
            .resolve(matches)?
            .execute(Command::PauseJobs { paused })?;
        println!(
            "{}",
            match paused {
                true => "new jobs are refused",
                false => "new jobs are taken",
            }
        );
        Ok(ExitCode::SUCCESS)
    }
}
