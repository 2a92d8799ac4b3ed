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

    fn promote(&self, what: ReleaseKind, release_id: &str) -> Result<(), StateError> {
        let watched = Arc::clone(&self.watched);
        let release_id = release_id.to_owned();
        let statement = match what {
            ReleaseKind::Valuation => "UPDATE domesday.service SET promoted = $1",
            ReleaseKind::Markets => "UPDATE domesday.service SET promoted_markets = $1",
            ReleaseKind::Rates => "UPDATE domesday.service SET promoted_rates = $1",
        };
        self.driver.wait(async move {
            let change = async |connection: &mut sqlx::PgConnection, _| {
                sqlx::query(statement)
                    .bind(release_id)
                    .execute(connection)
                    .await
                    .map(drop)
                    .map_err(writing)
            };
            watched.alter(change).await
        })
    }

    fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.watched.promoted_release(what)
    }

    fn degradation(&self) -> Option<String> {
        self.watched.degradation()
    }
}
