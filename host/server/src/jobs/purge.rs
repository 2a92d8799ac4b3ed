//! The removal of jobs, documents and objects that are past their time.

use crate::job_store::SWEPT;
use crate::service::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::interval;

/// Interval at which expired jobs and documents are removed.
const INTERVAL: Duration = Duration::from_secs(60);

/// Removes expired jobs, documents and objects every minute, until `stop` is set.
pub async fn run(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    let mut minutes = interval(INTERVAL);
    loop {
        tokio::select! {
            _ = minutes.tick() => {}
            _ = stop.changed() => return,
        }
        let now = service.clock.now();
        let (mut jobs, mut documents) = (0, 0);
        let purged = loop {
            match service.state.purge(now).await {
                Ok(purged) => {
                    jobs += purged.jobs;
                    documents += purged.documents;
                    if !purged.more || *stop.borrow() {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        if jobs + documents > 0 {
            tracing::info!(jobs, documents, "purged");
        }
        if let Err(error) = purged {
            tracing::error!(%error, "what is past its time could not be removed");
        }
        let mut objects = 0;
        let swept = loop {
            match service.job_store.sweep(service.state.job_time(now)).await {
                Ok(removed) => {
                    objects += removed;
                    // There may be more.
                    if removed < SWEPT || *stop.borrow() {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        if objects > 0 {
            tracing::info!(objects, "removed objects of expired jobs");
        }
        if let Err(error) = swept {
            tracing::error!(%error, "objects of expired jobs could not be removed");
        }
    }
}
