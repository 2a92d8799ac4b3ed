//! `domesday jobs`: whether new jobs are taken.

use super::place::Place;
use crate::admin::wire::Order;
use clap::{ArgMatches, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Jobs {
    /// Refuse new jobs on all hosts; those that were accepted go on, and all stay readable.
    Pause {
        #[command(flatten)]
        place: Place,
    },
    /// Take new jobs again.
    Resume {
        #[command(flatten)]
        place: Place,
    },
}

impl Jobs {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let (place, paused) = match self {
            Jobs::Pause { place } => (place, true),
            Jobs::Resume { place } => (place, false),
        };
        place.settled(matches)?.order(Order::PauseJobs { paused })?;
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
