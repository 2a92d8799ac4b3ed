//! `domesday refresh`: the regular round, from files that arrived to releases.

use crate::commands::serve::signals::{StopSignal, StopSignals};
use crate::commands::target::AdminTarget;
use anyhow::Context;
use clap::{Args, FromArgMatches};
use domesday_refresh::config::RefreshConfig;
use domesday_refresh::context::RoundContext;
use domesday_refresh::file_kind::FileKind;
use domesday_refresh::part::Part;
use domesday_refresh::report::{RoundReport, RoundResult};
use domesday_refresh::round::{plan, run};
use domesday_refresh::step::ProgramFile;
use domesday_registers::RegisterKind;
use domesday_series::build::recognition::{InputKind, InputState, recognise_input};
use domesday_server::clock::{Clock, MachineClock};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code where nothing failed and a person should look.
const ATTENTION: u8 = 3;

/// Arguments of `refresh`.
#[derive(Debug, clap::Args)]
pub struct Refresh {
    /// TOML file of the round (docs/how-to/refresh.md).
    #[arg(default_value = "refresh.toml", value_name = "FILE")]
    config: PathBuf,
    /// Build this part alone. Repeatable (default: all that the file names).
    #[arg(long, value_enum, value_name = "PART")]
    only: Vec<PartArg>,
    /// Say what would be built, and build nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// A part of the round.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PartArg {
    /// Sterling rates.
    Rates,
    /// Market statistics.
    Markets,
    /// The property snapshot.
    Snapshot,
    /// The valuation release.
    Valuation,
}

impl From<PartArg> for Part {
    fn from(part: PartArg) -> Part {
        match part {
            PartArg::Rates => Part::Rates,
            PartArg::Markets => Part::Markets,
            PartArg::Snapshot => Part::Snapshot,
            PartArg::Valuation => Part::Valuation,
        }
    }
}

impl Refresh {
    /// Runs a round, or says what it would do.
    ///
    /// # Errors
    /// The configuration is not one, or a folder cannot be read or written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let config = RefreshConfig::read(&self.config)?;
        let service = find_service()?;
        let program = std::env::current_exe().context("cannot find the program's own file")?;
        let program = Arc::new(ProgramFile::new(program));
        end_step_on_signals(Arc::clone(&program))?;
        let only: Vec<Part> = self.only.iter().copied().map(Part::from).collect();
        let context = RoundContext {
            config: &config,
            default_data: &service.data,
            names_elsewhere: service.config.is_some() || service.state.is_some(),
            now: MachineClock.utc(),
            program: &*program,
            recognise: &file_kind,
            only: &only,
            // A round goes on where nobody reads.
            announce: &|line| drop(writeln!(std::io::stderr(), "{line}")),
        };
        let report = match self.dry_run {
            true => plan(&context)?,
            false => run(&context)?,
        };
        self.print(&report)?;
        Ok(match report.result() {
            RoundResult::Done => ExitCode::SUCCESS,
            RoundResult::Failed => ExitCode::FAILURE,
            RoundResult::Attention => ExitCode::from(ATTENTION),
        })
    }

    fn print(&self, report: &RoundReport) -> anyhow::Result<()> {
        match self.json {
            true => println!("{}", serde_json::to_string_pretty(report)?),
            false => print!("{}", report.text()),
        }
        Ok(())
    }
}

/// Returns the service that a step reaches without options: by the environment, or the defaults.
fn find_service() -> anyhow::Result<AdminTarget> {
    let command = AdminTarget::augment_args(clap::Command::new("domesday"));
    let matches = command.try_get_matches_from(["domesday"])?;
    Ok(AdminTarget::from_arg_matches(&matches)?)
}

/// Ends the step that runs and then this process, at a signal that would end this process alone.
fn end_step_on_signals(program: Arc<ProgramFile>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut signals, mut hangup, mut quit) = runtime.block_on(async {
        let (hangup, quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
        anyhow::Ok((StopSignals::listen()?, hangup, quit))
    })?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            // The code by which a shell reports a program that the signal ended.
            let code = runtime.block_on(async {
                tokio::select! {
                    stop = signals.next() => match stop {
                        StopSignal::Interrupt => 130,
                        StopSignal::Terminate => 143,
                    },
                    _ = hangup.recv() => 129,
                    _ = quit.recv() => 131,
                }
            });
            program.stop();
            std::process::exit(code)
        })?;
    Ok(())
}

/// Returns the kind of a file that a build takes as it is, and `None` for any other file.
fn file_kind(path: &Path) -> Option<FileKind> {
    let input = recognise_input(path)?;
    match input.state {
        InputState::Readable => {}
        InputState::Repairable | InputState::Packed(_) => return None,
    }
    Some(match input.kind {
        InputKind::Register(register) => match register {
            RegisterKind::PricePaid => FileKind::PricePaid,
            RegisterKind::Certificates => FileKind::Certificates,
            RegisterKind::CodePoint => FileKind::CodePoint,
            RegisterKind::Areas => FileKind::Areas,
            RegisterKind::AuthorityCodes => FileKind::AuthorityCodes,
            RegisterKind::PriceIndex => FileKind::HousePriceIndex,
            RegisterKind::Addresses => FileKind::Addresses,
            RegisterKind::OpenUprn => FileKind::OpenUprn,
        },
        InputKind::Database => FileKind::BankCsv,
        InputKind::Curves => FileKind::Curves,
        InputKind::Rents => FileKind::Rents,
    })
}
