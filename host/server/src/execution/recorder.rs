//! The part that requests and job chunks share: run rows, then record their receipts.

use crate::receipts::{ReceiptError, ReceiptRecorder};
use crate::row_observers::observer;
use crate::service::Service;
use crate::shadow::Shadow;
use domesday_state::TenantId;
use domesday_valuation::observer::RowObserver;
use std::future::Future;
use std::sync::Arc;
use uuid::Uuid;

/// The receipts and the shadow of one request's or one job's rows.
pub struct RowRecorder {
    receipts: Option<Arc<ReceiptRecorder>>,
    shadow: Option<Arc<Shadow>>,
}

impl RowRecorder {
    /// Prepares to record rows of one execution, before any of them runs.
    ///
    /// # Errors
    /// Receipts are on and cannot be written now.
    pub async fn open(
        service: &Service,
        tenant: &TenantId,
        execution_id: Uuid,
    ) -> Result<RowRecorder, ReceiptError> {
        let receipts = match &service.receipts {
            Some(receipts) => Some(receipts.recorder(tenant, execution_id).await?),
            None => None,
        };
        Ok(RowRecorder {
            receipts,
            shadow: service.shadows.now(),
        })
    }

    /// Returns the observer for the context of the rows, or none where nobody listens.
    pub fn observer(&self) -> Option<Arc<dyn RowObserver>> {
        observer(self.receipts.clone(), self.shadow.clone())
    }

    /// Runs rows, then waits until their receipts are durable. The receipts of all rows become
    /// durable together, which costs one wait for a request or a chunk.
    ///
    /// # Errors
    /// The error of the rows, or that of the receipts.
    pub async fn run_and_record<T, E: From<ReceiptError>>(
        &self,
        rows: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let results = rows.await?;
        if let Some(receipts) = &self.receipts {
            receipts.wait_durable().await?;
        }
        Ok(results)
    }
}
