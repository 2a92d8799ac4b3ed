//! Tenants and keys in the file.

use redb::{ReadTransaction, ReadableTable};

use super::change::Change;
use super::error::{reading, writing};
use super::records::{decode_key, decode_tenant, encode_key, encode_tenant};
use super::tables::{KEYS, TENANTS, Tables};
use super::{EmbeddedState, read_now};
use crate::{
    Access, Accounts, CreatedKey, KeyId, KeyRecord, KeySeed, NewKey, Plan, ScopeError, Scopes,
    StateError, Tenant, TenantId, UnixMillis,
};

fn put_tenant(tables: &mut Tables<'_>, tenant: &Tenant) -> Result<(), StateError> {
    let bytes = encode_tenant(tenant)?;
    let table = tables.tenants.edit()?;
    table
        .insert(tenant.id.as_str(), bytes.as_slice())
        .map_err(writing)?;
    tables.changes.push(Change::Tenant(tenant.clone()));
    Ok(())
}

fn tenant(tables: &mut Tables<'_>, id: &TenantId) -> Result<Option<Tenant>, StateError> {
    let table = tables.tenants.read()?;
    let value = table.get(id.as_str()).map_err(reading)?;
    value
        .map(|value| decode_tenant(id.as_str(), value.value()))
        .transpose()
}

fn all_keys(transaction: &ReadTransaction) -> Result<Vec<KeyRecord>, StateError> {
    let table = transaction.open_table(KEYS).map_err(reading)?;
    let rows = table.iter().map_err(reading)?;
    rows.map(|row| {
        let (id, value) = row.map_err(reading)?;
        let (key, _) = decode_key(KeyId::from_bytes(id.value()), value.value())?;
        Ok(key)
    })
    .collect()
}

impl EmbeddedState {
    fn change_tenant(
        &self,
        id: &TenantId,
        change: impl FnOnce(&mut Tenant) + Send + 'static,
    ) -> Result<Tenant, StateError> {
        let id = id.clone();
        self.blocking(move |tables| {
            let Some(mut tenant) = tenant(tables, &id)? else {
                return Err(StateError::UnknownTenant { tenant: id });
            };
            change(&mut tenant);
            put_tenant(tables, &tenant)?;
            Ok(tenant)
        })
    }
}

impl Accounts for EmbeddedState {
    fn create_tenant(
        &self,
        id: &TenantId,
        plan: &Plan,
        now: UnixMillis,
    ) -> Result<Tenant, StateError> {
        let tenant_record = Tenant {
            id: id.clone(),
            plan: plan.clone(),
            enabled: true,
            created_at: now,
        };
        self.blocking(move |tables| {
            if tenant(tables, &tenant_record.id)?.is_some() {
                return Err(StateError::TenantExists {
                    tenant: tenant_record.id,
                });
            }
            put_tenant(tables, &tenant_record)?;
            Ok(tenant_record)
        })
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StateError> {
        read_now(&self.shared, |transaction| {
            let table = transaction.open_table(TENANTS).map_err(reading)?;
            let rows = table.iter().map_err(reading)?;
            rows.map(|row| {
                let (id, value) = row.map_err(reading)?;
                decode_tenant(id.value(), value.value())
            })
            .collect()
        })
    }

    fn set_plan(&self, tenant: &TenantId, plan: &Plan) -> Result<Tenant, StateError> {
        let plan = plan.clone();
        self.change_tenant(tenant, |tenant| tenant.plan = plan)
    }

    fn set_enabled(&self, tenant: &TenantId, enabled: bool) -> Result<Tenant, StateError> {
        self.change_tenant(tenant, move |tenant| tenant.enabled = enabled)
    }

    fn create_key(
        &self,
        new: &NewKey,
        seed: KeySeed,
        now: UnixMillis,
    ) -> Result<CreatedKey, StateError> {
        if new.scopes == Scopes::default() {
            return Err(ScopeError::Empty.into());
        }
        let (id, secret, digest) = seed.into_key();
        let record = KeyRecord {
            id,
            tenant: new.tenant.clone(),
            label: new.label.clone(),
            scopes: new.scopes.clone(),
            requires_metric_selection: new.requires_metric_selection,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
        };
        self.blocking(move |tables| {
            if tenant(tables, &record.tenant)?.is_none() {
                let tenant = record.tenant;
                return Err(StateError::UnknownTenant { tenant });
            }
            let bytes = encode_key(&record, digest)?;
            let keys = tables.keys.read()?;
            if keys.get(*id.as_bytes()).map_err(reading)?.is_some() {
                return Err(StateError::KeyIdTaken { key: id });
            }
            let keys = tables.keys.edit()?;
            keys.insert(*id.as_bytes(), bytes.as_slice())
                .map_err(writing)?;
            tables.changes.push(Change::Key(record, digest));
            Ok(())
        })?;
        Ok(CreatedKey { id, secret })
    }

    fn keys(&self, tenant: Option<&TenantId>) -> Result<Vec<KeyRecord>, StateError> {
        let mut keys = read_now(&self.shared, all_keys)?;
        keys.retain(|key| tenant.is_none_or(|tenant| key.tenant == *tenant));
        Ok(keys)
    }

    fn revoke_key(&self, id: KeyId, now: UnixMillis) -> Result<KeyRecord, StateError> {
        self.blocking(move |tables| {
            let found = tables.keys.read()?.get(*id.as_bytes()).map_err(reading)?;
            let found = found
                .map(|value| decode_key(id, value.value()))
                .transpose()?;
            let Some((mut key, digest)) = found else {
                return Err(StateError::UnknownKey { key: id });
            };
            key.revoked_at.get_or_insert(now);
            let bytes = encode_key(&key, digest)?;
            let keys = tables.keys.edit()?;
            keys.insert(*id.as_bytes(), bytes.as_slice())
                .map_err(writing)?;
            tables.changes.push(Change::Key(key.clone(), digest));
            Ok(key)
        })
    }

    fn authenticate(&self, presented: &str, now: UnixMillis) -> Result<Access, StateError> {
        Ok(self.shared.memory.authenticate(presented, now))
    }
}
