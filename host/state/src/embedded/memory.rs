//! Answers from memory, which never wait.

use std::sync::{PoisonError, RwLock};

use redb::{Database, ReadableDatabase, ReadableTable};

use super::change::Change;
use super::error::reading;
use super::records::{decode_key, decode_secret, decode_tenant};
use super::switch_names::{CURSOR_SECRET, CURSOR_SECRET_BEFORE, PAUSED, promoted_switch};
use super::tables::{KEYS, SWITCHES, TENANTS};
use crate::directory::Directory;
use crate::switches::PromotedReleases;
use crate::write_timer::WriteTimer;
use crate::{Access, CursorSecret, CursorSecrets, KeyId, ReleaseKind, StateError, UnixMillis};

#[derive(Debug, Default)]
struct MemoryState {
    directory: Directory,
    paused: bool,
    promoted: PromotedReleases,
    cursors: CursorSecrets,
    degradation: Option<String>,
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

/// The durable tenants, keys and switches, and the reason of a degradation.
#[derive(Debug, Default)]
pub(super) struct Memory {
    state: RwLock<MemoryState>,
    /// The commit that is under way.
    pub(super) commit: WriteTimer,
}

impl Memory {
    fn with<T>(&self, read: impl FnOnce(&MemoryState) -> T) -> T {
        // No change can be left half done, so the state is whole even after a panic of its holder.
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut MemoryState)) {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Loads everything anew from the file, and ends a degradation.
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
            loaded.promoted.set(what, switch(promoted_switch(what))?);
        }
        let secret = |name| -> Result<Option<CursorSecret>, StateError> {
            switch(name)?.as_deref().map(decode_secret).transpose()
        };
        loaded.cursors = CursorSecrets {
            current: secret(CURSOR_SECRET)?,
            before: secret(CURSOR_SECRET_BEFORE)?,
        };
        self.change(|state| *state = loaded);
        Ok(())
    }

    /// Applies changes that were made durable, in their order.
    pub(super) fn apply(&self, changes: Vec<Change>) {
        if !changes.is_empty() {
            self.change(|state| changes.into_iter().for_each(|change| state.apply(change)));
        }
    }

    /// Records why the store is degraded.
    pub(super) fn fail(&self, reason: String) {
        self.change(|state| state.degradation = Some(reason));
    }

    /// Ends a degradation. The facts in memory stayed true meanwhile.
    pub(super) fn recover(&self) {
        self.change(|state| state.degradation = None);
    }

    /// Returns the degradation of a stalled disk, where a commit began too long ago.
    fn stall_reason(&self) -> Option<String> {
        let seconds = self.commit.stalled_seconds()?;
        Some(format!(
            "the disk has not answered for {seconds} s; free it, or restart the server"
        ))
    }

    pub(super) fn authenticate(&self, presented: &str, now: UnixMillis) -> Access {
        self.with(|state| state.directory.authenticate(presented, now))
    }

    pub(super) fn jobs_paused(&self) -> bool {
        self.with(|state| state.paused)
    }

    pub(super) fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.with(|state| state.promoted.of(what))
    }

    pub(super) fn cursor_secrets(&self) -> CursorSecrets {
        self.with(|state| state.cursors)
    }

    pub(super) fn degradation(&self) -> Option<String> {
        self.with(|state| state.degradation.clone())
            .or_else(|| self.stall_reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_stalls_is_a_degradation() {
        let memory = Memory::default();
        let commit = memory.commit.begin();
        assert_eq!(memory.degradation(), None);
        memory.commit.date_back(4);
        let reason = memory.degradation().unwrap();
        assert!(reason.contains("has not answered"), "{reason}");
        drop(commit);
        assert_eq!(memory.degradation(), None);
    }
}
