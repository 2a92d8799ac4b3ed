//! The command line. Each command is a file; anyhow stops here and in them.

mod key;
mod progress;
mod property;
mod release;
mod replay;
mod serve;
mod synthesise;
mod trust;

pub use key::create as create_key;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Automated valuations of homes in England and Wales, by sandboxed and replayable releases.
#[derive(Debug, Parser)]
#[command(name = "domesday", version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the releases of a directory over HTTP.
    Serve(serve::Serve),
    /// Make, list and revoke API keys. The server that has the state open must be stopped.
    #[command(subcommand)]
    Key(key::Key),
    /// Build property snapshots from the registers' files.
    #[command(subcommand)]
    Property(property::Property),
    /// Build, sign and list valuation releases, and make the keys that sign them.
    #[command(subcommand)]
    Release(release::Release),
    /// Run a release on recorded fixtures; exit 0 only if every outcome is the same to the bit.
    Replay(replay::Replay),
    /// Write the register files of a made-up England and Wales.
    Synthesise(synthesise::Synthesise),
}

/// Where the releases are, in every command that reads or writes them.
#[derive(Debug, clap::Args)]
struct ReleasesFolder {
    /// Folder of releases: valuation/<id>, property/<id>, keys/*.pub.
    #[arg(
        long,
        env = "DOMESDAY_RELEASES",
        default_value = "releases",
        value_name = "DIR"
    )]
    releases: PathBuf,
}

/// Runs a command.
///
/// # Errors
/// What went wrong, for a person to read.
pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Serve(command) => command.run(),
        Command::Key(command) => command.run(),
        Command::Property(command) => command.run(),
        Command::Release(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Synthesise(command) => command.run(),
    }
}
