//! The page that Prometheus reads and the probes, on a separate listener: clients who take all
//! connections of the other keep nobody from them.

use crate::http::probes;
use crate::service::Service;
use crate::telemetry::process::resident_bytes;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit of the state when the page is made.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns a router with the routes `/metrics`, `/healthz` and `/readyz`.
pub fn router(service: Arc<Service>) -> Router {
    probes().route("/metrics", get(metrics)).with_state(service)
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    sample(&service).await;
    match service.metrics.write() {
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

async fn sample(service: &Service) {
    let metrics = &service.metrics;
    metrics.current(&service.releases.current().id);
    let sampled = &metrics.sampled;
    let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    sampled.workers_busy.set(whole(service.workers.in_use()));
    sampled.workers_room.set(whole(service.workers.capacity()));
    sampled
        .memory_budget_bytes
        .set(whole(service.memory.budget()));
    sampled
        .memory_reserved_bytes
        .set(whole(service.memory.reserved_bytes()));
    sampled
        .log_lines_dropped
        .set(whole(service.log_lines.dropped_lines()));
    let state = &service.state;
    sampled.jobs_paused.set(state.jobs_paused().into());
    sampled
        .state_degraded
        .set(state.degradation().is_some().into());
    let folder_problem = service.data_folder.problem().is_some();
    sampled.data_folder_degraded.set(folder_problem.into());
    if let Some(receipts) = &service.receipts {
        let (count, problem) = receipts.status();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        sampled.journal_receipts.set(count);
        sampled.journal_degraded.set(problem.is_some().into());
    }
    if let Ok(Ok(waiting)) = timeout(TIMEOUT, state.waiting()).await {
        sampled
            .jobs_waiting
            .set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }
    if let Some(bytes) = resident_bytes() {
        sampled.resident_bytes.set(bytes);
    }
}
