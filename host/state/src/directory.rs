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
    tenants: HashMap<TenantId, TenantEntry>,
    keys: HashMap<KeyId, Entry>,
}

/// A tenant as the directory holds it.
#[derive(Debug)]
struct TenantEntry {
    tenant: Tenant,
    /// Its keys, so that a change of the tenant meets no other tenant's.
    keys: Vec<KeyId>,
}

impl Directory {
    /// Adds a tenant, or replaces it for all its keys.
    pub(crate) fn put_tenant(&mut self, tenant: Tenant) {
        let Some(existing) = self.tenants.get_mut(&tenant.id) else {
            let id = tenant.id.clone();
            let keys = Vec::new();
            self.tenants.insert(id, TenantEntry { tenant, keys });
            return;
        };
        for id in &existing.keys {
            if let Some(entry) = self.keys.get_mut(id) {
                entry.enabled = tenant.enabled;
                Arc::make_mut(&mut entry.principal).plan = tenant.plan.clone();
            }
        }
        existing.tenant = tenant;
    }

    /// Adds a key, or replaces it. A key whose tenant is not there is left out: it opens nothing.
    pub(crate) fn put_key(&mut self, key: &KeyRecord, digest: KeyDigest) {
        let Some(TenantEntry { tenant, keys }) = self.tenants.get_mut(&key.tenant) else {
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
        match self.keys.insert(key.id, entry) {
            None => keys.push(key.id),
            Some(replaced) if replaced.principal.tenant != key.tenant => {
                keys.push(key.id);
                if let Some(former) = self.tenants.get_mut(&replaced.principal.tenant) {
                    former.keys.retain(|id| *id != key.id);
                }
            }
            Some(_) => {}
        }
    }

    /// Removes a key, so that it opens nothing.
    #[cfg(feature = "postgres")]
    pub(crate) fn remove_key(&mut self, id: KeyId) {
        let removed = self.keys.remove(&id);
        let tenant = removed.and_then(|entry| self.tenants.get_mut(&entry.principal.tenant));
        if let Some(tenant) = tenant {
            tenant.keys.retain(|key| *key != id);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeySeed;
    use crate::{Plan, Scopes};
    use std::time::{Duration, Instant};

    const NOW: UnixMillis = UnixMillis(0);

    fn tenant(number: u32, enabled: bool) -> Tenant {
        Tenant {
            id: format!("t{number}").parse().unwrap(),
            plan: Plan::default(),
            enabled,
            created_at: NOW,
        }
    }

    /// Adds a key of this number to a tenant, and returns its text.
    fn put_key(directory: &mut Directory, number: u32, of_tenant: u32) -> String {
        let mut seed = [0; 40];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let (id, secret, digest) = KeySeed::new(seed).into_key();
        let record = KeyRecord {
            id,
            tenant: tenant(of_tenant, true).id,
            label: String::new(),
            scopes: Scopes::all(),
            requires_metric_selection: false,
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
        };
        directory.put_key(&record, digest);
        secret.expose().to_owned()
    }

    fn tenant_of(directory: &Directory, key: &str) -> String {
        match directory.authenticate(key, NOW) {
            Access::Granted(principal) => principal.tenant.to_string(),
            Access::Disabled { tenant } => format!("{tenant}, disabled"),
            Access::Denied(denial) => format!("{denial:?}"),
        }
    }

    #[test]
    fn a_change_of_a_tenant_reaches_its_keys_alone() {
        let mut directory = Directory::default();
        for number in 0..2 {
            directory.put_tenant(tenant(number, true));
        }
        let keys = [(0, 0), (1, 0), (2, 1)].map(|(key, of)| put_key(&mut directory, key, of));
        // The second one moves to the other tenant, and the third is replaced by itself.
        put_key(&mut directory, 1, 1);
        put_key(&mut directory, 2, 1);
        directory.put_tenant(tenant(1, false));
        let tenants = keys.each_ref().map(|key| tenant_of(&directory, key));
        assert_eq!(tenants, ["t0", "t1, disabled", "t1, disabled"]);
        directory.put_tenant(tenant(0, false));
        directory.put_tenant(tenant(1, true));
        let tenants = keys.each_ref().map(|key| tenant_of(&directory, key));
        assert_eq!(tenants, ["t0, disabled", "t1", "t1"]);
    }

    /// Returns the time of a thousand changes of one tenant beside this many others, at best.
    fn changes_beside(others: u32) -> Duration {
        let mut directory = Directory::default();
        for number in 0..=others {
            directory.put_tenant(tenant(number, true));
            put_key(&mut directory, number, number);
        }
        let rounds = (0..5).map(|_| {
            let started = Instant::now();
            for _ in 0..1_000 {
                directory.put_tenant(tenant(0, true));
            }
            started.elapsed()
        });
        rounds.min().unwrap()
    }

    /// A scan of all keys would take two hundred times as long.
    #[test]
    fn a_change_of_a_tenant_takes_no_longer_beside_many_others() {
        let (few, many) = (changes_beside(100), changes_beside(20_000));
        assert!(
            many < few * 20,
            "{few:?} beside 100, {many:?} beside 20,000"
        );
    }
}
