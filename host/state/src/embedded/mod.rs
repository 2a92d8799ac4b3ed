//! The state in one redb file of one process.

mod file;
mod records;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata};

use crate::directory::Directory;
use crate::key::KeyDigest;
use crate::{
    Access, Accounts, CreatedKey, KeyId, KeyRecord, KeySeed, NewKey, Plan, ScopeFault, Scopes,
    StateError, Tenant, TenantId, UnixMillis,
};
use file::{KEYS, TENANTS, reading, writing};
use records::{decode_key, decode_tenant, encode_key, encode_tenant};

/// The state in one redb file. The file can be open once: commands reach a running server, not
/// its file.
#[derive(Debug)]
pub struct EmbeddedState {
    database: Database,
    /// Held over each change and its application to the directory, so that the directory sees
    /// changes in the order of their commits.
    changes: Mutex<()>,
    directory: RwLock<Directory>,
}

impl EmbeddedState {
    /// Opens the state in the file at `path`, which is made (mode 0600) where it is missing.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let state = EmbeddedState {
            database: file::open(path)?,
            changes: Mutex::new(()),
            directory: RwLock::default(),
        };
        let mut directory = Directory::default();
        for tenant in state.tenants()? {
            directory.put_tenant(tenant);
        }
        state.each_key(|key, digest| directory.put_key(&key, digest))?;
        state.change_directory(|loaded| *loaded = directory);
        Ok(state)
    }

    fn change_directory(&self, change: impl FnOnce(&mut Directory)) {
        // No change can be left half done, so a directory that was held in a panic is whole.
        change(
            &mut self
                .directory
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    fn begin_change(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each_key(&self, mut each: impl FnMut(KeyRecord, KeyDigest)) -> Result<(), StateError> {
        let transaction = self.database.begin_read().map_err(reading)?;
        let table = transaction.open_table(KEYS).map_err(reading)?;
        for row in table.iter().map_err(reading)? {
            let (id, value) = row.map_err(reading)?;
            let (key, digest) = decode_key(KeyId::from_bytes(id.value()), value.value())?;
            each(key, digest);
        }
        Ok(())
    }

    fn change_tenant(
        &self,
        id: &TenantId,
        change: impl FnOnce(&mut Tenant),
    ) -> Result<Tenant, StateError> {
        let _order = self.begin_change();
        let transaction = self.database.begin_write().map_err(writing)?;
        let tenant = {
            let mut table = transaction.open_table(TENANTS).map_err(writing)?;
            let mut tenant = table
                .get(id.as_str())
                .map_err(reading)?
                .map(|value| decode_tenant(id.as_str(), value.value()))
                .transpose()?
                .ok_or_else(|| StateError::UnknownTenant { tenant: id.clone() })?;
            change(&mut tenant);
            table
                .insert(id.as_str(), encode_tenant(&tenant)?.as_slice())
                .map_err(writing)?;
            tenant
        };
        transaction.commit().map_err(writing)?;
        self.change_directory(|directory| directory.put_tenant(tenant.clone()));
        Ok(tenant)
    }
}

impl Accounts for EmbeddedState {
    fn is_empty(&self) -> Result<bool, StateError> {
        let transaction = self.database.begin_read().map_err(reading)?;
        let table = transaction.open_table(TENANTS).map_err(reading)?;
        table.is_empty().map_err(reading)
    }

    fn create_tenant(
        &self,
        id: &TenantId,
        plan: &Plan,
        now: UnixMillis,
    ) -> Result<Tenant, StateError> {
        let tenant = Tenant {
            id: id.clone(),
            plan: plan.clone(),
            enabled: true,
            created_at: now,
        };
        let _order = self.begin_change();
        let transaction = self.database.begin_write().map_err(writing)?;
        {
            let mut table = transaction.open_table(TENANTS).map_err(writing)?;
            if table.get(id.as_str()).map_err(reading)?.is_some() {
                return Err(StateError::TenantExists { tenant: id.clone() });
            }
            table
                .insert(id.as_str(), encode_tenant(&tenant)?.as_slice())
                .map_err(writing)?;
        }
        transaction.commit().map_err(writing)?;
        self.change_directory(|directory| directory.put_tenant(tenant.clone()));
        Ok(tenant)
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StateError> {
        let transaction = self.database.begin_read().map_err(reading)?;
        let table = transaction.open_table(TENANTS).map_err(reading)?;
        let rows = table.iter().map_err(reading)?;
        rows.map(|row| {
            let (id, value) = row.map_err(reading)?;
            decode_tenant(id.value(), value.value())
        })
        .collect()
    }

    fn set_plan(&self, tenant: &TenantId, plan: &Plan) -> Result<Tenant, StateError> {
        self.change_tenant(tenant, |tenant| tenant.plan = plan.clone())
    }

    fn set_enabled(&self, tenant: &TenantId, enabled: bool) -> Result<Tenant, StateError> {
        self.change_tenant(tenant, |tenant| tenant.enabled = enabled)
    }

    fn create_key(
        &self,
        new: &NewKey,
        seed: KeySeed,
        now: UnixMillis,
    ) -> Result<CreatedKey, StateError> {
        if new.scopes == Scopes::default() {
            return Err(ScopeFault::Empty.into());
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
        let _order = self.begin_change();
        let transaction = self.database.begin_write().map_err(writing)?;
        {
            let tenants = transaction.open_table(TENANTS).map_err(writing)?;
            if tenants.get(new.tenant.as_str()).map_err(reading)?.is_none() {
                return Err(StateError::UnknownTenant {
                    tenant: new.tenant.clone(),
                });
            }
            let mut keys = transaction.open_table(KEYS).map_err(writing)?;
            if keys.get(*id.as_bytes()).map_err(reading)?.is_some() {
                return Err(StateError::KeyIdTaken { key: id });
            }
            keys.insert(*id.as_bytes(), encode_key(&record, digest)?.as_slice())
                .map_err(writing)?;
        }
        transaction.commit().map_err(writing)?;
        self.change_directory(|directory| directory.put_key(&record, digest));
        Ok(CreatedKey { id, secret })
    }

    fn keys(&self, tenant: Option<&TenantId>) -> Result<Vec<KeyRecord>, StateError> {
        let mut keys = Vec::new();
        self.each_key(|key, _| {
            if tenant.is_none_or(|tenant| key.tenant == *tenant) {
                keys.push(key);
            }
        })?;
        Ok(keys)
    }

    fn revoke_key(&self, id: KeyId, now: UnixMillis) -> Result<KeyRecord, StateError> {
        let _order = self.begin_change();
        let transaction = self.database.begin_write().map_err(writing)?;
        let (key, digest) = {
            let mut table = transaction.open_table(KEYS).map_err(writing)?;
            let (mut key, digest) = table
                .get(*id.as_bytes())
                .map_err(reading)?
                .map(|value| decode_key(id, value.value()))
                .transpose()?
                .ok_or(StateError::UnknownKey { key: id })?;
            key.revoked_at.get_or_insert(now);
            table
                .insert(*id.as_bytes(), encode_key(&key, digest)?.as_slice())
                .map_err(writing)?;
            (key, digest)
        };
        transaction.commit().map_err(writing)?;
        self.change_directory(|directory| directory.put_key(&key, digest));
        Ok(key)
    }

    fn authenticate(&self, presented: &str, now: UnixMillis) -> Result<Access, StateError> {
        let directory = self
            .directory
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(directory.authenticate(presented, now))
    }
}
