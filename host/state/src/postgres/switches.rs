//! The operators' switches.

use std::sync::Arc;

use super::PostgresState;
use super::error::writing;
use crate::{ReleaseKind, StateError, Switches};

impl Switches for PostgresState {
    fn pause_jobs(&self, paused: bool) -> Result<(), StateError> {
        let watched = Arc::clone(&self.watched);
        self.driver.wait(async move {
            let change = async |connection: &mut sqlx::PgConnection, _| {
                sqlx::query("UPDATE domesday.service SET jobs_paused = $1")
                    .bind(paused)
                    .execute(connection)
                    .await
                    .map(drop)
                    .map_err(writing)
            };
            watched.alter(change).await
        })
    }

    fn jobs_paused(&self) -> bool {
        self.watched.jobs_paused()
    }

    fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.watched.promoted_release(what)
    }

    fn degradation(&self) -> Option<String> {
        self.watched.degradation()
    }
}
