//! What every request of a running service shares.

use crate::admission::Admission;
use crate::clock::Clock;
use crate::families::FamilyShelf;
use crate::logging::LogLines;
use crate::receipts::{Keeping, NotKept, Receipts};
use crate::releases::Shelf;
use crate::shadow::Shadows;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::traces::Traces;
use crate::workers::Workers;
use domesday_identity::Provider;
use domesday_state::{State, TenantId};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use uuid::Uuid;

/// A running service.
pub struct Service {
    /// What survives a crash.
    pub state: Arc<dyn State>,
    /// The releases that are served.
    pub releases: Shelf,
    /// The releases of market statistics.
    pub markets: FamilyShelf,
    /// The releases of sterling rates.
    pub rates: FamilyShelf,
    /// Who is asked for addresses that the snapshot leaves open, if anybody.
    pub identity: Option<Arc<Provider>>,
    /// The threads that value.
    pub workers: Workers,
    /// The release that runs beside the current one, if any does.
    pub shadows: Shadows,
    /// Who may enter.
    pub admission: Admission,
    /// How long a request may be worked on after its body is received.
    pub processing_deadline: Duration,
    /// Told of every job that is accepted here.
    pub submitted: Arc<Notify>,
    /// Room for the bodies that are being received.
    pub body_room: Arc<Semaphore>,
    /// What is counted.
    pub metrics: Metrics,
    /// What keeps receipts of valuations, if anything does.
    pub receipts: Option<Receipts>,
    /// Where traces go, if anywhere.
    pub traces: Option<Traces>,
    /// The log lines that were lost.
    pub log_lines: LogLines,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Service {
    /// What keeps the receipts of a request or job, where receipts are on.
    ///
    /// # Errors
    /// Where none could be kept at present.
    pub async fn receipts_of(
        &self,
        tenant: &TenantId,
        execution_id: Uuid,
    ) -> Result<Option<Arc<Keeping>>, NotKept> {
        match &self.receipts {
            Some(receipts) => Ok(Some(receipts.keeping(tenant, execution_id).await?)),
            None => Ok(None),
        }
    }
}
