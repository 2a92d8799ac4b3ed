//! The page that Prometheus reads and the probes, on a separate listener: clients who take all
//! connections of the other keep nobody from them.

use crate::http::probes;
use crate::receipts::Receipts;
use crate::service::Service;
use crate::telemetry::sampled::SampledValues;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The time between two questions to the state. No page asks it.
const PERIOD: Duration = Duration::from_secs(10);
/// Time limit of the state.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns a router with the routes `/metrics`, `/healthz` and `/readyz`.
pub fn router(service: Arc<Service>) -> Router {
    probes().route("/metrics", get(metrics)).with_state(service)
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    match service.metrics.page(|| sample(&service)) {
        Ok(page) => (
            [(
                header::CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            page,
        )
            .into_response(),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Reads the values that other parts hold in memory. No disk and no database holds up a page.
fn sample(service: &Service) -> SampledValues {
    let (receipts, journal_problem) = match &service.receipts {
        Some(receipts) => receipts.status(),
        None => (0, None),
    };
    let space = service
        .receipts
        .as_ref()
        .map(Receipts::space)
        .unwrap_or_default();
    let workers = &service.workers;
    SampledValues {
        ready: service.is_ready(),
        request_slots: service.limiter.in_use(),
        request_slots_limit: service.limiter.limit(),
        workers_busy: workers.in_use(),
        workers_room: workers.capacity(),
        bulk_busy: workers.bulk_in_use(),
        bulk_room: workers.capacity(),
        memory_reserved: service.memory.reserved_bytes(),
        memory_budget: service.memory.budget(),
        memory_refusals: service.memory.refusals(),
        jobs_paused: service.state.jobs_paused(),
        jobs_damaged: service.state.damaged_jobs() > 0,
        state_degraded: service.state.degradation().is_some(),
        data_folder_degraded: service.data_folder.problem().is_some(),
        journal_receipts: receipts,
        journal_degraded: journal_problem.is_some(),
        journal_bytes: space.bytes,
        journal_disk_free: space.free,
        journal_snapshots_missing: service.missing_packages.list().len(),
        log_lines_dropped: service.log_lines.dropped_lines(),
        releases: service.served_releases().into(),
        release_source_degraded: (service.release_source.as_ref())
            .is_some_and(|source| source.problem().is_some()),
        pools: service.state.connection_pools(),
    }
}

/// Asks the state for the oldest waiting job every ten seconds, until the task is dropped. The last
/// answer stays where the state gives none.
pub async fn watch_jobs(service: Arc<Service>) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Ok(Ok(oldest)) = timeout(TIMEOUT, service.state.oldest_waiting()).await {
            service.metrics.jobs.show_oldest(oldest);
        }
    }
}
