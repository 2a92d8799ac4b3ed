//! `domesday backup`: a copy of a host that may be running.

use super::journal_folder::JournalFolder;
use super::target::AdminTarget;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args};
use domesday_backup::{CopiedState, HostFolders, StateLocation, back_up};
use domesday_server::admin::protocol::{Command, Response};
use domesday_server::clock::random;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Backup {
    /// New folder for the backup.
    #[arg(value_name = "DIR")]
    backup: PathBuf,
    #[command(flatten)]
    journal: JournalFolder,
    #[command(flatten)]
    target: AdminTarget,
}

impl Backup {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let target = self.target.resolve(matches)?;
        let data = fs::canonicalize(&target.data).with_context(|| {
            format!(
                "cannot open the data folder {}; name another with --data",
                target.data.display()
            )
        })?;
        let config = self.target.config.as_deref();
        let folders = HostFolders {
            data: &data,
            journal: &self.journal.resolve(matches, config, &data)?,
        };
        let copy_state = |path: &Path| copy_state(&target, &data, path);
        let manifest = back_up(&self.backup, folders, (random()?, random()?), copy_state)?;
        let made_at = &manifest.made_at;
        println!(
            "{} files of {made_at} are in {}, signed by the key of {}",
            manifest.files.len(),
            self.backup.display(),
            data.join("ledger.pub").display()
        );
        if manifest.state == StateLocation::Postgresql {
            let schema = manifest.schema;
            println!(
                "The state is in PostgreSQL (schema {schema}). Dump the database now, after this backup: \
                 the dump then has the keys of all receipts"
            );
        }
        println!(
            "The backup holds secrets. Keep it as safe as the host, with the releases and settings"
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// Copies the state to `path`, by the server that runs there if one does.
fn copy_state(target: &AdminTarget, data: &Path, path: &Path) -> anyhow::Result<CopiedState> {
    let command = Command::CopyState {
        path: path.to_owned(),
    };
    let Response::StateCopied {
        schema,
        in_database,
        at,
    } = execute(target, data, command)?
    else {
        bail!("unexpected reply from the server: client and server versions differ");
    };
    let location = match in_database {
        true => StateLocation::Postgresql,
        false => StateLocation::File,
    };
    Ok(CopiedState {
        location,
        schema,
        at,
    })
}

/// Sends the command to the server that runs there, or else executes it on a state that is there.
fn execute(target: &AdminTarget, data: &Path, command: Command) -> anyhow::Result<Response> {
    if let Some(answer) = target.execute_on_server(&command)? {
        return Ok(answer);
    }
    if target.state.is_none() && !data.join("state.redb").exists() {
        bail!(
            "{} holds no state, and no server runs there; name its database with --state",
            data.display()
        );
    }
    target.execute(command)
}
