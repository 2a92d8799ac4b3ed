//! The secrets of cursors in the file; reading them is memory's.

use redb::ReadableTable;

use super::EmbeddedState;
use super::change::Change;
use super::error::{reading, writing};
use super::records::decode_secret;
use super::switch_names::{CURSOR_SECRET, CURSOR_SECRET_BEFORE};
use super::tables::Tables;
use crate::{CursorSecret, CursorSecrets, Cursors, StateError};

impl Cursors for EmbeddedState {
    fn begin_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.blocking(move |tables| match stored_secrets(tables)?.current {
            Some(_) => Ok(()),
            None => store_secrets(tables, CursorSecrets::default().rotate(fresh)),
        })
    }

    fn rotate_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.blocking(move |tables| {
            let rotated = stored_secrets(tables)?.rotate(fresh);
            store_secrets(tables, rotated)
        })
    }

    fn cursor_secrets(&self) -> CursorSecrets {
        self.shared.memory.cursor_secrets()
    }
}

fn stored_secrets(tables: &mut Tables<'_>) -> Result<CursorSecrets, StateError> {
    let switches = tables.switches.read()?;
    let secret = |name| match switches.get(name).map_err(reading)? {
        Some(value) => decode_secret(value.value()).map(Some),
        None => Ok(None),
    };
    Ok(CursorSecrets {
        current: secret(CURSOR_SECRET)?,
        before: secret(CURSOR_SECRET_BEFORE)?,
    })
}

fn store_secrets(tables: &mut Tables<'_>, secrets: CursorSecrets) -> Result<(), StateError> {
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
