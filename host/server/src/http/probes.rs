//! Health and readiness, which need no key.

use super::error::json;
use crate::service::Service;
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::json;
use std::sync::Arc;

/// Responds 200 while the process runs.
pub async fn healthy() -> Response {
    json(StatusCode::OK, &json!({ "status": "ok" }))
}

/// Reports whether the service can value, and can record receipts where they are on. It reads
/// memory alone: a probe needs no key and waits for nobody.
pub async fn ready(State(service): State<Arc<Service>>) -> Response {
    if let Some(fault) = service.storage_fault() {
        tracing::error!(trouble = fault, "storage is unavailable");
        let mut answer = json(
            StatusCode::SERVICE_UNAVAILABLE,
            &json!({ "status": "not_ready" }),
        );
        let wait = HeaderValue::from_static("1");
        answer.headers_mut().insert(RETRY_AFTER, wait);
        return answer;
    }
    let release = service.releases.current();
    json(
        StatusCode::OK,
        &json!({ "status": "ready", "release_id": release.id, "releases": service.releases.count() }),
    )
}
