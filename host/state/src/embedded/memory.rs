//! What is answered from memory, and never waits.

use std::sync::{PoisonError, RwLock};

use redb::{Database, ReadableDatabase, ReadableTable};

use super::file::reading;
use super::records::{decode_key, decode_tenant};
use super::tables::{KEYS, SWITCHES, TENANTS};
use crate::directory::Directory;
use crate::key::KeyDigest;
use crate::{Access, KeyId, KeyRecord, StateError, Tenant, UnixMillis};

/// The switch that pauses jobs; it is there while they are paused.
pub(super) const PAUSED: &str = "jobs_paused";
/// The switch that holds the promoted release.
pub(super) const PROMOTED: &str = "promoted";

/// What memory learns of a durable change.
#[derive(Debug)]
pub(super) enum Change {
    /// A tenant was made or changed.
    Tenant(Tenant),
    /// A key was made or changed.
    Key(KeyRecord, KeyDigest),
    /// Jobs were paused or resumed.
    Paused(bool),
    /// A release was promoted.
    Promoted(String),
}

#[derive(Debug, Default)]
struct Known {
    directory: Directory,
    paused: bool,
    promoted: Option<String>,
    trouble: Option<String>,
}

impl Known {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Tenant(tenant) => self.directory.put_tenant(tenant),
            Change::Key(key, digest) => self.directory.put_key(&key, digest),
            Change::Paused(paused) => self.paused = paused,
            Change::Promoted(release) => self.promoted = Some(release),
        }
    }
}

/// Tenants, keys and switches as they are durable, and what is wrong with the store.
#[derive(Debug, Default)]
pub(super) struct Memory(RwLock<Known>);

impl Memory {
    fn with<T>(&self, ask: impl FnOnce(&Known) -> T) -> T {
        // No change can be left half done, so what was held in a panic is whole.
        ask(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Everything anew from the file; what was wrong is over.
    pub(super) fn load(&self, database: &Database) -> Result<(), StateError> {
        let mut loaded = Known::default();
        let transaction = database.begin_read().map_err(reading)?;
        let tenants = transaction.open_table(TENANTS).map_err(reading)?;
        for row in tenants.iter().map_err(reading)? {
            let (id, value) = row.map_err(reading)?;
            let tenant = decode_tenant(id.value(), value.value())?;
            loaded.apply(Change::Tenant(tenant));
        }
        let keys = transaction.open_table(KEYS).map_err(reading)?;
        for row in keys.iter().map_err(reading)? {
            let (id, value) = row.map_err(reading)?;
            let (key, digest) = decode_key(KeyId::from_bytes(id.value()), value.value())?;
            loaded.apply(Change::Key(key, digest));
        }
        let switches = transaction.open_table(SWITCHES).map_err(reading)?;
        let switch = |name| -> Result<Option<String>, StateError> {
            let value = switches.get(name).map_err(reading)?;
            Ok(value.map(|value| value.value().to_owned()))
        };
        loaded.paused = switch(PAUSED)?.is_some();
        loaded.promoted = switch(PROMOTED)?;
        self.change(|known| *known = loaded);
        Ok(())
    }

    /// Applies changes that were made durable, in their order.
    pub(super) fn apply(&self, changes: Vec<Change>) {
        if !changes.is_empty() {
            self.change(|known| changes.into_iter().for_each(|change| known.apply(change)));
        }
    }

    /// Says what is wrong with the store.
    pub(super) fn fail(&self, trouble: String) {
        self.change(|known| known.trouble = Some(trouble));
    }

    pub(super) fn authenticate(&self, presented: &str, now: UnixMillis) -> Access {
        self.with(|known| known.directory.authenticate(presented, now))
    }

    pub(super) fn paused(&self) -> bool {
        self.with(|known| known.paused)
    }

    pub(super) fn promoted(&self) -> Option<String> {
        self.with(|known| known.promoted.clone())
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.with(|known| known.trouble.clone())
    }
}
