//! Restores a backup into a new data folder.

use super::STATE;
use super::error::BackupError;
use super::files::{check_free, copy_file, sync_folder};
use super::manifest::{BackupManifest, StateLocation};
use crate::ledger_key;
use domesday_journal::{name_after_restore, restored_journals};
use domesday_package::{PublicKey, make_directory, parent_directory};
use domesday_state::{Accounts, EmbeddedState, Jobs, Month, Usage};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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

/// Verifies a backup and restores it into a data folder that does not exist or is empty. The folder
/// appears whole or not at all. `signer` is the expected key, or else that of the backup itself.
/// An older state is brought up to this version.
///
/// # Errors
/// [`BackupError`] if the folder is taken, the backup is not whole and unaltered, or the state does
/// not open.
pub async fn restore(
    backup: &Path,
    data: &Path,
    signer: Option<PublicKey>,
) -> Result<RestoredBackup, BackupError> {
    check_free(data)?;
    let signer = match signer {
        Some(signer) => signer,
        None => PublicKey::read(&backup.join(ledger_key::PUBLIC_FILE))?.0,
    };
    let manifest = BackupManifest::read(backup, &signer)?;
    let staging = staging_folder(data)?;
    let journals = copy_verified(backup, &manifest, staging.path())?;
    let counts = match manifest.state {
        StateLocation::File => Some(count(staging.path(), &manifest).await?),
        StateLocation::Postgresql => None,
    };
    sync_folder(staging.path())?;
    fs::rename(staging.path(), data).map_err(BackupError::io(data))?;
    let _renamed = staging.keep();
    sync_folder(parent_directory(data))?;
    Ok(RestoredBackup {
        signer,
        journals: journals.iter().map(|name| data.join(name)).collect(),
        counts,
        manifest,
    })
}

/// Makes a folder beside the data folder. Dropping it removes what was not renamed. Its name is
/// chance, since the processes of two containers may share an id.
fn staging_folder(data: &Path) -> Result<TempDir, BackupError> {
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let beside = parent_directory(data);
    make_directory(beside)
        .and_then(|()| {
            tempfile::Builder::new()
                .prefix(&format!(".{name}.restore-"))
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(beside)
        })
        .map_err(BackupError::io(beside))
}

/// Copies the files of a manifest, and compares each copy with it. Returns the names of the
/// journals among them.
fn copy_verified(
    backup: &Path,
    manifest: &BackupManifest,
    to: &Path,
) -> Result<Vec<String>, BackupError> {
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
    let journals = restored_journals(to)?;
    for journal in &journals {
        sync_folder(&to.join(journal))?;
    }
    Ok(journals)
}

/// Opens the restored state once, which brings it up to this version, and counts its rows.
async fn count(folder: &Path, manifest: &BackupManifest) -> Result<RestoredCounts, BackupError> {
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
    Ok(counts)
}
