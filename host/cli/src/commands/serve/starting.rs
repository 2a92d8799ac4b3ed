//! The part of a start that may take minutes. Probes are answered meanwhile, and a signal stops it.

use super::listen::listen;
use super::open::{OpenedService, open_service};
use super::release_source::FetchedReleases;
use super::signals::StopSignals;
use domesday_package::Trust;
use domesday_server::config::Settings;
use domesday_server::http::StartProbes;
use domesday_server::logging::LogLines;
use domesday_server::service::Service;
use domesday_server::telemetry::traces::Traces;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// The time for a fetch to end where the host is stopped before it serves.
const FETCH_END: Duration = Duration::from_secs(3);
const STOPPED: &str = "stopped before it served";

/// A service that is open, with what answered and fetched while it opened.
pub struct StartedService {
    pub opened: OpenedService,
    /// The probes, and the address of the listener of the metrics.
    pub probes: Option<(StartProbes, SocketAddr)>,
    pub release_source: Option<Arc<FetchedReleases>>,
}

/// Opens the service on a thread that may block, and takes its first steps there by `begin`.
/// Returns `None` where a signal stops the host before these have ended.
///
/// # Errors
/// As [`open_service`] and `begin`, or the address of the metrics is taken.
pub async fn open_with_probes(
    settings: &Arc<Settings>,
    trust: Trust,
    threads: usize,
    telemetry: (LogLines, Option<Traces>),
    signals: &mut StopSignals,
    begin: impl FnOnce(&Service) -> anyhow::Result<()> + Send + 'static,
) -> anyhow::Result<Option<StartedService>> {
    let probes = match settings.metrics_listen {
        Some(address) => {
            let (listener, address) = listen(address, "--metrics-listen")?;
            Some((StartProbes::serve(listener), address))
        }
        None => None,
    };
    let (of_source, trusted) = (settings.clone(), trust.clone());
    // The folder of releases or the source may be stuck.
    let opening = move || FetchedReleases::open(&of_source, &trusted);
    let Some(release_source) = run_until_stop(signals, opening).await? else {
        return Ok(None);
    };
    let (settings, source) = (settings.clone(), release_source.clone());
    let opening = spawn_blocking(move || {
        let opened = open_service(&settings, &trust, source, threads, telemetry)?;
        begin(&opened.service)?;
        Ok(opened)
    });
    let opened = open_until_stop(opening, signals, release_source.as_deref()).await?;
    Ok(opened.map(|opened| StartedService {
        opened,
        probes,
        release_source,
    }))
}

/// Runs a step of a start on a thread that may block: a disk or a database may be stuck. Returns
/// `None` where a signal stops the host before the step has ended.
///
/// # Errors
/// The error of the step, or it panicked.
pub async fn run_until_stop<T: Send + 'static>(
    signals: &mut StopSignals,
    step: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<Option<T>> {
    tokio::select! {
        ended = spawn_blocking(step) => Ok(Some(ended??)),
        _ = signals.next() => {
            tracing::info!("{STOPPED}");
            Ok(None)
        }
    }
}

/// Waits until the service is open. A fetch that runs at a stop has a moment to end, and removes
/// what it has staged.
async fn open_until_stop(
    mut opening: JoinHandle<anyhow::Result<OpenedService>>,
    signals: &mut StopSignals,
    source: Option<&FetchedReleases>,
) -> anyhow::Result<Option<OpenedService>> {
    tokio::select! {
        opened = &mut opening => return Ok(Some(opened??)),
        _ = signals.next() => {}
    }
    if source.is_some_and(FetchedReleases::stop)
        && let Ok(Ok(Ok(opened))) = timeout(FETCH_END, opening).await
    {
        // Closing the state may block.
        spawn_blocking(move || drop(opened));
    }
    tracing::info!("{STOPPED}");
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};
    use std::sync::mpsc::channel;

    /// The longest wait for a stop.
    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_stop_ends_the_wait_for_a_step_of_the_start_that_is_stuck() {
        let mut signals = StopSignals::listen().unwrap();
        let ended = run_until_stop(&mut signals, || Ok(7)).await;
        assert_eq!(ended.unwrap(), Some(7));
        let (release, stuck) = channel::<()>();
        kill_process(getpid(), Signal::TERM).unwrap();
        let step = run_until_stop(&mut signals, move || Ok(stuck.recv()?));
        let stopped = timeout(LONG, step).await.unwrap();
        assert_eq!(stopped.unwrap(), None);
        // The runtime waits for the thread.
        drop(release);
    }
}
