//! The last steps of a stop, once requests have ended. A disk that does not answer may hold up each
//! of them, so each has a time limit and they run at the same time.

use anyhow::bail;
use domesday_server::admin::socket::SocketFile;
use domesday_server::receipts::Receipts;
use domesday_server::service::Service;
use domesday_state::State;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

/// Time limit of a step once the drain's time is over. The steps fit into the second that the
/// default drain leaves of an orchestrator's time.
pub const LAST_MOMENT: Duration = Duration::from_millis(250);
/// Time limit of a step while the drain has time left. The state and the journal wait for ten
/// seconds to be closed.
const STEP_TIME: Duration = Duration::from_secs(12);
/// The time between two looks whether a task still uses the service.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Returns the time limit of one of the last steps. It is the rest of the drain's time, or a moment
/// if nothing is left.
pub fn end_time(service: &Service) -> Duration {
    let left = service.connections.time_left().unwrap_or_default();
    left.clamp(LAST_MOMENT, STEP_TIME)
}

/// Closes everything that the service has open, and reports whether all that was answered is
/// stored.
///
/// # Errors
/// The host's own storage is not available. An unreachable database keeps all answered work. A file
/// of this host may not.
pub async fn close(
    service: Arc<Service>,
    socket_file: SocketFile,
    own_state: bool,
) -> anyhow::Result<()> {
    let end = Instant::now() + end_time(&service);
    let problem = match own_state {
        true => service.storage_problem(),
        false => service.host_problem(),
    };
    let data_folder = service.data_folder.clone();
    let (checked, _, ()) = tokio::join!(
        within(end, "the check of the data folder", move || data_folder
            .check()),
        within(end, "the removal of the admin socket", move || drop(
            socket_file
        )),
        close_parts(service, end, own_state),
    );
    let moved = match checked {
        Some(checked) => checked.err().map(|moved| moved.to_string()),
        None => Some("the data folder's disk does not answer".to_owned()),
    };
    tracing::info!("stopped");
    match moved.or(problem) {
        Some(problem) => bail!("stopped while storage was unavailable: {problem}"),
        None => Ok(()),
    }
}

/// Ends the shadow and the traces, and closes the state and the journal.
async fn close_parts(service: Arc<Service>, end: Instant, own_state: bool) {
    let Some(service) = last_owner(service, end).await else {
        tracing::error!("a task is still at work: the state is left as after a crash");
        return;
    };
    let Service {
        state,
        receipts,
        shadows,
        traces,
        console,
        job_store,
        ..
    } = service;
    // Without their handles of the state, which would otherwise close after them, or never.
    let journal = receipts.map(Receipts::into_journal);
    drop((console, job_store));
    let left = end.saturating_duration_since(Instant::now());
    tokio::join!(
        within(end, "the shadow", move || shadows.end()),
        within(end, "the sending of traces", move || {
            if let Some(traces) = traces {
                traces.stop(left);
            }
        }),
        close_state(state, end, own_state),
        within(end, "the closing of the journal", move || drop(journal)),
    );
}

/// Closes the state once all units are given back that a disk or a database still keeps.
async fn close_state(state: Arc<dyn State>, end: Instant, own_state: bool) {
    if is_last(&state, end).await {
        within(end, "the closing of the state", move || drop(state)).await;
        return;
    }
    let source = if own_state { "disk" } else { "database" };
    tracing::error!("the {source} does not answer: the state is left as after a crash");
}

/// Returns the service once no task uses it any more, or nothing if one still does at `end`.
async fn last_owner(service: Arc<Service>, end: Instant) -> Option<Service> {
    is_last(&service, end).await;
    Arc::into_inner(service)
}

/// Waits until this is the last handle of a part. Returns false where it is not at `end`.
async fn is_last<T: ?Sized>(part: &Arc<T>, end: Instant) -> bool {
    while Arc::strong_count(part) > 1 {
        if Instant::now() >= end {
            return false;
        }
        sleep(LOOK_AGAIN).await;
    }
    true
}

/// Runs a step on a thread where it may block. Returns nothing if it has not ended at `end`.
async fn within<T: Send + 'static>(
    end: Instant,
    name: &str,
    step: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match timeout_at(end, spawn_blocking(step)).await {
        Ok(Ok(result)) => return Some(result),
        Ok(Err(error)) => tracing::error!(%error, "{name} failed"),
        Err(_) => tracing::error!("{name} did not end in time"),
    }
    None
}
