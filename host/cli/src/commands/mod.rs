//! The command line. Each command is a file. No other crate uses anyhow.

mod approve;
mod backup;
mod bench;
#[cfg(feature = "builders")]
mod builders;
#[cfg(not(feature = "builders"))]
#[path = "without_builders.rs"]
mod builders;
mod compile_cache_arg;
mod completions;
mod console;
mod cursor_secret;
mod file;
mod fixture_file;
mod history;
mod jobs;
mod journal;
mod journal_folder;
mod key;
mod man;
#[cfg(not(feature = "object-storage"))]
#[path = "without_object_storage.rs"]
mod objects;
#[cfg(not(feature = "oci"))]
#[path = "without_oci.rs"]
mod oci;
mod openapi;
mod operator;
mod progress;
mod promote;
mod release;
mod remote;
mod replay;
mod replay_journal;
mod replay_report;
mod report_file;
mod restore;
mod sandbox;
mod serve;
mod shadow;
mod status;
mod target;
mod tenant;
mod transfer;
mod trust;
mod usage;
mod version;

#[cfg(feature = "object-storage")]
use domesday_objects as objects;
#[cfg(feature = "oci")]
use domesday_oci as oci;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Automated valuations of homes in England and Wales, by sandboxed and replayable releases.
#[derive(Debug, Parser)]
#[command(name = "domesday", version, long_version = version::LONG.as_str(), max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the releases of a folder over HTTP.
    Serve(Box<serve::Serve>),
    /// Serve a sandbox whose addresses and faults have documented answers.
    Sandbox(sandbox::Sandbox),
    /// Create, list and revoke API keys.
    #[command(subcommand)]
    Key(key::Key),
    /// List tenants, set their plans, enable and disable them.
    #[command(subcommand)]
    Tenant(tenant::Tenant),
    /// Pause and resume the submission of jobs.
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    /// Export and erase keys of receipts, and print the journal's signed head.
    #[command(subcommand)]
    Journal(journal::Journal),
    /// Open the console of the running server.
    #[command(subcommand)]
    Console(console::Console),
    /// Rotate the secret that authenticates page cursors.
    #[command(subcommand)]
    Cursors(cursor_secret::Cursors),
    /// Export the ledger of used units.
    #[command(subcommand)]
    Usage(usage::Usage),
    /// Back up a host, running or not: its state, keys and journal of receipts.
    Backup(backup::Backup),
    /// Verify a backup and restore it into a new data folder.
    Restore(restore::Restore),
    /// Show the status of the running server.
    Status(status::Status),
    /// Check register files before a build, and fetch them.
    #[command(subcommand)]
    Data(builders::Data),
    /// Build property snapshots from register files.
    #[command(subcommand)]
    Property(builders::Property),
    /// Build, check, sign, publish and list valuation releases.
    #[command(subcommand)]
    Release(release::Release),
    /// Build and list releases of market statistics and sterling rates.
    #[command(subcommand)]
    Series(builders::Series),
    /// Run one round: build, check and promote from new files.
    Refresh(builders::Refresh),
    /// Measure what a running host can do on this machine. Each value costs a unit.
    Bench(bench::Bench),
    /// Print the OpenAPI document.
    Openapi(openapi::Openapi),
    /// Replay fixtures or receipts; exit 0 only if every outcome is bit-identical.
    Replay(replay::Replay),
    /// Value the same homes with two releases and report the differences.
    Compare(Box<builders::Compare>),
    /// Run a candidate release beside the current one on a share of live rows.
    #[command(subcommand)]
    Shadow(shadow::Shadow),
    /// Write register files of an invented England and Wales.
    DemoData(builders::DemoData),
    /// Sign a file, such as a list of checksums, and verify it.
    #[command(subcommand)]
    File(file::File),
    /// Write the man pages of all commands.
    Man(man::Man),
    /// Print the completions of a shell.
    Completions(completions::Completions),
}

/// The packages folder, in every command that reads or writes releases.
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
/// Returns the command's error, for a person to read.
pub fn run() -> anyhow::Result<ExitCode> {
    execute(&Arguments::command().get_matches())
}

fn execute(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let arguments = Arguments::from_arg_matches(matches)?;
    // The matches of the innermost command tell which settings were given, and how.
    let matches = innermost(matches);
    match arguments.command {
        Command::Serve(command) => command.run(matches),
        Command::Sandbox(command) => command.run(),
        Command::Key(command) => command.run(matches),
        Command::Tenant(command) => command.run(matches),
        Command::Jobs(command) => command.run(matches),
        Command::Journal(command) => command.run(matches),
        Command::Console(command) => command.run(matches),
        Command::Cursors(command) => command.run(matches),
        Command::Usage(command) => command.run(matches),
        Command::Backup(command) => command.run(matches),
        Command::Restore(command) => command.run(),
        Command::Status(command) => command.run(matches),
        Command::Data(command) => command.run(),
        Command::Property(command) => command.run(),
        Command::Release(command) => command.run(matches),
        Command::Series(command) => command.run(),
        Command::Refresh(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Openapi(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Shadow(command) => command.run(matches).map(|()| ExitCode::SUCCESS),
        Command::DemoData(command) => command.run(),
        Command::File(command) => command.run(),
        Command::Man(command) => command.run(Arguments::command()),
        Command::Completions(command) => command.run(Arguments::command()),
    }
}

fn innermost(matches: &ArgMatches) -> &ArgMatches {
    match matches.subcommand() {
        Some((_, inner)) => innermost(inner),
        None => matches,
    }
}
