//! The span of a request.

use super::request_log::{OTHER_METHOD, method_name};
use super::traces::{rename, set_parent};
use axum::extract::Request;
use domesday_valuation::spans::SPANS;
use tracing::field::Empty;
use tracing::{Span, info_span};
use uuid::Uuid;

/// Begins the span of a request, as a part of the caller's trace if its headers name one.
pub fn begin(request: &Request, request_id: Uuid) -> Span {
    let span = info_span!(
        target: SPANS,
        "request",
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method_name(request.method()),
        http.route = Empty,
        http.response.status_code = Empty,
        domesday.request_id = %request_id,
        domesday.release_id = Empty,
    );
    set_parent(&span, request.headers());
    span
}

/// Records the outcome of a request. The route is a template, so that no path is in the span.
pub fn finish(span: &Span, method: &str, route: &str, status: u16, release_id: Option<&str>) {
    if span.is_disabled() {
        return;
    }
    // The name that OpenTelemetry gives a span whose method is not a standard one.
    let method = if method == OTHER_METHOD {
        "HTTP"
    } else {
        method
    };
    rename(span, format!("{method} {route}"));
    span.record("http.route", route);
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
    if let Some(release_id) = release_id {
        span.record("domesday.release_id", release_id);
    }
}
