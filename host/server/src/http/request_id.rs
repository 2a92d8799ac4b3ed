//! Middleware that finishes each response: it sets `X-Service-Request-Id`, leaves `Allow` to 405
//! and writes one log line per request.

use super::error::ApiError;
use super::middleware::Middleware;
use crate::clock::new_id;
use crate::service::Service;
use crate::telemetry::metrics::{Metrics, Route, UNANSWERED};
use crate::telemetry::request_log::{RequestLog, method_name};
use crate::telemetry::request_span;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use domesday_contract::error::Code;
use domesday_contract::vocabulary::Vocabulary;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
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

/// A request that has its id. One that is dropped without a response is logged all the same.
pub struct IdentifiedRequest {
    metrics: Arc<Metrics>,
    started: Instant,
    id: Uuid,
    log: RequestLog,
    span: Span,
    method: &'static str,
    answered: bool,
}

impl Middleware for RequestIds {
    type Facts = IdentifiedRequest;

    fn enter(&self, request: &mut Request) -> Result<IdentifiedRequest, ApiError> {
        let service = &self.0;
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
            metrics: service.metrics.clone(),
            started,
            id,
            log,
            span,
            method: method_name(request.method()),
            answered: false,
        })
    }

    async fn respond(
        identified: IdentifiedRequest,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        let response = responding.instrument(identified.span.clone()).await;
        identified.finish(response)
    }
}

impl IdentifiedRequest {
    /// Finishes the headers of the response, counts it and logs it.
    fn finish(mut self, mut response: Response) -> Response {
        let mut text = Uuid::encode_buffer();
        if let Ok(value) = HeaderValue::from_str(self.id.as_hyphenated().encode_lower(&mut text)) {
            response.headers_mut().insert(HEADER.clone(), value);
        }
        // axum sets it with each response to another method of a path. That may be a 401 or a 404.
        if response.status() != StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().remove(ALLOW);
        }
        let took = self.started.elapsed();
        let (status, code) = (
            response.status().as_u16(),
            response.extensions().get::<Code>().copied(),
        );
        self.answered = true;
        self.metrics
            .record_response(self.route(), status, code.map(Vocabulary::code), took);
        self.log_end(status, code, took);
        response
    }

    fn route(&self) -> Route {
        Route(self.log.route().cloned())
    }

    /// Ends the span of the request, and writes its log line.
    fn log_end(&self, status: u16, code: Option<Code>, took: Duration) {
        let (log, route) = (&self.log, self.route());
        let (valuation, summary) = (log.valuation(), log.summary());
        let release_id = valuation.map(|v| v.release_id.as_str());
        request_span::finish(&self.span, self.method, route.as_str(), status, release_id);
        if let Some(tenant) = log.tenant() {
            self.metrics.tenants.record_request(tenant);
        }
        tracing::info!(
            request_id = %self.id,
            method = self.method,
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
            release_id,
            outcome = summary.map(|summary| summary.status),
            problem = summary.and_then(|summary| summary.problem.as_deref()),
            micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            "request"
        );
    }
}

impl Drop for IdentifiedRequest {
    /// Counts and logs a request without a response: its client left, or its connection was closed.
    fn drop(&mut self) {
        if !self.answered {
            self.metrics.record_unanswered(self.route());
            self.log_end(UNANSWERED, None, self.started.elapsed());
        }
    }
}

#[cfg(test)]
#[path = "request_id_tests.rs"]
mod tests;
