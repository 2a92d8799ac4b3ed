//! Tenants and keys.

use std::sync::Arc;

use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use super::error::{reading, writing};
use super::pages::{self, Cursor, Id, is_last, key_columns};
use super::{PostgresState, records};
use crate::{
    Access, Accounts, CreatedKey, KeyId, KeyRecord, KeySeed, NewKey, Plan, ScopeError, Scopes,
    StateError, Tenant, TenantId, UnixMillis,
};

/// Inserts a tenant where its id is free.
const CREATE_TENANT: &str = "INSERT INTO domesday.tenants (id, plan, enabled, created_at, version) \
     VALUES ($1, $2::jsonb, true, $3, $4) ON CONFLICT DO NOTHING \
     RETURNING id, plan::text AS plan, enabled, created_at";
/// Changes the given values; a null leaves the old one.
const CHANGE_TENANT: &str = "UPDATE domesday.tenants \
     SET plan = coalesce($2::jsonb, plan), enabled = coalesce($3, enabled), version = $4 \
     WHERE id = $1 RETURNING id, plan::text AS plan, enabled, created_at";
const CREATE_KEY: &str = "INSERT INTO domesday.keys (id, tenant, label, scopes, \
     requires_metric_selection, created_at, expires_at, digest, version) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING true";
const KEYS_OF_TENANT: &str = concat!(
    "SELECT ",
    key_columns!(),
    " FROM domesday.keys WHERE tenant = $1 ORDER BY id"
);
const REVOKE_KEY: &str = concat!(
    "UPDATE domesday.keys \
     SET revoked_at = coalesce(revoked_at, $2), version = $3 WHERE id = $1 RETURNING ",
    key_columns!()
);

async fn change_tenant(
    connection: &mut PgConnection,
    id: &TenantId,
    plan: Option<String>,
    enabled: Option<bool>,
    version: i64,
) -> Result<Tenant, StateError> {
    let row = sqlx::query(CHANGE_TENANT)
        .bind(id.as_str())
        .bind(plan)
        .bind(enabled)
        .bind(version)
        .fetch_optional(connection)
        .await
        .map_err(writing)?;
    let row = row.ok_or_else(|| StateError::UnknownTenant { tenant: id.clone() })?;
    records::tenant(&row)
}

async fn create_key(
    connection: &mut PgConnection,
    new: &NewKey,
    seed: KeySeed,
    now: UnixMillis,
    version: i64,
) -> Result<CreatedKey, StateError> {
    let known: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM domesday.tenants WHERE id = $1)")
            .bind(new.tenant.as_str())
            .fetch_one(&mut *connection)
            .await
            .map_err(reading)?;
    if !known {
        return Err(StateError::UnknownTenant {
            tenant: new.tenant.clone(),
        });
    }
    let (id, secret, digest) = seed.into_key();
    let created: Option<bool> = sqlx::query_scalar(CREATE_KEY)
        .bind(id.as_bytes().as_slice())
        .bind(new.tenant.as_str())
        .bind(&new.label)
        .bind(new.scopes.texts())
        .bind(new.requires_metric_selection)
        .bind(now.0)
        .bind(new.expires_at.map(|at| at.0))
        .bind(digest.0.as_slice())
        .bind(version)
        .fetch_optional(connection)
        .await
        .map_err(writing)?;
    created
        .map(|_| CreatedKey { id, secret })
        .ok_or(StateError::KeyIdTaken { key: id })
}

impl PostgresState {
    /// Lists all rows of a table by their column `id`. Blocks for each page.
    pub(super) fn list<I: Id, T: Send + 'static>(
        &self,
        statement: &'static str,
        decode: fn(&PgRow) -> Result<T, StateError>,
    ) -> Result<Vec<T>, StateError> {
        let mut cursor = Cursor::<I>::new(None);
        let mut all = Vec::new();
        loop {
            let watched = Arc::clone(&self.watched);
            let (page, next) = self.driver.wait(async move {
                watched.check_reachable("read")?;
                let read = async {
                    let mut connection = watched.pool.acquire().await.map_err(reading)?;
                    let statements = [statement, statement];
                    cursor.page(&mut connection, statements, decode).await
                };
                let page = watched.record_outcome(read.await)?;
                Ok((page, cursor))
            })?;
            cursor = next;
            let is_over = is_last(page.len());
            all.extend(page);
            if is_over {
                return Ok(all);
            }
        }
    }
}

