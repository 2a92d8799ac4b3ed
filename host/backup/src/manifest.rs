//! The manifest of a backup.

use crate::error::BackupError;
use chrono::DateTime;
use domesday_journal::RESTORED_JOURNAL;
use domesday_package::{FileEntry, FilePath, PublicKey, Timestamp, verify_file};
use domesday_state::{Month, UnixMillis};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The format of a backup without journals of earlier restores.
const FORMAT: &str = "domesday-backup 1";
/// The format of a backup with them. Earlier versions refuse it, since they cannot restore it.
const FORMAT_WITH_RESTORED: &str = "domesday-backup 2";
/// The manifest's file.
pub(super) const FILE: &str = "manifest.json";

/// The store that has the state of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateLocation {
    /// The backup has a copy of the state's file.
    File,
    /// The state is in PostgreSQL, and a dump of the database belongs to the backup.
    Postgresql,
}

/// The content of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupManifest {
    /// The format.
    pub format: String,
    /// The time before which every change is in the backup.
    pub made_at: Timestamp,
    /// The version of the program that made it.
    pub version: String,
    /// The store of the state.
    pub state: StateLocation,
    /// The schema of the state.
    pub schema: u32,
    /// The files by their paths in the backup.
    pub files: BTreeMap<FilePath, FileEntry>,
}

impl BackupManifest {
    /// Makes a manifest of files.
    pub(super) fn new(
        made_at: Timestamp,
        state: StateLocation,
        schema: u32,
        files: BTreeMap<FilePath, FileEntry>,
    ) -> BackupManifest {
        let of_restored = |path: &FilePath| path.as_str().starts_with(RESTORED_JOURNAL);
        let format = match files.keys().any(of_restored) {
            true => FORMAT_WITH_RESTORED,
            false => FORMAT,
        };
        BackupManifest {
            format: format.to_owned(),
            made_at,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state,
            schema,
            files,
        }
    }

    /// Returns the month in which the backup was made.
    pub fn month(&self) -> Month {
        let made_at = DateTime::parse_from_rfc3339(&self.made_at.to_string()).unwrap_or_default();
        Month::of(UnixMillis(made_at.timestamp_millis()))
    }

    /// Reads the manifest of a backup that this key signed.
    ///
    /// # Errors
    /// [`BackupError::NoManifest`], [`BackupError::Signature`], [`BackupError::Manifest`] or
    /// [`BackupError::Format`].
    pub(super) fn read(backup: &Path, key: &PublicKey) -> Result<BackupManifest, BackupError> {
        let path = backup.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(BackupError::NoManifest {
                    path: backup.to_owned(),
                });
            }
            Err(error) => return Err(BackupError::io(&path)(error)),
        };
        verify_file(&path, key)?;
        let manifest: BackupManifest = serde_json::from_slice(&text)
            .map_err(|reason| BackupError::Manifest { path, reason })?;
        match [FORMAT, FORMAT_WITH_RESTORED].contains(&manifest.format.as_str()) {
            true => Ok(manifest),
            false => Err(BackupError::Format {
                found: manifest.format,
                known: FORMAT_WITH_RESTORED,
            }),
        }
    }
}
