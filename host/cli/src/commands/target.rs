//! The service that a command reaches: its data folder, and the settings file that may name it.

use anyhow::{Context, bail};
use clap::ArgMatches;
use domesday_package::check_no_staged_content;
use domesday_server::admin::client::send_command;
use domesday_server::admin::protocol::{Command, ReleaseFetch, Response};
use domesday_server::admin::state_commands::on_state;
use domesday_server::clock::{Clock, MachineClock};
use domesday_server::config::resolve;
use domesday_state::{EmbeddedState, State, open_postgres};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The service that a command reaches.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct AdminTarget {
    /// TOML config file, as for `domesday serve`.
    #[arg(long, env = "DOMESDAY_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Folder of the service's state.
    #[arg(
        long,
        env = "DOMESDAY_DATA",
        default_value = "domesday-data",
        value_name = "DIR"
    )]
    pub data: PathBuf,
    /// URL of the PostgreSQL database that holds the state (default: a file in the data folder).
    #[arg(
        long,
        env = "DOMESDAY_STATE",
        hide_env_values = true,
        value_name = "URL"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl AdminTarget {
    /// Resolves the settings: the command line first, then the file.
    ///
    /// # Errors
    /// The file is not a settings file.
    pub fn resolve(&self, matches: &ArgMatches) -> anyhow::Result<AdminTarget> {
        Ok(resolve(self, matches, self.config.as_deref())?.settings)
    }

    /// Sends a command to the server that runs there, or else executes it on the state.
    ///
    /// # Errors
    /// The server or the state refused it.
    pub fn execute(&self, command: Command) -> anyhow::Result<Response> {
        if let Some(answer) = self.execute_on_server(&command)? {
            return Ok(answer);
        }
        let state = self.open_state()?;
        Ok(on_state(&*state, MachineClock.now(), command)?)
    }

    /// Opens the state, where no server runs that has it open.
    ///
    /// # Errors
    /// There is no data folder, or the state does not open.
    pub fn open_state(&self) -> anyhow::Result<Arc<dyn State>> {
        if self.state.is_none() && self.data.exists() && !self.data.is_dir() {
            bail!(
                "the data folder {} is not a folder; name another with --data",
                self.data.display()
            );
        }
        if self.state.is_none() && !self.data.is_dir() {
            bail!(
                "{} does not exist; `domesday serve` creates it, or name another with --data",
                self.data.display()
            );
        }
        if self.state.is_none() {
            check_owner(&self.data)?;
        }
        open_state(&self.data, self.state.as_deref())
    }

    /// Sends a command to the server that runs there. Returns `None` where none does.
    ///
    /// # Errors
    /// The server refused it.
    pub fn execute_on_server(&self, command: &Command) -> anyhow::Result<Option<Response>> {
        self.execute_watched(command, &mut |_| {})
    }

    /// Does the same, and passes each look at the server's fetch of a promoted release to `watch`.
    ///
    /// # Errors
    /// As [`AdminTarget::execute_on_server`].
    pub fn execute_watched(
        &self,
        command: &Command,
        watch: &mut dyn FnMut(&ReleaseFetch),
    ) -> anyhow::Result<Option<Response>> {
        Ok(send_command(&self.data, command, watch)?)
    }
}

/// Checks that the data folder is the user's own. Files that another user makes in it, root too,
/// would keep the service from its own state.
fn check_owner(data: &Path) -> anyhow::Result<()> {
    let shown = data.display();
    let folder = std::fs::metadata(data).with_context(|| format!("cannot look at {shown}"))?;
    let (owner, user) = (folder.uid(), rustix::process::geteuid().as_raw());
    if owner != user {
        bail!(
            "no server answers in {shown}, which belongs to the user {owner} and not to {user}; wait until the service is ready, or type the command as its user, with its settings, such as `sudo -u domesday domesday key list --config /etc/domesday/domesday.toml`"
        );
    }
    Ok(())
}

/// Opens the state in a database or else in a data folder, and makes it where there is none yet.
/// Blocks.
///
/// # Errors
/// The state cannot be reached, is open already or is not a state. Or a restore into the data
/// folder was broken off.
pub fn open_state(data: &Path, address: Option<&str>) -> anyhow::Result<Arc<dyn State>> {
    check_no_staged_content(data)?;
    // The address is not repeated: it may hold a password.
    if let Some(address) = address {
        return open_postgres(address).context("cannot open the state on PostgreSQL");
    }
    let path = data.join("state.redb");
    let state = EmbeddedState::open(&path)
        .with_context(|| format!("cannot open the state {}", path.display()))?;
    Ok(Arc::new(state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::chown;

    #[test]
    fn no_state_is_opened_in_a_folder_of_another_user() {
        let data = tempfile::tempdir().unwrap();
        check_owner(data.path()).unwrap();
        // Only root can give a folder away.
        if chown(data.path(), Some(65_534), None).is_err() {
            println!("skipped: the folder of another user needs root");
            return;
        }
        let target = AdminTarget {
            config: None,
            data: data.path().to_owned(),
            state: None,
        };
        let refused = target.open_state().err().unwrap().to_string();
        assert!(refused.contains("belongs to the user 65534"), "{refused}");
        // sudo passes no variable on, so the settings are a flag.
        assert!(
            refused.contains("--config /etc/domesday/domesday.toml"),
            "{refused}"
        );
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    }
}
