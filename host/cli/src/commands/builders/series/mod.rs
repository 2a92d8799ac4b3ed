//! `domesday series`: builds releases of markets and rates from the publishers' own downloads, and
//! lists them.

mod list;
mod markets;
mod rates;
mod table;

use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Series {
    /// Build a release from the publishers' files.
    #[command(subcommand)]
    Build(Build),
    /// List the releases with their datasets, each opened and verified.
    List(list::List),
}

#[derive(Debug, Subcommand)]
pub enum Build {
    /// Build market statistics from HM Land Registry, ONS, OS and energy certificates.
    Markets(Box<markets::Markets>),
    /// Build sterling rates from the Bank of England's files.
    Rates(Box<rates::Rates>),
}

impl Series {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Series::Build(Build::Markets(command)) => command.run(),
            Series::Build(Build::Rates(command)) => command.run(),
            Series::List(command) => command.run(),
        }
    }
}
