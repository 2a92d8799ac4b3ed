//! `domesday usage`: the ledger of used units.

mod csv;
mod parquet;

use super::target::AdminTarget;
use crate::stdout;
use anyhow::{Context, bail};
use clap::{ArgMatches, Subcommand, ValueEnum};
use domesday_package::{parent_directory, persist_durably};
use domesday_server::admin::protocol::{Command, Response};
use domesday_server::admin::state_commands::on_state;
use domesday_server::clock::{Clock, MachineClock};
use domesday_state::{Month, State, UsageEntry, UsagePage, UsagePosition};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Debug, Subcommand)]
pub enum Usage {
    /// Export the entries of a month: one for each request or job, and for each refund.
    Export(Export),
}

/// Arguments of `usage export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// Month in UTC, as 2026-11.
    #[arg(long, value_name = "MONTH")]
    month: Month,
    /// Export this tenant's entries only.
    #[arg(long)]
    tenant: Option<String>,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Output file; an existing one is replaced (default: the standard output, for CSV).
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    target: AdminTarget,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text with a line for each entry.
    Csv,
    /// Columns with types.
    Parquet,
}

/// A file of entries that is being written.
trait EntryWriter {
    /// Writes entries.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(&mut self, entries: &[UsageEntry]) -> anyhow::Result<()>;

    /// Writes what is left.
    ///
    /// # Errors
    /// The file cannot be written.
    fn finish(self: Box<Self>) -> anyhow::Result<()>;
}

impl Usage {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let Usage::Export(export) = self;
        export.run(matches)
    }
}

impl Export {
    fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let source = PageSource::open(self.target.resolve(matches)?);
        let (format, month, tenant) = (self.format, self.month, self.tenant);
        let Some(path) = self.output else {
            if format == Format::Parquet {
                bail!("--format parquet needs --output FILE");
            }
            let open = || Ok(Box::new(csv::CsvWriter::new(stdout::writer())?) as Box<_>);
            copy(source, month, tenant, open)?;
            return Ok(ExitCode::SUCCESS);
        };
        let subject = || format!("cannot write {}", path.display());
        let part = tempfile::NamedTempFile::new_in(parent_directory(&path));
        let part = part.with_context(subject)?;
        let file = part.reopen().with_context(subject)?;
        let open = || open_writer(format, file).with_context(subject);
        let (entries, units) = copy(source, month, tenant, open)?;
        persist_durably(part, &path).with_context(subject)?;
        println!(
            "{entries} entries of {month}, {units} units in all: {}",
            path.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}

fn open_writer(format: Format, file: File) -> anyhow::Result<Box<dyn EntryWriter>> {
    let file = BufWriter::new(file);
    Ok(match format {
        Format::Csv => Box::new(csv::CsvWriter::new(file)?),
        Format::Parquet => Box::new(parquet::ParquetWriter::new(file)?),
    })
}

/// Copies the entries of a month, and returns their number and the sum of their units. Opens the
/// writer once the first page is there, so that an error is not preceded by a heading.
fn copy(
    mut source: PageSource,
    month: Month,
    tenant: Option<String>,
    open: impl FnOnce() -> anyhow::Result<Box<dyn EntryWriter>>,
) -> anyhow::Result<(u64, i64)> {
    let (mut count, mut units) = (0, 0_i64);
    let mut page = source.read(month, tenant.clone(), None)?;
    let mut writer = open()?;
    loop {
        writer.write(&page.entries)?;
        count += page.entries.len() as u64;
        units += page.entries.iter().map(|entry| entry.units).sum::<i64>();
        match page.next {
            Some(next) => page = source.read(month, tenant.clone(), Some(next))?,
            None => break,
        }
    }
    writer.finish()?;
    Ok((count, units))
}

/// The running server, or the state that no server has open.
struct PageSource {
    target: AdminTarget,
    state: Option<Arc<dyn State>>,
}

impl PageSource {
    fn open(target: AdminTarget) -> PageSource {
        PageSource {
            target,
            state: None,
        }
    }

    /// Reads a page.
    fn read(
        &mut self,
        month: Month,
        tenant: Option<String>,
        after: Option<UsagePosition>,
    ) -> anyhow::Result<UsagePage> {
        let command = Command::UsageEntries {
            month,
            tenant,
            after,
        };
        let answer = match &self.state {
            Some(_) => None,
            None => self.target.execute_on_server(&command)?,
        };
        let answer = match answer {
            Some(answer) => answer,
            None => {
                let state = match self.state.take() {
                    Some(state) => state,
                    None => self.target.open_state()?,
                };
                let state = self.state.insert(state);
                on_state(&**state, MachineClock.now(), command)?
            }
        };
        match answer {
            Response::UsageEntries(page) => Ok(page),
            _ => bail!("unexpected reply from the server: client and server versions differ"),
        }
    }
}
