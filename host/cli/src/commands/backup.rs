//! `domesday backup`: a copy of a host that may be running.

use super::target::AdminTarget;
use anyhow::{Context, bail};
use chrono::{DateTime, SecondsFormat};
use clap::{ArgMatches, Args};
use domesday_server::admin::protocol::{Command, Response};
use domesday_server::backup::{BackupDraft, StateLocation};
use domesday_server::clock::random;
use domesday_server::config::resolve;
use domesday_server::ledger_key::LedgerKey;
use domesday_state::UnixMillis;
use serde::{Deserialize, Serialize};
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

/// The setting of the host that says where its journal is.
#[derive(Debug, Args, Serialize, Deserialize)]
struct JournalFolder {
    /// Folder of the journal of receipts (default: `journal` in the data folder).
    #[arg(long, env = "DOMESDAY_JOURNAL", value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<PathBuf>,
}

impl Backup {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let target = self.target.resolve(matches)?;
        let config = self.target.config.as_deref();
        let journal = resolve(&self.journal, matches, config)?.settings.journal;
        let data = fs::canonicalize(&target.data).with_context(|| {
            format!(
                "cannot open the data folder {}; name another with --data",
                target.data.display()
            )
        })?;
        let mut draft = BackupDraft::create(&self.backup)?;
        draft.add_journals(&journal.unwrap_or_else(|| data.join("journal")), &data)?;
        // Chance, since the processes of two containers may share an id.
        let chance = hex::encode(random::<8>()?);
        let copy = StateFile(data.join(format!("state-copy-{chance}.redb")));
        let command = Command::CopyState {
            path: copy.0.clone(),
        };
        let Response::StateCopied {
            schema,
            in_database,
            at,
        } = execute(&target, &data, command)?
        else {
            bail!("unexpected reply from the server: client and server versions differ");
        };
        let state = match in_database {
            true => StateLocation::Postgresql,
            false => {
                draft.move_state(&copy.0)?;
                StateLocation::File
            }
        };
        let key = LedgerKey::open(&data, random()?)?;
        draft.add_keys(&data)?;
        let made_at = time(at).parse().context("the clock of the host is wrong")?;
        let manifest = draft.finish(made_at, state, schema, &key)?;
        println!(
            "{} files of {made_at} are in {}, signed by the key of {}",
            manifest.files.len(),
            self.backup.display(),
            data.join("ledger.pub").display()
        );
        if in_database {
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

/// The copy of the state in the data folder. Dropping it removes what was not moved.
struct StateFile(PathBuf);

impl Drop for StateFile {
    fn drop(&mut self) {
        let path: &Path = &self.0;
        let _ = fs::remove_file(path);
    }
}

/// Formats a moment to the second, in UTC.
fn time(at: UnixMillis) -> String {
    let at = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
