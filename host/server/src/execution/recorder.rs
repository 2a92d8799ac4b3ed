//! The part that requests and job chunks share: run rows, then record their receipts.

use super::time_limit::in_time;
use crate::receipts::{ReceiptError, ReceiptRecorder};
use crate::row_observers::observer;
use crate::service::Service;
use crate::shadow::Shadow;
use domesday_state::TenantId;
use domesday_valuation::observer::RowObserver;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::release_store::OpenRelease;
use std::future::Future;
use std::sync::Arc;
use uuid::Uuid;

/// The receipts and the shadow of the rows of one request, or of one chunk of a job.
pub struct RowRecorder {
    receipts: Option<Arc<ReceiptRecorder>>,
    shadow: Option<Arc<Shadow>>,
    /// The deadline of a request. A chunk has none.
    deadline: Option<Deadline>,
}

impl RowRecorder {
    /// Prepares to record the rows of one request or chunk on a release, before any of them runs. A
    /// request has a deadline, soon after which it waits no more.
    ///
    /// # Errors
    /// Receipts are on and cannot be written now, or [`ReceiptError::Late`].
    pub async fn open(
        service: &Service,
        tenant: &TenantId,
        release: &OpenRelease,
        execution_id: Uuid,
        deadline: Option<Deadline>,
    ) -> Result<RowRecorder, ReceiptError> {
        let receipts = match &service.receipts {
            Some(receipts) => {
                let recorder = receipts.recorder(tenant, execution_id);
                Some(within(deadline, recorder).await?)
            }
            None => None,
        };
        // A shadow runs beside the current release, and a job may be on an earlier one.
        let is_current = |_: &Arc<Shadow>| service.releases.current().package == release.package;
        Ok(RowRecorder {
            receipts,
            shadow: service.shadows.now().filter(is_current),
            deadline,
        })
    }

    /// Returns the observer for the context of the rows, or none where nobody listens.
    pub fn observer(&self) -> Option<Arc<dyn RowObserver>> {
        observer(self.receipts.clone(), self.shadow.clone())
    }

    /// Returns the receipts of the rows, where they have some.
    pub fn receipts(&self) -> Option<Arc<ReceiptRecorder>> {
        self.receipts.clone()
    }

    /// Runs rows, then waits until their receipts are durable. The receipts of all rows become
    /// durable together, which costs one wait for a request or a chunk. Receipts that are late for
    /// a request may still become durable, although nothing is answered or charged for them.
    ///
    /// # Errors
    /// The error of the rows, or that of the receipts.
    pub async fn run_and_record<T, E: From<ReceiptError>>(
        &self,
        rows: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let results = rows.await?;
        if let Some(receipts) = &self.receipts {
            within(self.deadline, receipts.wait_durable()).await?;
        }
        Ok(results)
    }
}

/// Waits for the journal, but not beyond the deadline of a request.
async fn within<T>(
    deadline: Option<Deadline>,
    wait: impl Future<Output = Result<T, ReceiptError>>,
) -> Result<T, ReceiptError> {
    match deadline {
        Some(deadline) => in_time(deadline, wait)
            .await
            .unwrap_or(Err(ReceiptError::Late)),
        None => wait.await,
    }
}
