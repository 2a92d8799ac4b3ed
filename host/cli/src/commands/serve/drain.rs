//! The first steps of a stop: the service drains.

use super::release_source::FetchedReleases;
use super::service_manager::notify_stopping;
use super::signals::{StopSignal, StopSignals};
use domesday_server::config::Settings;
use domesday_server::jobs::Jobs;
use domesday_server::service::Service;
use std::time::Duration;

/// The time after which orchestrators end a process that they stop, by default.
const ORCHESTRATOR_TIME: Duration = Duration::from_secs(30);

/// Waits for a signal. Ends fetches and releases jobs then, and has the service drain.
pub async fn drain_at_signal(
    settings: &Settings,
    (service, jobs): (&Service, &Jobs),
    source: Option<&FetchedReleases>,
    mut signals: StopSignals,
) {
    let drain_delay = Duration::from_secs(settings.drain_delay.into());
    let drain_timeout = Duration::from_secs(settings.drain_timeout.into());
    let signal = signals.next().await;
    notify_stopping();
    // A load balancer needs a while to see that the service is not ready. A person does not.
    let delay = match signal {
        StopSignal::Terminate => drain_delay,
        _ => Duration::ZERO,
    };
    // First, so that a fetch that the stop ends is known as one.
    service.connections.drain(delay + drain_timeout);
    // Jobs are released while requests are still finished.
    jobs.stop();
    if let Some(source) = source {
        source.stop();
    }
    if signal == StopSignal::Terminate {
        tracing::info!(seconds = settings.drain_delay, "not ready; stopping soon");
        tokio::select! {
            () = tokio::time::sleep(drain_delay) => {}
            _ = signals.next() => {}
        }
    }
    // Sooner than that where a signal cut the delay short.
    service.connections.drain(drain_timeout);
}

/// Logs a warning where a stop may take longer than an orchestrator waits.
pub fn warn_of_long_stop(settings: &Settings) {
    let longest = u64::from(settings.drain_delay) + u64::from(settings.drain_timeout);
    if Duration::from_secs(longest) >= ORCHESTRATOR_TIME {
        tracing::warn!(
            drain_delay = settings.drain_delay,
            drain_timeout = settings.drain_timeout,
            "a stop may take longer than the 30 seconds that orchestrators give by default"
        );
    }
}
