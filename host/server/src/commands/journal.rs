//! `domesday journal`: what operators do about receipts.

use super::place::Place;
use crate::admin::wire::{Answer, Order};
use crate::private_file;
use anyhow::{Context, bail};
use clap::{ArgMatches, Subcommand};
use domesday_journal::{TenantKey, heads, host};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Journal {
    /// Write the keys that open tenants' receipts into a file (mode 0600), for `domesday replay --journal`.
    Keys {
        /// Of this tenant alone.
        #[arg(long)]
        tenant: Option<String>,
        /// The file; it is written anew.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        place: Place,
    },
    /// Forget the key of a tenant's receipts: they stay in every journal's chain, and nobody can read them again.
    Erase {
        /// The tenant.
        tenant: String,
        /// Do it. There is no way back.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Print the last signed head of a journal. Kept elsewhere, it proves later that nothing was cut off or written anew.
    Head {
        /// The journal's folder; without it, journal in the data folder.
        #[arg(long, env = "DOMESDAY_JOURNAL", value_name = "DIR")]
        journal: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
}

impl Journal {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match self {
            Journal::Keys { tenant, out, place } => keys(tenant, out, &place.settled(matches)?),
            Journal::Erase { tenant, yes, place } => erase(tenant, yes, &place.settled(matches)?),
            Journal::Head { journal, place } => {
                let place = place.settled(matches)?;
                head(journal.unwrap_or_else(|| place.data.join("journal")))
            }
        }
    }
}

fn keys(tenant: Option<String>, out: PathBuf, place: &Place) -> anyhow::Result<ExitCode> {
    let answer = place.order(Order::ReceiptKeys {
        tenant: tenant.clone(),
    })?;
    let Answer::ReceiptKeys { keys } = answer else {
        bail!("the server gave another answer; it is of another version");
    };
    if keys.is_empty() {
        match tenant {
            Some(tenant) => bail!(
                "the tenant {tenant} has no key of receipts: it has had none, or it is erased"
            ),
            None => bail!("no tenant has a key of receipts"),
        }
    }
    let text = serde_json::to_string_pretty(&keys)? + "\n";
    private_file::write(&out, text.as_bytes())
        .with_context(|| format!("the file {}", out.display()))?;
    for key in &keys {
        let mut secret = [0; 32];
        hex::decode_to_slice(&key.secret, &mut secret).context("a key of the state")?;
        println!("{}\t{}", key.tenant, TenantKey::new(secret).id());
    }
    println!(
        "Written to {}; whoever has it reads these tenants' receipts.",
        out.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn erase(tenant: String, yes: bool, place: &Place) -> anyhow::Result<ExitCode> {
    if !yes {
        bail!(
            "this makes all receipts of {tenant} unreadable for good, on every host; say --yes to do it"
        );
    }
    let order = Order::EraseReceiptKey {
        tenant: tenant.clone(),
    };
    place.order(order)?;
    println!("the key of {tenant}'s receipts is erased");
    Ok(ExitCode::SUCCESS)
}

fn head(journal: PathBuf) -> anyhow::Result<ExitCode> {
    let named = || format!("the journal {}", journal.display());
    let key = host(&journal).with_context(named)?;
    let Some(head) = heads(&journal).with_context(named)?.pop() else {
        bail!(
            "{} has no signed head yet; its first comes with its first receipt",
            named()
        );
    };
    if head.signer() != Some(key) {
        bail!("the last head of {} is not signed by its host", named());
    }
    println!("{}", serde_json::to_string(&head)?);
    Ok(ExitCode::SUCCESS)
}
