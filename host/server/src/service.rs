//! What every request of a running service shares.

use crate::admission::Admission;
use crate::clock::Clock;
use crate::families::FamilyShelf;
use crate::logging::LogLines;
use crate::releases::Shelf;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::traces::Traces;
use crate::workers::Workers;
use domesday_identity::Provider;
use domesday_state::State;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

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
    /// Where traces go, if anywhere.
    pub traces: Option<Traces>,
    /// The log lines that were lost.
    pub log_lines: LogLines,
    /// The time.
    pub clock: Arc<dyn Clock>,
}
