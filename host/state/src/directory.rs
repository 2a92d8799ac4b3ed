//! All tenants and keys in memory, for authentication.

use std::collections::HashMap;
use std::sync::Arc;

use crate::key::{self, KeyDigest};
use crate::{Access, Denial, KeyId, KeyRecord, Principal, Tenant, TenantId, UnixMillis};

/// A key as the directory holds it.
#[derive(Debug)]
struct Entry {
    digest: KeyDigest,
    expires_at: Option<UnixMillis>,
    revoked: bool,
    enabled: bool,
    /// Made once here, so that authentication copies nothing.
    principal: Arc<Principal>,
}

/// Every key with the rights of its tenant. A store fills it when it opens and applies each
/// change that it committed.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    tenants: HashMap<TenantId, Tenant>,
    keys: HashMap<KeyId, Entry>,
}

impl Directory {
    /// Adds a tenant, or replaces it for all its keys.
    pub(crate) fn put_tenant(&mut self, tenant: Tenant) {
        let keys = self.keys.values_mut();
        for entry in keys.filter(|entry| entry.principal.tenant == tenant.id) {
            entry.enabled = tenant.enabled;
            Arc::make_mut(&mut entry.principal).plan = tenant.plan.clone();
        }
        self.tenants.insert(tenant.id.clone(), tenant);
    }

    /// Adds a key, or replaces it. A key whose tenant is not there is left out: it opens nothing.
    pub(crate) fn put_key(&mut self, key: &KeyRecord, digest: KeyDigest) {
        let Some(tenant) = self.tenants.get(&key.tenant) else {
            return;
        };
        let principal = Principal {
            tenant: key.tenant.clone(),
            key_id: key.id,
            scopes: key.scopes.clone(),
            plan: tenant.plan.clone(),
            requires_metric_selection: key.requires_metric_selection,
        };
        let entry = Entry {
            digest,
            expires_at: key.expires_at,
            revoked: key.revoked_at.is_some(),
            enabled: tenant.enabled,
            principal: Arc::new(principal),
        };
        self.keys.insert(key.id, entry);
    }

    /// Returns the access of the presented key at this moment.
    pub(crate) fn authenticate(&self, presented: &str, now: UnixMillis) -> Access {
        let Ok((id, digest)) = key::read(presented) else {
            return Access::Denied(Denial::Malformed);
        };
        // The id is public, so that finding it may take its own time; the secret may not.
        let Some(entry) = self
            .keys
            .get(&id)
            .filter(|entry| entry.digest.matches(&digest))
        else {
            return Access::Denied(Denial::Unknown);
        };
        if entry.revoked {
            return Access::Denied(Denial::Revoked);
        }
        if entry.expires_at.is_some_and(|expiry| expiry <= now) {
            return Access::Denied(Denial::Expired);
        }
        if !entry.enabled {
            let tenant = entry.principal.tenant.clone();
            return Access::Disabled { tenant };
        }
        Access::Granted(Arc::clone(&entry.principal))
    }
}
