//! Health and readiness, which need no key.

use super::error::json;
use crate::service::Service;
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::json;
use std::sync::Arc;

/// The process answers.
pub async fn healthy() -> Response {
    json(StatusCode::OK, &json!({ "status": "ok" }))
}

/// The service can value, and keep receipts where they are on: its releases are open, its keys can
/// be read, and what it answers for can be kept. From memory alone: a probe needs no key, and waits
/// for nobody.
pub async fn ready(State(service): State<Arc<Service>>) -> Response {
    if let Some(trouble) = service.trouble() {
        tracing::error!(trouble, "storage is unavailable");
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
