//! Middleware that sets `X-Service-Request-Id` and writes one log line per request.

use super::error::ApiError;
use super::middleware::Middleware;
use crate::clock::new_id;
use crate::service::Service;
use crate::telemetry::metrics::Route;
use crate::telemetry::request_log::RequestLog;
use crate::telemetry::request_span;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use domesday_contract::error::Code;
use domesday_contract::vocabulary::Vocabulary;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;
use tracing::{Instrument, Span};
use uuid::Uuid;

/// The name of the header.
pub static HEADER: HeaderName = HeaderName::from_static("x-service-request-id");

/// The id of a request and its response.
#[derive(Debug, Clone, Copy)]
pub struct RequestId(pub Uuid);

/// The middleware that assigns the request id, runs the request and logs it.
#[derive(Clone)]
pub struct RequestIds(pub Arc<Service>);

/// A request that has its id.
pub struct IdentifiedRequest {
    service: Arc<Service>,
    started: Instant,
    id: Uuid,
    log: RequestLog,
    span: Span,
    method: Method,
}

impl Middleware for RequestIds {
    type Facts = IdentifiedRequest;

    fn enter(&self, request: &mut Request) -> Result<IdentifiedRequest, ApiError> {
        let service = self.0.clone();
        let started = Instant::now();
        let id = new_id(&*service.clock);
        let log = RequestLog::default();
        log.set_route(request);
        let span = match service.traces {
            Some(_) => request_span::begin(request, id),
            None => Span::none(),
        };
        request.extensions_mut().insert(log.clone());
        request.extensions_mut().insert(RequestId(id));
        Ok(IdentifiedRequest {
            service,
            started,
            id,
            log,
            span,
            method: request.method().clone(),
        })
    }

    async fn respond(
        identified: IdentifiedRequest,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        let response = responding.instrument(identified.span.clone()).await;
        finish(identified, response)
    }
}

/// Sets the header of the id, counts the response and logs it.
fn finish(identified: IdentifiedRequest, mut response: Response) -> Response {
    let IdentifiedRequest {
        service,
        started,
        id,
        log,
        span,
        method,
    } = identified;
    let mut text = Uuid::encode_buffer();
    if let Ok(value) = HeaderValue::from_str(id.as_hyphenated().encode_lower(&mut text)) {
        response.headers_mut().insert(HEADER.clone(), value);
    }
    let (valuation, summary) = (log.valuation(), log.summary());
    let took = started.elapsed();
    let (status, code) = (
        response.status().as_u16(),
        response.extensions().get::<Code>().copied(),
    );
    let route = Route(log.route().cloned());
    let release_id = valuation.map(|v| v.release_id.as_str());
    request_span::finish(&span, method.as_str(), route.as_str(), status, release_id);
    service
        .metrics
        .record_response(route.clone(), status, code.map(Vocabulary::code), took);
    if let Some(tenant) = log.tenant() {
        service.metrics.tenants.record_request(tenant);
    }
    tracing::info!(
        request_id = %id,
        method = %method,
        // A client may send an address or a key as a path.
        route = route.as_str(),
        status,
        code = code.map(tracing::field::display),
        tenant = log.tenant(),
        job_id = log.job().map(tracing::field::display),
        execution_id = valuation.map(|v| tracing::field::display(v.execution_id)),
        valuation_id = valuation.map(|v| tracing::field::display(v.valuation_id)),
        rows = valuation.map(|v| v.rows),
        billable = valuation.map(|v| v.billable),
        release_id = valuation.map(|v| v.release_id.as_str()),
        outcome = summary.map(|summary| summary.status),
        problem = summary.and_then(|summary| summary.problem.as_deref()),
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response
}
