//! Restores a backup into a new data folder.

use crate::STATE;
use crate::error::BackupError;
use crate::files::{copy_file, file_entry, sync_folder};
use crate::ledger_key;
use crate::manifest::{self, BackupManifest, StateLocation};
use domesday_journal::{name_after_restore, restored_journals};
use domesday_package::{PublicKey, StagedContent, make_directory};
use domesday_state::{Accounts, EmbeddedState, Jobs, Month, Usage};
use std::path::{Path, PathBuf};

/// A restored backup, and what its state knows.
#[derive(Debug)]
pub struct RestoredBackup {
    /// The backup's manifest.
    pub manifest: BackupManifest,
    /// The key that signed it.
    pub signer: PublicKey,
    /// The restored journals, the backup's own first. Others come from earlier restores.
    pub journals: Vec<PathBuf>,
    /// The counts of the state, where it is in a file.
    pub counts: Option<RestoredCounts>,
}

/// The counts of a restored state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredCounts {
    /// Tenants.
    pub tenants: usize,
    /// The month of the backup.
    pub month: Month,
    /// Units that all tenants used in that month.
    pub units: u64,
    /// Jobs that are queued or running.
    pub jobs: u64,
}

/// Verifies a backup and restores it into a data folder that does not exist or is empty. No program
/// uses the folder before its content is whole. After a kill, a further call goes on. `signer` is
/// the expected key, or else that of the backup itself. An older state is brought up to this
/// version.
///
/// # Errors
/// [`BackupError`] if the folder is taken, the backup is not whole and unaltered, or the state does
/// not open.
pub async fn restore(
    backup: &Path,
    data: &Path,
    signer: Option<PublicKey>,
) -> Result<RestoredBackup, BackupError> {
    let signer = match signer {
        Some(signer) => signer,
        None => PublicKey::read(&backup.join(ledger_key::PUBLIC_FILE))?.0,
    };
    let manifest = BackupManifest::read(backup, &signer)?;
    let source = file_entry(&backup.join(manifest::FILE))?.sha256;
    let staged = StagedContent::begin(data, &source)?;
    let mut counts = None;
    if !staged.is_whole() {
        let content = staged.path();
        copy_verified(backup, &manifest, &content)?;
        // It shows that the state opens, before anything is in its place.
        counts = count(&content, &manifest).await?;
    }
    staged.finish()?;
    if counts.is_none() {
        counts = count(data, &manifest).await?;
    }
    let journals = restored_journals(data)?;
    Ok(RestoredBackup {
        signer,
        journals: journals.iter().map(|name| data.join(name)).collect(),
        counts,
        manifest,
    })
}

/// Copies the files of a manifest, and compares each copy with it.
fn copy_verified(backup: &Path, manifest: &BackupManifest, to: &Path) -> Result<(), BackupError> {
    for (name, expected) in &manifest.files {
        let source = backup.join(name.as_str());
        let in_journal = (name.as_str().split_once('/'))
            .and_then(|(folder, file)| Some((name_after_restore(folder)?, file)));
        let destination = match in_journal {
            Some((folder, file)) => {
                let journal = to.join(folder);
                make_directory(&journal).map_err(BackupError::io(&journal))?;
                journal.join(file)
            }
            None => to.join(name.as_str()),
        };
        let found = copy_file(&source, &destination)?;
        if found != *expected {
            return Err(BackupError::Altered {
                path: source,
                found: found.sha256,
                bytes: found.bytes,
                expected: expected.sha256,
                expected_bytes: expected.bytes,
            });
        }
    }
    for journal in restored_journals(to)? {
        sync_folder(&to.join(journal))?;
    }
    Ok(())
}

/// Opens the restored state once, which brings it up to this version, and counts its rows. Counts
/// nothing where the state is in PostgreSQL.
async fn count(
    folder: &Path,
    manifest: &BackupManifest,
) -> Result<Option<RestoredCounts>, BackupError> {
    if manifest.state == StateLocation::Postgresql {
        return Ok(None);
    }
    let state = EmbeddedState::open(&folder.join(STATE))?;
    let month = manifest.month();
    let mut counts = RestoredCounts {
        tenants: 0,
        month,
        units: 0,
        jobs: state.waiting().await?,
    };
    for tenant in state.tenants()? {
        counts.tenants += 1;
        counts.units += state.used_units(tenant.id, month).await?;
    }
    Ok(Some(counts))
}
