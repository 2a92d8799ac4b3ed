//! The bytes of a record: postcard, in the shapes of schema 1.

use std::error::Error;

use serde::{Deserialize, Serialize};

use crate::key::KeyDigest;
use crate::{KeyId, KeyRecord, Scopes, StateError, Tenant, TenantId, UnixMillis};

/// A key as stored; its id is the row's key. Scopes are kept as written, so that the record does
/// not depend on the order of an enum.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    tenant: TenantId,
    label: String,
    scopes: Vec<String>,
    requires_metric_selection: bool,
    created_at: UnixMillis,
    expires_at: Option<UnixMillis>,
    revoked_at: Option<UnixMillis>,
    digest: KeyDigest,
}

fn damaged(table: &str, key: &str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> StateError {
    StateError::Damaged {
        record: format!("{table}/{key}"),
        reason: reason.into(),
    }
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, StateError> {
    postcard::to_stdvec(value).map_err(|error| StateError::Storage {
        doing: "written",
        source: Box::new(error),
    })
}

pub(super) fn encode_tenant(tenant: &Tenant) -> Result<Vec<u8>, StateError> {
    encode(tenant)
}

pub(super) fn decode_tenant(id: &str, bytes: &[u8]) -> Result<Tenant, StateError> {
    postcard::from_bytes(bytes).map_err(|error| damaged("tenants", id, error))
}

pub(super) fn encode_key(key: &KeyRecord, digest: KeyDigest) -> Result<Vec<u8>, StateError> {
    encode(&StoredKey {
        tenant: key.tenant.clone(),
        label: key.label.clone(),
        scopes: key.scopes.texts(),
        requires_metric_selection: key.requires_metric_selection,
        created_at: key.created_at,
        expires_at: key.expires_at,
        revoked_at: key.revoked_at,
        digest,
    })
}

pub(super) fn decode_key(id: KeyId, bytes: &[u8]) -> Result<(KeyRecord, KeyDigest), StateError> {
    let name = || id.to_string();
    let stored: StoredKey =
        postcard::from_bytes(bytes).map_err(|error| damaged("keys", &name(), error))?;
    let scopes = Scopes::parse(&stored.scopes).map_err(|error| damaged("keys", &name(), error))?;
    let key = KeyRecord {
        id,
        tenant: stored.tenant,
        label: stored.label,
        scopes,
        requires_metric_selection: stored.requires_metric_selection,
        created_at: stored.created_at,
        expires_at: stored.expires_at,
        revoked_at: stored.revoked_at,
    };
    Ok((key, stored.digest))
}
