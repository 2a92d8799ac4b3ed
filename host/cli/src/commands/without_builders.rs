//! Stands in for the commands of `builders` in a build without that feature. They take any
//! arguments and name the missing feature.

use anyhow::bail;
use clap::Subcommand;
use std::ffi::OsString;
use std::process::ExitCode;

pub type Backtest = AbsentCommand;
pub type Build = AbsentCommand;
pub type Check = AbsentCommand;
pub type Compare = AbsentCommand;
pub type Data = AbsentCommands;
pub type DemoData = AbsentCommand;
pub type Monitor = AbsentCommand;
pub type NewRelease = AbsentCommand;
pub type Profile = AbsentCommand;
pub type Property = AbsentCommands;
pub type Refresh = AbsentCommand;
pub type Series = AbsentCommands;

/// A command that this build lacks.
#[derive(Debug, clap::Args)]
pub struct AbsentCommand {
    /// Not looked at: this build lacks the command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// A command with subcommands that this build lacks.
#[derive(Debug, Subcommand)]
pub enum AbsentCommands {
    /// Not looked at: this build lacks the command.
    #[command(external_subcommand)]
    Any(#[expect(dead_code, reason = "taken so that clap refuses none")] Vec<OsString>),
}

impl AbsentCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        absent()
    }
}

impl AbsentCommands {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        absent()
    }
}

fn absent() -> anyhow::Result<ExitCode> {
    bail!("this build does not build, check or compare: build it with --features builders")
}

#[cfg(test)]
mod tests {
    use crate::commands::{Arguments, execute};
    use clap::CommandFactory;

    #[test]
    fn every_command_names_the_missing_feature() {
        for line in [
            "release new homes --path x",
            "release build --release-id a --model m --snapshot s",
            "release backtest a --from 2026-01-01",
            "release check --json x a",
            "release monitor a --later-snapshot b",
            "release profile a --svg x",
            "compare a b",
            "data check x",
            "demo-data out --rates",
            "property build --snapshot-id a",
            "property update --snapshot-id a",
            "refresh refresh.toml --dry-run",
            "series build rates --release-id a",
            "series list",
        ] {
            let words = std::iter::once("domesday").chain(line.split(' '));
            let matches = Arguments::command().try_get_matches_from(words).unwrap();
            let error = execute(&matches).unwrap_err().to_string();
            assert!(error.contains("--features builders"), "{line}: {error}");
        }
    }
}
