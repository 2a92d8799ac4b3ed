//! The removal of jobs and documents that are past their time.

use crate::service::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::interval;

/// Interval at which expired jobs and documents are removed.
const INTERVAL: Duration = Duration::from_secs(60);

/// Removes expired jobs and documents every minute, until `stop` is set.
pub async fn run(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    let mut minutes = interval(INTERVAL);
    loop {
        tokio::select! {
            _ = minutes.tick() => {}
            _ = stop.changed() => return,
        }
        match service.state.purge(service.clock.now()).await {
            Ok(purged) if purged.jobs + purged.documents > 0 => {
                tracing::info!(jobs = purged.jobs, documents = purged.documents, "purged");
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "what is past its time could not be removed"),
        }
    }
}
