//! The operators' switches.

use std::sync::Arc;

use sqlx::PgPool;

use super::PostgresState;
use super::error::writing;
use crate::{ConnectionPool, ReleaseKind, StateError, Switches};

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

    fn connection_pools(&self) -> Vec<ConnectionPool> {
        let pools = [
            ("requests", &self.watched.pool),
            ("leases", &self.job_pools.leases),
            ("bulk", &self.job_pools.bulk),
        ];
        pools.map(|(name, pool)| pool_use(name, pool)).into()
    }
}

fn pool_use(name: &'static str, pool: &PgPool) -> ConnectionPool {
    let open = pool.size();
    let idle = u32::try_from(pool.num_idle()).unwrap_or(u32::MAX);
    ConnectionPool {
        name,
        in_use: open.saturating_sub(idle),
        open,
        limit: pool.options().get_max_connections(),
    }
}
