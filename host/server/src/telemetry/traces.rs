//! One span for each request, sent to an OpenTelemetry collector.
//!
//! The span is made from the facts of the log line after the request ended, so that the request
//! carries nothing for it. Without a collector no span is made.

use super::finished_request::FinishedRequest;
use crate::cleartext_http::no_tls;
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, Uri};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Span, SpanBuilder, SpanKind, Status, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use reqwest::blocking::Client;
use reqwest::redirect::Policy;
use std::borrow::Cow;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::time::Duration;

/// Time limit of the collector for one batch, and of a stop for the last one.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that are read of the collector's answer.
const ANSWER_MAX: u64 = 64 << 10;

/// The reason why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The endpoint is not a URL that spans can be posted to.
    #[error(
        "must be a whole URL such as http://127.0.0.1:4318/v1/traces; https is not supported. For a remote collector, run an agent on this machine"
    )]
    Address,
    /// The exporter cannot be made.
    #[error(transparent)]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
    /// TLS, which every client has.
    #[error(transparent)]
    Tls(#[from] tokio_rustls::rustls::Error),
    /// The client would not be made.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

/// Sends spans to a collector.
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Traces {
    /// Creates an exporter to the collector at `endpoint`, a whole URL.
    ///
    /// # Errors
    /// It is not a URL of plain HTTP.
    pub fn to(endpoint: &str) -> Result<Traces, TracesError> {
        let address: Option<Uri> = endpoint.parse().ok();
        let plain = |address: &Uri| {
            let host = address.host().is_some_and(|host| !host.is_empty());
            address.scheme() == Some(&Scheme::HTTP) && host
        };
        if !address.as_ref().is_some_and(plain) {
            return Err(TracesError::Address);
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Posting::new()?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint)
            .with_timeout(TIMEOUT)
            .build()?;
        let provider = SdkTracerProvider::builder()
            // Collects and sends on its own thread. Spans that do not fit its queue are dropped.
            .with_batch_exporter(exporter)
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_resource(Resource::builder().with_service_name("domesday").build())
            .build();
        Ok(Traces {
            tracer: provider.tracer("domesday"),
            provider,
            propagator: TraceContextPropagator::new(),
        })
    }

    /// Returns the trace context of a request with these headers.
    pub fn parent(&self, headers: &HeaderMap) -> Context {
        self.propagator
            .extract_with_context(&Context::new(), &HeaderExtractor(headers))
    }

    /// Queues a request's span.
    pub fn record(&self, request: FinishedRequest<'_>) {
        let name: Cow<'static, str> = format!("{} {}", request.method, request.route).into();
        let mut attributes = vec![
            KeyValue::new("http.request.method", request.method.to_owned()),
            KeyValue::new("http.route", request.route.to_owned()),
            KeyValue::new("http.response.status_code", i64::from(request.status)),
            KeyValue::new("domesday.request_id", request.request_id),
        ];
        if let Some(release) = request.release_id {
            attributes.push(KeyValue::new("domesday.release_id", release.to_owned()));
        }
        let mut span = SpanBuilder::from_name(name)
            .with_kind(SpanKind::Server)
            .with_start_time(request.began)
            .with_attributes(attributes)
            .start_with_context(&self.tracer, &request.parent);
        if request.status >= 500 {
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(request.began + request.took);
    }

    /// Sends the queued spans. Blocks for `limit` at most, and for no more than five seconds.
    pub fn stop(&self, limit: Duration) {
        if let Err(error) = self.provider.shutdown_with_timeout(limit.min(TIMEOUT)) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// Posts a batch. It blocks, which the exporter's own thread may.
#[derive(Debug)]
struct Posting(Client);

impl Posting {
    fn new() -> Result<Posting, TracesError> {
        let client = Client::builder()
            .http1_only()
            .timeout(TIMEOUT)
            // The operator names the collector. A proxy of the environment is not meant for it.
            .no_proxy()
            .redirect(Policy::none())
            .tls_backend_preconfigured(no_tls()?)
            .build()?;
        Ok(Posting(client))
    }
}

impl HttpClient for Posting {
    fn send_bytes<'client, 'sent>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'client: 'sent,
        Self: 'sent,
    {
        Box::pin(async move {
            let response = self.0.execute(request.try_into()?)?;
            let (status, headers) = (response.status(), response.headers().clone());
            let mut body = Vec::new();
            response.take(ANSWER_MAX).read_to_end(&mut body)?;
            let mut answer = Response::new(body.into());
            (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
            Ok(answer)
        })
    }
}
