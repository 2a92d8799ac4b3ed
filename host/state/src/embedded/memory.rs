//! What is answered from memory, and never waits.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase, ReadableTable};

use super::cursors;
use super::file::reading;
use super::records::{decode_key, decode_tenant};
use super::tables::{KEYS, SWITCHES, TENANTS};
use crate::directory::Directory;
use crate::key::KeyDigest;
use crate::switches::PromotedReleases;
use crate::{
    Access, CursorSecret, CursorSecrets, KeyId, KeyRecord, ReleaseKind, StateError, Tenant,
    UnixMillis,
};

/// How long a commit may take before the disk counts as stalled.
const STALLED: Duration = Duration::from_secs(3);

/// The switch that pauses jobs; it is there while they are paused.
pub(super) const PAUSED: &str = "jobs_paused";
/// The secret of cursors.
pub(super) const CURSOR_SECRET: &str = "cursor_secret";
/// The one before it.
pub(super) const CURSOR_SECRET_BEFORE: &str = "cursor_secret_before";

/// The switch that holds the promoted release; the first has its name from when it was the only
/// one.
pub(super) fn promoted(what: ReleaseKind) -> &'static str {
    match what {
        ReleaseKind::Valuation => "promoted",
        ReleaseKind::Markets => "promoted_markets",
        ReleaseKind::Rates => "promoted_rates",
    }
}

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
    Promoted(ReleaseKind, String),
    /// Cursors have other secrets.
    Cursors(CursorSecrets),
}

#[derive(Debug, Default)]
struct MemoryState {
    directory: Directory,
    paused: bool,
    promoted: PromotedReleases,
    cursors: CursorSecrets,
    trouble: Option<String>,
}

impl MemoryState {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Tenant(tenant) => self.directory.put_tenant(tenant),
            Change::Key(key, digest) => self.directory.put_key(&key, digest),
            Change::Paused(paused) => self.paused = paused,
            Change::Promoted(what, release) => self.promoted.set(what, Some(release)),
            Change::Cursors(secrets) => self.cursors = secrets,
        }
    }
}

/// Tenants, keys and switches as they are durable, and what is wrong with the store.
#[derive(Debug, Default)]
pub(super) struct Memory {
    known: RwLock<MemoryState>,
    /// When the commit that is under way began.
    commit: Mutex<Option<Instant>>,
}

impl Memory {
    fn with<T>(&self, ask: impl FnOnce(&MemoryState) -> T) -> T {
        // No change can be left half done, so what was held in a panic is whole.
        ask(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut MemoryState)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Everything anew from the file; what was wrong is over.
    pub(super) fn load(&self, database: &Database) -> Result<(), StateError> {
        let mut loaded = MemoryState::default();
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
        for what in ReleaseKind::ALL {
            loaded.promoted.set(what, switch(promoted(what))?);
        }
        let secret = |name| -> Result<Option<CursorSecret>, StateError> {
            switch(name)?.as_deref().map(cursors::read).transpose()
        };
        loaded.cursors = CursorSecrets {
            current: secret(CURSOR_SECRET)?,
            before: secret(CURSOR_SECRET_BEFORE)?,
        };
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

    /// What was wrong with the store is over, and what is known was true all the while.
    pub(super) fn recover(&self) {
        self.change(|known| known.trouble = None);
    }

    /// A commit begins.
    pub(super) fn begin_commit(&self) {
        *self.commit() = Some(Instant::now());
    }

    /// It ended, one way or the other.
    pub(super) fn end_commit(&self) {
        *self.commit() = None;
    }

    fn commit(&self) -> MutexGuard<'_, Option<Instant>> {
        self.commit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing can be said of a commit, where it began too long ago.
    fn stalled(&self) -> Option<String> {
        let took = self.commit().map(|begun| begun.elapsed())?;
        (took > STALLED).then(|| {
            let seconds = took.as_secs();
            format!("the disk has not answered for {seconds} s; free it, or restart the server")
        })
    }

    pub(super) fn authenticate(&self, presented: &str, now: UnixMillis) -> Access {
        self.with(|known| known.directory.authenticate(presented, now))
    }

    pub(super) fn paused(&self) -> bool {
        self.with(|known| known.paused)
    }

    pub(super) fn promoted(&self, what: ReleaseKind) -> Option<String> {
        self.with(|known| known.promoted.of(what))
    }

    pub(super) fn cursor_secrets(&self) -> CursorSecrets {
        self.with(|known| known.cursors)
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.with(|known| known.trouble.clone())
            .or_else(|| self.stalled())
    }
}
