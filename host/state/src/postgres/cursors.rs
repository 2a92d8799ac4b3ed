//! The secrets of cursors, which all hosts of a database share.

use std::sync::Arc;

use super::PostgresState;
use super::error::writing;
use crate::{CursorSecret, CursorSecrets, Cursors, StateError};

impl Cursors for PostgresState {
    fn begin_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.keep(
            "UPDATE domesday.service SET cursor_secret = $1 WHERE cursor_secret IS NULL",
            fresh,
        )
    }

    fn rotate_cursors(&self, fresh: CursorSecret) -> Result<(), StateError> {
        self.keep(
            "UPDATE domesday.service SET cursor_secret_before = cursor_secret, cursor_secret = $1",
            fresh,
        )
    }

    fn cursor_secrets(&self) -> CursorSecrets {
        self.watched.cursor_secrets()
    }
}

impl PostgresState {
    fn keep(&self, statement: &'static str, fresh: CursorSecret) -> Result<(), StateError> {
        let watched = Arc::clone(&self.watched);
        self.driver.wait(async move {
            let change = async |connection: &mut sqlx::PgConnection, _| {
                sqlx::query(statement)
                    .bind(fresh.as_slice())
                    .execute(connection)
                    .await
                    .map(drop)
                    .map_err(writing)
            };
            watched.alter(change).await
        })
    }
}
