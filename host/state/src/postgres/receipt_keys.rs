//! The keys of receipts, which all hosts of a database share.

use std::sync::Arc;

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::PostgresState;
use super::error::{reading, writing};
use crate::{ReceiptKey, ReceiptKeys, StateError, TenantId};

const KEY: &str = "SELECT tenant, key FROM domesday.receipt_keys WHERE tenant = $1";
const KEYS: &str = "SELECT tenant AS id, tenant, key FROM domesday.receipt_keys \
     WHERE tenant > $1 ORDER BY tenant LIMIT $2";
/// Of tenants that are known; where another host was first, its key stays.
const BEGIN: &str = "INSERT INTO domesday.receipt_keys (tenant, key) \
     SELECT id, $2 FROM domesday.tenants WHERE id = $1 \
     ON CONFLICT (tenant) DO UPDATE SET key = domesday.receipt_keys.key RETURNING tenant, key";
const ERASE: &str = "DELETE FROM domesday.receipt_keys WHERE tenant = $1";

impl ReceiptKeys for PostgresState {
    fn receipt_key(&self, tenant: &TenantId, fresh: ReceiptKey) -> Result<ReceiptKey, StateError> {
        let (watched, id) = (Arc::clone(&self.watched), tenant.as_str().to_owned());
        let existing = self.driver.wait(async move {
            watched.check_reachable("read")?;
            let row = sqlx::query(KEY).bind(id).fetch_optional(&watched.pool);
            let row = watched.record_outcome(row.await.map_err(reading))?;
            row.as_ref().map(entry).transpose()
        })?;
        if let Some((_, key)) = existing {
            return Ok(key);
        }
        let (watched, tenant) = (Arc::clone(&self.watched), tenant.clone());
        self.driver.wait(async move {
            let change = async |connection: &mut sqlx::PgConnection, _| {
                let row = sqlx::query(BEGIN)
                    .bind(tenant.as_str())
                    .bind(fresh.as_slice())
                    .fetch_optional(connection)
                    .await
                    .map_err(writing)?;
                let row = row.ok_or(StateError::UnknownTenant { tenant })?;
                Ok(entry(&row)?.1)
            };
            watched.alter(change).await
        })
    }

    fn receipt_keys(&self) -> Result<Vec<(TenantId, ReceiptKey)>, StateError> {
        self.list::<String, _>(KEYS, entry)
    }

    fn erase_receipt_key(&self, tenant: &TenantId) -> Result<bool, StateError> {
        let (watched, tenant) = (Arc::clone(&self.watched), tenant.clone());
        self.driver.wait(async move {
            let change = async |connection: &mut sqlx::PgConnection, _| {
                let erased = sqlx::query(ERASE)
                    .bind(tenant.as_str())
                    .execute(connection)
                    .await
                    .map_err(writing)?;
                Ok(erased.rows_affected() > 0)
            };
            watched.alter(change).await
        })
    }
}

fn entry(row: &PgRow) -> Result<(TenantId, ReceiptKey), StateError> {
    let damaged = |reason| StateError::Damaged {
        record: "receipt_keys".to_owned(),
        reason,
    };
    let tenant: String = row.try_get("tenant").map_err(reading)?;
    let key: Vec<u8> = row.try_get("key").map_err(reading)?;
    let tenant = tenant.parse::<TenantId>();
    let key = ReceiptKey::try_from(key.as_slice());
    Ok((
        tenant.map_err(|error| damaged(error.into()))?,
        key.map_err(|error| damaged(error.into()))?,
    ))
}
