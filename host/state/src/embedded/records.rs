//! The bytes of a record: postcard, in the shapes of the file's schema. A change of a shape
//! raises the schema. This holds for enums and public types that are stored unchanged, too.

use std::error::Error;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::counts::StoredEntry;
use super::switch_names::CURSOR_SECRET;
use crate::key::KeyDigest;
use crate::{
    CursorSecret, Job, JobStatus, KeyId, KeyRecord, Month, Scopes, StateError, Tenant, TenantId,
    UnixMillis,
};

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

fn damage_error(
    table: &str,
    key: &str,
    reason: impl Into<Box<dyn Error + Send + Sync>>,
) -> StateError {
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
    postcard::from_bytes(bytes).map_err(|error| damage_error("tenants", id, error))
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
        postcard::from_bytes(bytes).map_err(|error| damage_error("keys", &name(), error))?;
    let scopes =
        Scopes::parse(&stored.scopes).map_err(|error| damage_error("keys", &name(), error))?;
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

/// A stored job, with the fields that only the store needs.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredJob {
    /// The job as its tenant sees it.
    pub(super) job: Job,
    /// The first chunk without results.
    pub(super) next: u32,
    /// Number of attempts at `next`.
    pub(super) attempts: u32,
    /// The fencing number of its last claim.
    pub(super) fence: u64,
    /// Its place in its tenant's queue.
    pub(super) sequence: u64,
    /// The month that its units were charged to.
    pub(super) month: Month,
    /// The units of each chunk; of a finished one, those that stay charged.
    pub(super) units: Vec<u32>,
    /// The bytes of its inputs and results that are there now.
    pub(super) bytes: u64,
    /// The key that it may be repeated by.
    pub(super) key: Option<String>,
}

impl StoredJob {
    /// Returns its id as a table's key.
    pub(super) fn id(&self) -> [u8; 16] {
        self.job.id.into_bytes()
    }

    /// Reports whether it is queued or running.
    pub(super) fn is_unfinished(&self) -> bool {
        matches!(self.job.status, JobStatus::Queued | JobStatus::Running)
    }

    /// Sums the units of the chunks without results.
    pub(super) fn unfinished_units(&self) -> u64 {
        let units = self.units.iter().skip(self.next as usize);
        units.copied().map(u64::from).sum()
    }

    /// Sums the units of the chunks with results that stay charged.
    pub(super) fn finished_units(&self) -> u64 {
        let units = self.units.iter().take(self.next as usize);
        units.copied().map(u64::from).sum()
    }
}

/// The record of an idempotency key.
#[derive(Serialize, Deserialize)]
pub(super) enum IdempotencyRecord {
    /// Its job is kept whole.
    Job { digest: [u8; 32], job: [u8; 16] },
    /// Only the document of its job is kept.
    Document { digest: [u8; 32], job: Box<Job> },
    /// It is used up, and nothing else is stored.
    Tombstone,
}

pub(super) fn encode_job(job: &StoredJob) -> Result<Vec<u8>, StateError> {
    encode(job)
}

pub(super) fn decode_job(id: &[u8; 16], bytes: &[u8]) -> Result<StoredJob, StateError> {
    postcard::from_bytes(bytes)
        .map_err(|error| damage_error("jobs", &Uuid::from_bytes(*id).to_string(), error))
}

pub(super) fn encode_idempotency(record: &IdempotencyRecord) -> Result<Vec<u8>, StateError> {
    encode(record)
}

pub(super) fn decode_idempotency(key: &str, bytes: &[u8]) -> Result<IdempotencyRecord, StateError> {
    postcard::from_bytes(bytes).map_err(|error| damage_error("idempotency", key, error))
}

/// Encodes the entries of a row of the ledger.
pub(super) fn encode_entries(entries: &[&StoredEntry]) -> Result<Vec<u8>, StateError> {
    encode(&entries)
}

/// Decodes the entries of a tenant's row of the ledger.
pub(super) fn decode_entries(tenant: &str, bytes: &[u8]) -> Result<Vec<StoredEntry>, StateError> {
    postcard::from_bytes(bytes).map_err(|error| damage_error("usage_entries", tenant, error))
}

/// Decodes the tenant in the key of a row of the ledger.
pub(super) fn decode_tenant_id(text: &str) -> Result<TenantId, StateError> {
    text.parse()
        .map_err(|error| damage_error("usage_entries", text, Box::new(error)))
}

/// Decodes a secret of cursors, which the file holds in hexadecimal.
pub(super) fn decode_secret(text: &str) -> Result<CursorSecret, StateError> {
    let mut secret = CursorSecret::default();
    hex::decode_to_slice(text, &mut secret)
        .map_err(|error| damage_error("switches", CURSOR_SECRET, error))?;
    Ok(secret)
}
