//! Tenants and keys: what every store promises of them.

use crate::{
    Access, CreatedKey, KeyId, KeyRecord, KeySeed, NewKey, Plan, StateError, Tenant, TenantId,
    UnixMillis,
};

/// Tenants and their keys. All operations may be called from many threads at once,
/// and each happens whole or not at all. Those that change something return when the change is
/// durable, and every later call sees it.
pub trait Accounts: Send + Sync {
    /// Makes a tenant that is served under `plan`.
    fn create_tenant(
        &self,
        id: &TenantId,
        plan: &Plan,
        now: UnixMillis,
    ) -> Result<Tenant, StateError>;

    /// Returns all tenants, in order of their ids.
    fn tenants(&self) -> Result<Vec<Tenant>, StateError>;

    /// Gives a tenant another plan.
    fn set_plan(&self, tenant: &TenantId, plan: &Plan) -> Result<Tenant, StateError>;

    /// Serves a tenant, or no longer does.
    fn set_enabled(&self, tenant: &TenantId, enabled: bool) -> Result<Tenant, StateError>;

    /// Makes a key out of `seed` for an existing tenant, beside its other keys.
    fn create_key(
        &self,
        key: &NewKey,
        seed: KeySeed,
        now: UnixMillis,
    ) -> Result<CreatedKey, StateError>;

    /// Returns the keys of one tenant or of all, in order of their ids, revoked and expired ones
    /// too.
    fn keys(&self, tenant: Option<&TenantId>) -> Result<Vec<KeyRecord>, StateError>;

    /// Revokes a key for good. When this returns, the key opens nothing. A key that was revoked
    /// earlier keeps the earlier time.
    fn revoke_key(&self, key: KeyId, now: UnixMillis) -> Result<KeyRecord, StateError>;

    /// Returns the access of the presented key at this moment. It reads memory and never waits, so
    /// it may be called where blocking is not allowed.
    fn authenticate(&self, presented: &str, now: UnixMillis) -> Result<Access, StateError>;
}
