//! Values that the console can show again, in the data folder.
//!
//! A file holds one value, sealed under its tenant's key of receipts. So erasing that key leaves
//! nothing to read, on any host. A file's name is the id of its valuation, which begins with its
//! time. Nothing of a home stands in a name.

use crate::clock::{Clock, random};
use domesday_journal::TenantKey;
use domesday_package::{make_directory, replace_private};
use domesday_state::{State, StateError, TenantId};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use uuid::Uuid;

/// Values of a tenant. The oldest goes first.
const MOST: usize = 200;
/// The time for which a value is kept, milliseconds: 90 days.
const KEPT_MILLIS: i64 = 90 * 24 * 60 * 60 * 1000;
/// The time after which a file that is no value is not being written any more, milliseconds.
const ABANDONED_MILLIS: i64 = 60 * 60 * 1000;
/// The time between two rounds that remove old values of all tenants.
const PERIOD: Duration = Duration::from_secs(24 * 60 * 60);
/// The largest file that is read, bytes.
const MAX_BYTES: u64 = 4 << 20;

/// A value that was made in the console: the request, and the response of the API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedValue {
    /// The body of the request.
    pub request: serde_json::Value,
    /// The body of the response.
    pub response: serde_json::Value,
    /// The estimate without the home's own sales, in pounds. There is none where they do not count,
    /// where the workers were busy, or where the release gave none. Neither is there one where a
    /// version of the host before this member made the value.
    #[serde(default)]
    pub market_gbp: Option<f64>,
}

/// The reason why a value can be neither kept nor read.
#[derive(Debug, thiserror::Error)]
pub enum SavedValueError {
    /// The data folder's disk.
    #[error("cannot read or write the console's values: {0}")]
    Io(#[from] io::Error),
    /// The tenant's key cannot be read.
    #[error(transparent)]
    Key(#[from] StateError),
    /// The operating system has no randomness for a key.
    #[error("cannot make the key of the tenant: {0}")]
    Random(#[from] getrandom::Error),
    /// The value cannot be sealed, or is no JSON.
    #[error("a value of the console cannot be sealed")]
    Seal,
}

/// The values of one host's console.
pub struct ConsoleValues {
    folder: PathBuf,
    state: Arc<dyn State>,
    clock: Arc<dyn Clock>,
}

impl ConsoleValues {
    /// Opens the values of a data folder, and removes those that are too old.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub fn open(
        data: &Path,
        state: Arc<dyn State>,
        clock: Arc<dyn Clock>,
    ) -> io::Result<ConsoleValues> {
        let values = ConsoleValues {
            folder: data.join("console-values"),
            state,
            clock,
        };
        make_directory(&values.folder)?;
        values.prune_all()?;
        Ok(values)
    }

    /// Removes values that are too old once a day, also those of tenants that make no others.
    pub async fn watch(self: Arc<Self>) {
        self.prune_every(PERIOD).await;
    }

    async fn prune_every(self: Arc<Self>, period: Duration) {
        loop {
            sleep(period).await;
            let values = self.clone();
            if let Ok(Err(error)) = spawn_blocking(move || values.prune_all()).await {
                tracing::error!(%error, "old values of the console were not removed");
            }
        }
    }

    /// Keeps a value under its valuation id. Blocks.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(
        &self,
        tenant: &TenantId,
        id: Uuid,
        value: &SavedValue,
    ) -> Result<(), SavedValueError> {
        let text = serde_json::to_vec(value).map_err(|_| SavedValueError::Seal)?;
        let secret = self.state.receipt_key(tenant, random()?)?;
        let sealed = TenantKey::new(secret).seal(&header(tenant, id), &text);
        let sealed = sealed.map_err(|_| SavedValueError::Seal)?;
        let folder = self.folder.join(tenant.to_string());
        make_directory(&folder)?;
        replace_private(&folder.join(id.to_string()), sealed.as_bytes())?;
        Ok(self.prune(&folder)?)
    }

    /// Returns a value that a session of the tenant made, unless it is too old or cannot be opened:
    /// its tenant's key was erased. Blocks.
    ///
    /// # Errors
    /// The disk or the state cannot be read.
    pub fn value(
        &self,
        tenant: &TenantId,
        id: Uuid,
    ) -> Result<Option<SavedValue>, SavedValueError> {
        let path = self.folder.join(tenant.to_string()).join(id.to_string());
        if self.is_old(id) || !path.exists() || fs::metadata(&path)?.len() > MAX_BYTES {
            return Ok(None);
        }
        let sealed = fs::read_to_string(&path)?;
        // Reading makes no key where one was erased.
        let mut keys = self.state.receipt_keys()?.into_iter();
        let key = keys.find(|(known, _)| known == tenant);
        let opened = key.and_then(|(_, secret)| {
            let key = TenantKey::new(secret);
            key.open(&header(tenant, id), &sealed).ok()
        });
        Ok(opened.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// Removes the values of a tenant. Blocks.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn forget(&self, tenant: &TenantId) -> io::Result<()> {
        match fs::remove_dir_all(self.folder.join(tenant.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Reports whether a valuation is too old to be shown.
    fn is_old(&self, id: Uuid) -> bool {
        let made = id.get_timestamp().map(|time| time.to_unix());
        let made = made.and_then(|(seconds, _)| i64::try_from(seconds).ok());
        made.is_none_or(|seconds| seconds * 1000 + KEPT_MILLIS <= self.clock.now().0)
    }

    /// Prunes the folders of all tenants.
    fn prune_all(&self) -> io::Result<()> {
        for tenant in fs::read_dir(&self.folder)? {
            match self.prune(&tenant?.path()) {
                // Its values were removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                pruned => pruned?,
            }
        }
        Ok(())
    }

    /// Removes the values of a folder that are too old or too many, and files that a save left.
    fn prune(&self, folder: &Path) -> io::Result<()> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            match name.and_then(|name| name.parse::<Uuid>().ok()) {
                Some(id) if !self.is_old(id) => ids.push((id, path)),
                // Another save may be writing, and cleans up after itself unless the host ends.
                None if !self.is_abandoned(&path)? => {}
                _ => remove(&path)?,
            }
        }
        // Ids sort by their time.
        ids.sort();
        let surplus = ids.len().saturating_sub(MOST);
        ids.into_iter()
            .take(surplus)
            .try_for_each(|(_, path)| remove(&path))
    }

    /// Reports whether a path is a file that nothing has written to for an hour.
    fn is_abandoned(&self, path: &Path) -> io::Result<bool> {
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            found => found?,
        };
        let written = found.modified()?.duration_since(UNIX_EPOCH);
        let written = i64::try_from(written.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
        let is_late = written.saturating_add(ABANDONED_MILLIS) <= self.clock.now().0;
        Ok(found.is_file() && is_late)
    }
}

/// Returns the text that a sealed value is bound to.
fn header(tenant: &TenantId, id: Uuid) -> Vec<u8> {
    format!("domesday console value 1\0{tenant}\0{id}").into_bytes()
}

/// Removes a file, which another save may have removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "console_values_tests.rs"]
mod tests;
