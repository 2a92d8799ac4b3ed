//! The keys of receipts in the file.

use redb::ReadableTable;

use super::EmbeddedState;
use super::error::{reading, writing};
use crate::{ReceiptKey, ReceiptKeys, StateError, TenantId};

impl ReceiptKeys for EmbeddedState {
    fn receipt_key(&self, tenant: &TenantId, fresh: ReceiptKey) -> Result<ReceiptKey, StateError> {
        let tenant = tenant.clone();
        self.blocking(move |tables| {
            let stored_key = tables.receipt_keys.read()?.get(tenant.as_str());
            if let Some(stored_key) = stored_key.map_err(reading)? {
                return Ok(stored_key.value());
            }
            let known = tables.tenants.read()?.get(tenant.as_str());
            if known.map_err(reading)?.is_none() {
                return Err(StateError::UnknownTenant { tenant });
            }
            let keys = tables.receipt_keys.edit()?;
            keys.insert(tenant.as_str(), fresh).map_err(writing)?;
            Ok(fresh)
        })
    }

    fn receipt_keys(&self) -> Result<Vec<(TenantId, ReceiptKey)>, StateError> {
        self.blocking(|tables| {
            let rows = tables.receipt_keys.read()?.iter().map_err(reading)?;
            rows.map(|entry| {
                let (tenant, key) = entry.map_err(reading)?;
                let tenant: Result<TenantId, _> = tenant.value().parse();
                let tenant = tenant.map_err(|error| StateError::Damaged {
                    record: "receipt_keys".to_owned(),
                    reason: error.into(),
                })?;
                Ok((tenant, key.value()))
            })
            .collect()
        })
    }

    fn erase_receipt_key(&self, tenant: &TenantId) -> Result<bool, StateError> {
        let tenant = tenant.clone();
        self.blocking(move |tables| {
            let keys = tables.receipt_keys.edit()?;
            let removed = keys.remove(tenant.as_str()).map_err(writing)?.is_some();
            Ok(removed)
        })
    }
}
