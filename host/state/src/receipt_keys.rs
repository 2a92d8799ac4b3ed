//! The keys under which receipts of tenants' valuations are sealed, shared by all hosts of a state.

use crate::{StateError, TenantId};

/// One key.
pub type ReceiptKey = [u8; 32];

/// Where the keys are kept. Everything here is rare, blocks, and is durable when it returns.
pub trait ReceiptKeys: Send + Sync {
    /// The key of a tenant, which `fresh` becomes where it has none: of hosts that ask at once, one
    /// gives it.
    fn receipt_key(&self, tenant: &TenantId, fresh: ReceiptKey) -> Result<ReceiptKey, StateError>;

    /// All keys, in order of their tenants.
    fn receipt_keys(&self) -> Result<Vec<(TenantId, ReceiptKey)>, StateError>;

    /// Forgets the key of a tenant, and says whether it had one. The next to be asked for is
    /// another.
    fn erase_receipt_key(&self, tenant: &TenantId) -> Result<bool, StateError>;
}
