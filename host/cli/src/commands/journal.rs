//! `domesday journal`: the operator's commands on receipts.

use super::journal_folder::JournalFolder;
use super::target::AdminTarget;
use anyhow::{Context, bail};
use clap::{ArgMatches, Subcommand};
use domesday_journal::{TenantKey, last_head};
use domesday_package::replace_private;
use domesday_server::admin::protocol::{Command, Response};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Journal {
    /// Export the keys of tenants' receipts to a file (mode 0600) for `domesday replay --journal`.
    Keys {
        /// Export this tenant's key only.
        #[arg(long)]
        tenant: Option<String>,
        /// Output file; an existing one is replaced.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Erase the key of a tenant's receipts. They stay in the chain, and nobody can read them
    /// again.
    Erase {
        /// Tenant id.
        tenant: String,
        /// Confirm the erasure, which cannot be undone.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Print the last signed head of a journal. A copy kept elsewhere proves that nothing was
    /// truncated or rewritten.
    Head {
        #[command(flatten)]
        journal: JournalFolder,
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Journal {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Journal::Keys {
                tenant,
                out,
                target,
            } => keys(tenant, out, &target.resolve(matches)?),
            Journal::Erase {
                tenant,
                yes,
                target,
            } => erase(tenant, yes, &target.resolve(matches)?),
            Journal::Head { journal, target } => {
                let data = target.resolve(matches)?.data;
                head(&journal.resolve(matches, target.config.as_deref(), &data)?)
            }
        }
    }
}

fn keys(tenant: Option<String>, out: PathBuf, target: &AdminTarget) -> anyhow::Result<ExitCode> {
    let answer = target.execute(Command::ReceiptKeys {
        tenant: tenant.clone(),
    })?;
    let Response::ReceiptKeys { keys } = answer else {
        bail!("unexpected reply from the server: client and server versions differ");
    };
    if keys.is_empty() {
        match tenant {
            Some(tenant) => bail!(
                "the tenant {tenant} has no key of receipts: none was created, or it is erased. \
                 Its first receipt creates one (--receipts)"
            ),
            None => bail!(
                "no tenant has a key of receipts. A tenant's first receipt creates one (--receipts)"
            ),
        }
    }
    let text = serde_json::to_string_pretty(&keys)? + "\n";
    replace_private(&out, text.as_bytes())
        .with_context(|| format!("cannot write {}", out.display()))?;
    for key in &keys {
        let mut secret = [0; 32];
        hex::decode_to_slice(&key.secret, &mut secret)
            .with_context(|| format!("cannot decode the receipt key of {}", key.tenant))?;
        println!("{}\t{}", key.tenant, TenantKey::new(secret).id());
    }
    println!(
        "Written to {}. Its holder can read these tenants' receipts.",
        out.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn erase(tenant: String, yes: bool, target: &AdminTarget) -> anyhow::Result<ExitCode> {
    if !yes {
        bail!(
            "this makes all receipts of {tenant} unreadable for good, on every host; confirm with --yes"
        );
    }
    let command = Command::EraseReceiptKey {
        tenant: tenant.clone(),
    };
    target.execute(command)?;
    println!("the key of {tenant}'s receipts is erased");
    Ok(ExitCode::SUCCESS)
}

fn head(journal: &Path) -> anyhow::Result<ExitCode> {
    println!("{}", serde_json::to_string(&last_head(journal)?)?);
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use crate::commands::{Arguments, execute};
    use clap::CommandFactory;
    use std::fs;

    #[test]
    fn the_head_is_of_the_journal_that_the_command_line_names_or_else_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let config = at("domesday.toml");
        let [data, named, flagged] = ["data", "named", "flagged"].map(at);
        let refused = |settings: String, flags: &[&str]| {
            fs::write(&config, settings).unwrap();
            let words = ["domesday", "journal", "head", "--config", &config];
            let words = [&words[..], flags].concat();
            let matches = Arguments::command().try_get_matches_from(words).unwrap();
            // The error names the folder, since none of them is a journal.
            execute(&matches).unwrap_err().to_string()
        };
        let file = format!("data = \"{data}\"\njournal = \"{named}\"\n");
        let error = refused(file.clone(), &[]);
        assert!(error.contains(&named), "{error}");
        let error = refused(file, &["--journal", &flagged]);
        assert!(error.contains(&flagged), "{error}");
        let error = refused(format!("data = \"{data}\"\n"), &[]);
        assert!(error.contains(&format!("{data}/journal")), "{error}");
    }
}
