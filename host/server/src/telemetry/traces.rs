//! Spans of requests and of the work in them, sent to an OpenTelemetry collector.
//!
//! The code makes spans of `tracing` under the target [`SPANS`]. Only the layer of this module
//! listens to it. Without a collector there is no layer, and nothing is recorded.

use crate::cleartext_http::no_tls;
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, Uri};
use domesday_valuation::spans::SPANS;
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use reqwest::blocking::Client;
use reqwest::redirect::Policy;
use std::future::Future;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::{ClientConfig, Error, RootCertStore};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// Time limit of the collector for one batch, and of a stop for the last one.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that are read of the collector's answer.
const ANSWER_MAX: u64 = 64 << 10;
/// Spans that begin a trace, or a part of the caller's. The others are in one of them.
const ROOTS: [&str; 2] = ["request", "job_chunk"];

/// The reason why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The endpoint is not a URL that spans can be posted to.
    #[error("must be a whole URL such as http://127.0.0.1:4318/v1/traces or https://…/v1/traces")]
    Address,
    /// Authorities are named, and the endpoint has no TLS.
    #[error("has no TLS, but --otlp-ca names who to trust; begin it with https://")]
    PlainWithAuthorities,
    /// The file of authorities cannot be read as PEM.
    #[error("cannot read --otlp-ca {path} as PEM: {source}")]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The PEM reader's error.
        source: pem::Error,
    },
    /// The file holds no certificate.
    #[error("--otlp-ca {path} holds no certificate; name a PEM file with the authorities")]
    NoAuthority {
        /// The file.
        path: PathBuf,
    },
    /// The exporter cannot be made.
    #[error(transparent)]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
    /// TLS, which every client has.
    #[error(transparent)]
    Tls(#[from] Error),
    /// The client would not be made.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

/// Sends spans to a collector.
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Creates an exporter to the collector at `endpoint`, a whole URL. Over TLS it trusts the
    /// machine's authorities, or those of the file `authorities` alone.
    ///
    /// # Errors
    /// It is not a URL of HTTP or HTTPS, or the file cannot be read.
    pub fn to(endpoint: &str, authorities: Option<&Path>) -> Result<Traces, TracesError> {
        let address: Uri = endpoint.parse().map_err(|_| TracesError::Address)?;
        let has_host = address.host().is_some_and(|host| !host.is_empty());
        let tls = match address.scheme() {
            Some(scheme) if has_host && *scheme == Scheme::HTTP => false,
            Some(scheme) if has_host && *scheme == Scheme::HTTPS => true,
            _ => return Err(TracesError::Address),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Posting::new(tls, authorities)?)
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
        Ok(Traces { provider })
    }

    /// Returns the layer that sends spans. Log lines are no part of them.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("domesday"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false)
            .with_context_activation(false)
            .with_filter(dynamic_filter_fn(|metadata, context| {
                // A row of a job has no span around it: a job would have tens of thousands.
                metadata.is_span()
                    && metadata.target() == SPANS
                    && (ROOTS.contains(&metadata.name()) || context.lookup_current().is_some())
            }))
    }

    /// Sends the queued spans. Blocks for `limit` at most, and for no more than five seconds.
    pub fn stop(&self, limit: Duration) {
        if let Err(error) = self.provider.shutdown_with_timeout(limit.min(TIMEOUT)) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// Makes a span a part of the caller's trace, where the headers of the request name one. Call it
/// before the span is entered.
pub fn set_parent(span: &Span, headers: &HeaderMap) {
    if span.is_disabled() {
        return;
    }
    let parent = TraceContextPropagator::new()
        .extract_with_context(&Context::new(), &HeaderExtractor(headers));
    if let Err(error) = span.set_parent(parent) {
        tracing::debug!(?error, "a span has no parent");
    }
}

/// Gives a span another name. Its layer takes one only at the start, when no route is known.
pub fn rename(span: &Span, name: String) {
    span.context().span().update_name(name);
}

/// Posts a batch. It blocks, which the exporter's own thread may.
#[derive(Debug)]
struct Posting(Client);

impl Posting {
    fn new(tls: bool, authorities: Option<&Path>) -> Result<Posting, TracesError> {
        let builder = Client::builder()
            .http1_only()
            .timeout(TIMEOUT)
            // The operator names the collector. A proxy of the environment is not meant for it.
            .no_proxy()
            .redirect(Policy::none());
        let builder = match (tls, authorities) {
            (false, None) => builder.tls_backend_preconfigured(no_tls()?),
            (false, Some(_)) => return Err(TracesError::PlainWithAuthorities),
            (true, Some(path)) => builder.tls_backend_preconfigured(trust(path)?),
            (true, None) => {
                // Another part of the program may have chosen it before.
                let _chosen = ring::default_provider().install_default();
                builder
            }
        };
        Ok(Posting(builder.build()?))
    }
}

/// Returns a TLS configuration that trusts the authorities of a file alone.
fn trust(path: &Path) -> Result<ClientConfig, TracesError> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|source| TracesError::Authorities {
            path: path.to_owned(),
            source,
        })?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate)?;
    }
    if roots.is_empty() {
        return Err(TracesError::NoAuthority {
            path: path.to_owned(),
        });
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
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
