//! `X-Service-Request-Id` on every answer, and one log line a request that carries it.

use crate::clock::new_id;
use crate::service::Service;
use crate::telemetry::metrics::Route;
use crate::telemetry::traces::Traced;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use domesday_breaks::broken;
use domesday_contract::error::Code;
use domesday_contract::vocabulary::Vocabulary;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, UNIX_EPOCH};
use uuid::Uuid;

/// The header's name.
pub static HEADER: HeaderName = HeaderName::from_static("x-service-request-id");

/// The id of a request and its answer.
#[derive(Debug, Clone, Copy)]
pub struct RequestId(pub Uuid);

/// What a request's log line says besides its own facts, filled in on the way.
#[derive(Clone, Default)]
pub struct Trail(Arc<Noted>);

#[derive(Default)]
struct Noted {
    route: OnceLock<MatchedPath>,
    tenant: OnceLock<String>,
    job: OnceLock<Uuid>,
    valuation: OnceLock<Valuation>,
    outcome: OnceLock<Ended>,
}

/// The ids of a valuation, or of a batch's.
pub struct Valuation {
    /// The API execution.
    pub execution_id: Uuid,
    /// The property's valuation, or the first row's; those of the other rows count up from it.
    pub valuation_id: Uuid,
    /// Rows of the request.
    pub rows: usize,
    /// Rows that were read without a fault.
    pub admitted: usize,
    /// The release that was asked.
    pub release_id: String,
}

/// What came of a valuation.
pub struct Ended {
    /// Its status.
    pub status: &'static str,
    /// Why the release failed, where it did.
    pub problem: Option<String>,
}

impl Trail {
    /// Notes the route that a request matched.
    pub fn route(&self, request: &Request) {
        if let Some(matched) = request.extensions().get::<MatchedPath>() {
            let _ = self.0.route.set(matched.clone());
        }
    }

    /// Notes whose request it is.
    pub fn tenant(&self, tenant: &str) {
        let _ = self.0.tenant.set(tenant.to_owned());
    }

    /// Notes the job that was accepted or found.
    pub fn job(&self, id: Uuid) {
        let _ = self.0.job.set(id);
    }

    /// Notes the valuation's ids, before its work begins: a failure is looked for by them.
    pub fn valuation(&self, valuation: Valuation) {
        let _ = self.0.valuation.set(valuation);
    }

    /// Notes what came of it.
    pub fn ended(&self, ended: Ended) {
        let _ = self.0.outcome.set(ended);
    }
}

/// Characters of a path that are logged: anybody may send one, of any length.
const PATH_LOGGED: usize = 200;

/// A path as it is logged.
fn shortened(path: &str) -> String {
    match path.char_indices().nth(PATH_LOGGED) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

/// Gives every request its id, and logs how it ended.
pub async fn request_id(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = new_id(&*service.clock);
    let trail = Trail::default();
    trail.route(&request);
    let traces = service.traces.as_ref();
    let parent = traces.map(|traces| (traces.parent(request.headers()), service.clock.now()));
    request.extensions_mut().insert(trail.clone());
    request.extensions_mut().insert(RequestId(id));
    let (method, path) = (request.method().clone(), shortened(request.uri().path()));

    let mut response = next.run(request).await;
    let mut text = Uuid::encode_buffer();
    if let Ok(value) = HeaderValue::from_str(id.as_hyphenated().encode_lower(&mut text)) {
        response.headers_mut().insert(HEADER.clone(), value);
    }
    let noted = &trail.0;
    let (valuation, ended) = (noted.valuation.get(), noted.outcome.get());
    let valuation = valuation.filter(|_| !broken("errors-5-log"));
    let took = started.elapsed();
    let (status, code) = (
        response.status().as_u16(),
        response.extensions().get::<Code>().copied(),
    );
    let route = Route(noted.route.get().cloned());
    if let (Some(traces), Some((parent, began))) = (traces, parent) {
        traces.record(Traced {
            parent,
            method: method.as_str(),
            route: route.as_str(),
            status,
            request_id: id.to_string(),
            release_id: valuation.map(|v| v.release_id.as_str()),
            began: UNIX_EPOCH + Duration::from_millis(u64::try_from(began.0).unwrap_or(0)),
            took,
        });
    }
    service
        .metrics
        .answered(route, status, code.map(Vocabulary::code), took);
    tracing::info!(
        request_id = %id,
        method = %method,
        path,
        status,
        code = code.map(tracing::field::display),
        tenant = noted.tenant.get(),
        job_id = noted.job.get().map(tracing::field::display),
        execution_id = valuation.map(|v| tracing::field::display(v.execution_id)),
        valuation_id = valuation.map(|v| tracing::field::display(v.valuation_id)),
        rows = valuation.map(|v| v.rows),
        admitted = valuation.map(|v| v.admitted),
        release_id = valuation.map(|v| v.release_id.as_str()),
        outcome = ended.map(|ended| ended.status),
        problem = ended.and_then(|ended| ended.problem.as_deref()),
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response
}
