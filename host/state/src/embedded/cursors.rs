//! The secrets of cursors in the file; reading them is memory's.

use redb::ReadableTable;

use super::EmbeddedState;
use super::file::{reading, writing};
use super::memory::{CURSOR_SECRET, CURSOR_SECRET_BEFORE, Change};
use super::tables::Tables;
use crate::{CursorSecret, CursorSecrets, Cursors, StateError};

impl Cursors for EmbeddedState {
    fn begin_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.blocking(move |tables| match kept(tables)?.current {
            Some(_) => Ok(()),
            None => keep(tables, CursorSecrets::default().rotated(fresh)),
        })
    }

    fn rotate_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.blocking(move |tables| {
            let rotated = kept(tables)?.rotated(fresh);
            keep(tables, rotated)
        })
    }

    fn cursor_secrets(&self) -> CursorSecrets {
        self.shared.memory.cursor_secrets()
    }
}

fn kept(tables: &mut Tables<'_>) -> Result<CursorSecrets, StateError> {
    let switches = tables.switches.read()?;
    let secret = |name| match switches.get(name).map_err(reading)? {
        Some(value) => read(value.value()).map(Some),
        None => Ok(None),
    };
    Ok(CursorSecrets {
        current: secret(CURSOR_SECRET)?,
        before: secret(CURSOR_SECRET_BEFORE)?,
    })
}

fn keep(tables: &mut Tables<'_>, secrets: CursorSecrets) -> Result<(), StateError> {
    let switches = tables.switches.edit()?;
    let named = [
        (CURSOR_SECRET, secrets.current),
        (CURSOR_SECRET_BEFORE, secrets.before),
    ];
    for (name, secret) in named {
        if let Some(secret) = secret {
            let text = hex::encode(secret);
            switches.insert(name, text.as_str()).map_err(writing)?;
        }
    }
    tables.changes.push(Change::Cursors(secrets));
    Ok(())
}

/// A secret as the file holds it, in hexadecimal.
pub(super) fn read(text: &str) -> Result<CursorSecret, StateError> {
    let mut secret = CursorSecret::default();
    hex::decode_to_slice(text, &mut secret).map_err(|error| StateError::Damaged {
        record: format!("switches/{CURSOR_SECRET}"),
        reason: error.into(),
    })?;
    Ok(secret)
}
