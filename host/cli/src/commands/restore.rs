//! `domesday restore`: a backup in a new data folder.

use anyhow::Context;
use clap::Args;
use domesday_backup::{RestoredBackup, restore};
use domesday_package::PublicKey;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Restore {
    /// Folder of the backup.
    #[arg(value_name = "DIR")]
    backup: PathBuf,
    /// New data folder; an existing one is never overwritten.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Public key file that must have signed the backup (default: the backup's own).
    #[arg(long, value_name = "FILE")]
    signer: Option<PathBuf>,
}

impl Restore {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let signer = self.signer.as_deref().map(PublicKey::read).transpose()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let restored = runtime
            .block_on(restore(
                &self.backup,
                &self.data,
                signer.map(|(key, _)| key),
            ))
            .with_context(|| format!("{} is not restored", self.backup.display()))?;
        print(&restored, &self.data.display().to_string());
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints what a restored host knows, and what it cannot know.
fn print(restored: &RestoredBackup, data: &str) {
    let manifest = &restored.manifest;
    let made_at = manifest.made_at;
    println!(
        "{data} is restored from the backup of {made_at} by domesday {}, signed by {}",
        manifest.version, restored.signer
    );
    match restored.counts {
        Some(counts) => println!(
            "Its state has {} tenants, {} jobs waiting, and {} units used in {}",
            counts.tenants, counts.jobs, counts.units, counts.month
        ),
        None => println!(
            "Its state is in PostgreSQL (schema {}): restore the dump that belongs to this backup",
            manifest.schema
        ),
    }
    println!("What happened after {made_at} is not known here:");
    println!("- units used since: tenants can use them again, and no invoice has them");
    println!(
        "- jobs accepted since, and their idempotency keys: a repeated submission runs and is charged"
    );
    println!(
        "- keys revoked and keys of receipts erased since: they are back. Revoke and erase them again"
    );
    println!("- promotions, plans and tenants changed since: change them again");
    let mut journals = restored.journals.iter();
    if let Some(journal) = journals.next() {
        println!(
            "Receipts up to then are in {}. The host begins another journal",
            journal.display()
        );
    }
    for journal in journals {
        println!("Those of an earlier restore are in {}", journal.display());
    }
}
