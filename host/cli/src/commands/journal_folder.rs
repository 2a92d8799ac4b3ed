//! The setting of a host that says where its journal of receipts is.

use clap::{ArgMatches, Args};
use domesday_journal::JOURNAL;
use domesday_server::config::resolve;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of the journal, in every command that reads a host's journal.
#[derive(Debug, Args, Serialize, Deserialize)]
pub struct JournalFolder {
    /// Folder of the journal of receipts (default: `journal` in the data folder).
    #[arg(long, env = "DOMESDAY_JOURNAL", value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<PathBuf>,
}

impl JournalFolder {
    /// Returns the folder that the command line names, or else the file `config`, or else the
    /// default in the folder `data`.
    ///
    /// # Errors
    /// The file is not a settings file.
    pub fn resolve(
        &self,
        matches: &ArgMatches,
        config: Option<&Path>,
        data: &Path,
    ) -> anyhow::Result<PathBuf> {
        let journal = resolve(self, matches, config)?.settings.journal;
        Ok(journal.unwrap_or_else(|| data.join(JOURNAL)))
    }
}
