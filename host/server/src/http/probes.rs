//! Health and readiness, which need no key.

use super::error::json;
use crate::service::Service;
use axum::Router;
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use serde_json::json;
use std::sync::Arc;

/// Returns a router with the routes of both probes.
pub fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/healthz", get(healthy))
        .route("/readyz", get(ready))
}

/// Responds 200 while the process runs.
pub(super) async fn healthy() -> Response {
    json(StatusCode::OK, &json!({ "status": "ok" }))
}

/// Reports whether the service can value, and can record receipts where they are on. A service that
/// is about to stop is not ready. It reads memory alone: a probe needs no key and waits for nobody.
async fn ready(State(service): State<Arc<Service>>) -> Response {
    if service.connections.is_draining() {
        return not_ready();
    }
    if let Some(problem) = service.storage_problem() {
        tracing::error!(problem, "storage is unavailable");
        return not_ready();
    }
    if let Some(problem) = service.releases.current_problem() {
        tracing::error!(%problem, "the current release is not served");
        return not_ready();
    }
    let release = service.releases.current();
    json(
        StatusCode::OK,
        &json!({ "status": "ready", "release_id": release.id, "releases": service.releases.count() }),
    )
}

/// Responds 503, and says when to ask again.
pub(super) fn not_ready() -> Response {
    let mut response = json(
        StatusCode::SERVICE_UNAVAILABLE,
        &json!({ "status": "not_ready" }),
    );
    let wait = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, wait);
    response
}
