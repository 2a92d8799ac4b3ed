//! The bearer of a good key.

use std::sync::Arc;

use crate::{KeyId, Plan, Scopes, TenantId};

/// The bearer of a good key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The tenant, on whom limits and usage count.
    pub tenant: TenantId,
    /// The key used.
    pub key_id: KeyId,
    /// The scopes that the key grants.
    pub scopes: Scopes,
    /// The tenant's limits.
    pub plan: Plan,
    /// True if the key's requests for series must select metrics.
    pub requires_metric_selection: bool,
}

/// The outcome of an authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// The key is good.
    Granted(Arc<Principal>),
    /// The key is not good. A client learns no more than that; the reason is for the log.
    Denied(Denial),
    /// The key is good, but its tenant is not served at present.
    Disabled {
        /// The tenant.
        tenant: TenantId,
    },
}

/// The reason why a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// It is not written as a key.
    Malformed,
    /// No key has this id, or the secret is another.
    Unknown,
    /// It was revoked.
    Revoked,
    /// Its time is over.
    Expired,
}
