//! The command line. Each command is a file; anyhow stops here and in them.

mod backtest;
mod check;
mod compare;
mod compiled_folder;
mod cursors;
mod handing;
mod jobs;
mod journal;
mod key;
mod new_release;
mod openapi;
mod output;
mod outputs;
mod pin;
mod place;
mod progress;
mod property;
mod release;
mod replay;
mod replay_journal;
mod series;
mod serve;
mod shadow;
mod status;
mod synthesise;
mod tenant;
mod trust;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
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
    Serve(Box<serve::Serve>),
    /// Make, list and revoke API keys.
    #[command(subcommand)]
    Key(key::Key),
    /// List tenants, put them on plans, and serve them or not.
    #[command(subcommand)]
    Tenant(tenant::Tenant),
    /// Refuse new jobs for a while.
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    /// Keys of receipts, their erasure, and the signed head of this host's journal.
    #[command(subcommand)]
    Journal(journal::Journal),
    /// Change the secret of cursors, which continue pages of market statistics and rates.
    #[command(subcommand)]
    Cursors(cursors::Cursors),
    /// Say how the server is that runs on a data folder.
    Status(status::Status),
    /// Build property snapshots from the registers' files.
    #[command(subcommand)]
    Property(property::Property),
    /// Build, sign and list valuation releases, and make the keys that sign them.
    #[command(subcommand)]
    Release(release::Release),
    /// Build releases of market statistics and of sterling rates.
    #[command(subcommand)]
    Series(series::Series),
    /// Print the OpenAPI description of the interface.
    Openapi(openapi::Openapi),
    /// Run releases on recorded fixtures or receipts; exit 0 only if every outcome is the same to the bit.
    Replay(replay::Replay),
    /// Value the same homes by two releases, and say what the second changes.
    Compare(Box<compare::Compare>),
    /// Run a release beside the current one on a share of live rows, and report what it said.
    #[command(subcommand)]
    Shadow(shadow::Shadow),
    /// Write the register files of a made-up England and Wales.
    Synthesise(synthesise::Synthesise),
}

/// Where the releases are, in every command that reads or writes them.
#[derive(Debug, clap::Args)]
struct ReleasesFolder {
    /// Folder of releases: valuation/<id>, property/<id>, markets/<id>, rates/<id>, keys/*.pub.
    #[arg(
        long,
        env = "DOMESDAY_RELEASES",
        default_value = "releases",
        value_name = "DIR"
    )]
    releases: PathBuf,
}

/// Reads the command line and runs its command.
///
/// # Errors
/// What went wrong, for a person to read.
pub fn run() -> anyhow::Result<ExitCode> {
    let matches = Arguments::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches)?;
    // Which of a command's settings were given, and how, is in the matches of the innermost.
    let matches = innermost(&matches);
    match arguments.command {
        Command::Serve(command) => command.run(matches),
        Command::Key(command) => command.run(matches),
        Command::Tenant(command) => command.run(matches),
        Command::Jobs(command) => command.run(matches),
        Command::Journal(command) => command.run(matches),
        Command::Cursors(command) => command.run(matches),
        Command::Status(command) => command.run(matches),
        Command::Property(command) => command.run(),
        Command::Release(command) => command.run(matches),
        Command::Series(command) => command.run(),
        Command::Openapi(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Compare(command) => command.run().map(|()| ExitCode::SUCCESS),
        Command::Shadow(command) => command.run(matches).map(|()| ExitCode::SUCCESS),
        Command::Synthesise(command) => command.run(),
    }
}

fn innermost(matches: &ArgMatches) -> &ArgMatches {
    match matches.subcommand() {
        Some((_, inner)) => innermost(inner),
        None => matches,
    }
}
