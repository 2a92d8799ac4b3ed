//! The keys under which receipts of tenants' valuations are sealed, shared by all hosts of a state.

use crate::{StateError, TenantId};

/// One key.
pub type ReceiptKey = [u8; 32];

/// A store of the keys. Every operation is rare, blocks, and is durable when it returns.
pub trait ReceiptKeys: Send + Sync {
    /// Returns the key of a tenant, and stores `fresh` where it has none. When several hosts call
    /// at once, all get the key of one of them.
    fn receipt_key(&self, tenant: &TenantId, fresh: ReceiptKey) -> Result<ReceiptKey, StateError>;

    /// Returns all keys, in order of their tenants.
    fn receipt_keys(&self) -> Result<Vec<(TenantId, ReceiptKey)>, StateError>;

    /// Erases the key of a tenant, and reports whether it had one. A later call stores another key.
    fn erase_receipt_key(&self, tenant: &TenantId) -> Result<bool, StateError>;
}
