//! Claims whose callers gave up before they were answered.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::Mutex;

use super::work::release_lease;
use crate::StateError;
use crate::claim_delivery::UndeliveredLeases;
use crate::postgres::error::writing;

/// It waits for the commit of a claim that is under way. The fence alone would pass over a row that
/// this commit is about to change.
const LOCK: &str = "SELECT id FROM domesday.jobs WHERE id = $1 FOR UPDATE";

/// Claims of this host that did not reach their callers.
#[derive(Debug, Default)]
pub(in crate::postgres) struct UndeliveredClaims {
    pub(super) leases: Arc<UndeliveredLeases>,
    /// Held while leases are given back, so that no claim of this host comes before it.
    turn: Mutex<()>,
}

impl UndeliveredClaims {
    /// Gives all leases back. One that the database does not give back stays for the next call.
    pub(super) async fn give_back(&self, pool: &PgPool) -> Result<(), StateError> {
        let _turn = self.turn.lock().await;
        for lease in self.leases.list() {
            let mut transaction = pool.begin().await.map_err(writing)?;
            sqlx::query(LOCK)
                .bind(lease.job)
                .execute(&mut *transaction)
                .await
                .map_err(writing)?;
            release_lease(&mut *transaction, lease).await?;
            transaction.commit().await.map_err(writing)?;
            self.leases.remove(&[lease]);
        }
        Ok(())
    }
}