impl Accounts for PostgresState {
    fn create_tenant(
        &self,
        id: &TenantId,
        plan: &Plan,
        now: UnixMillis,
    ) -> Result<Tenant, StateError> {
        let watched = Arc::clone(&self.watched);
        let (id, plan) = (id.clone(), records::plan_text(plan)?);
        self.driver.wait(async move {
            let change = async |connection: &mut PgConnection, version: i64| {
                let row = sqlx::query(CREATE_TENANT)
                    .bind(id.as_str())
                    .bind(plan)
                    .bind(now.0)
                    .bind(version)
                    .fetch_optional(connection)
                    .await
                    .map_err(writing)?;
                let row = row.ok_or(StateError::TenantExists { tenant: id })?;
                records::tenant(&row)
            };
            watched.alter(change).await
        })
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StateError> {
        self.list::<String, _>(pages::TENANTS, records::tenant)
    }

    fn set_plan(&self, tenant: &TenantId, plan: &Plan) -> Result<Tenant, StateError> {
        let watched = Arc::clone(&self.watched);
        let (id, plan) = (tenant.clone(), records::plan_text(plan)?);
        self.driver.wait(async move {
            let change = async |connection: &mut PgConnection, version: i64| {
                change_tenant(connection, &id, Some(plan), None, version).await
            };
            watched.alter(change).await
        })
    }

    fn set_enabled(&self, tenant: &TenantId, enabled: bool) -> Result<Tenant, StateError> {
        let watched = Arc::clone(&self.watched);
        let id = tenant.clone();
        self.driver.wait(async move {
            let change = async |connection: &mut PgConnection, version: i64| {
                change_tenant(connection, &id, None, Some(enabled), version).await
            };
            watched.alter(change).await
        })
    }

    fn create_key(
        &self,
        key: &NewKey,
        seed: KeySeed,
        now: UnixMillis,
    ) -> Result<CreatedKey, StateError> {
        if key.scopes == Scopes::default() {
            return Err(ScopeError::Empty.into());
        }
        let watched = Arc::clone(&self.watched);
        let key = key.clone();
        self.driver.wait(async move {
            let change = async |connection: &mut PgConnection, version: i64| {
                create_key(connection, &key, seed, now, version).await
            };
            watched.alter(change).await
        })
    }

    fn keys(&self, tenant: Option<&TenantId>) -> Result<Vec<KeyRecord>, StateError> {
        let Some(tenant) = tenant else {
            let keys = self.list::<Vec<u8>, _>(pages::KEYS, records::key)?;
            return Ok(keys.into_iter().map(|(key, _)| key).collect());
        };
        let watched = Arc::clone(&self.watched);
        let tenant = tenant.as_str().to_owned();
        self.driver.wait(async move {
            watched.check_reachable("read")?;
            let rows = sqlx::query(KEYS_OF_TENANT)
                .bind(tenant)
                .fetch_all(&watched.pool)
                .await;
            let rows = watched.record_outcome(rows.map_err(reading))?;
            rows.iter()
                .map(|row| records::key(row).map(|(key, _)| key))
                .collect()
        })
    }

    fn revoke_key(&self, id: KeyId, now: UnixMillis) -> Result<KeyRecord, StateError> {
        let watched = Arc::clone(&self.watched);
        self.driver.wait(async move {
            let change = async |connection: &mut PgConnection, version: i64| {
                let row = sqlx::query(REVOKE_KEY)
                    .bind(id.as_bytes().as_slice())
                    .bind(now.0)
                    .bind(version)
                    .fetch_optional(connection)
                    .await
                    .map_err(writing)?;
                let row = row.ok_or(StateError::UnknownKey { key: id })?;
                records::key(&row).map(|(key, _)| key)
            };
            watched.alter(change).await
        })
    }

    fn authenticate(&self, presented: &str, now: UnixMillis) -> Result<Access, StateError> {
        self.watched.authenticate(presented, now)
    }
}
