//! `X-Service-Request-Id` on every answer, and one log line a request that carries it.

use crate::clock::new_id;
use crate::service::Service;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use domesday_contract::error::Code;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use uuid::Uuid;

/// The header's name.
pub static HEADER: HeaderName = HeaderName::from_static("x-service-request-id");

/// What a request's log line says besides its own facts, filled in on the way.
#[derive(Clone, Default)]
pub struct Trail(Arc<Noted>);

#[derive(Default)]
struct Noted {
    tenant: OnceLock<String>,
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
    /// Notes whose request it is.
    pub fn tenant(&self, tenant: &str) {
        let _ = self.0.tenant.set(tenant.to_owned());
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

/// Gives every request its id, and logs how it ended.
pub async fn request_id(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = new_id(&*service.clock);
    let trail = Trail::default();
    request.extensions_mut().insert(trail.clone());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());

    let mut response = next.run(request).await;
    let mut text = Uuid::encode_buffer();
    if let Ok(value) = HeaderValue::from_str(id.as_hyphenated().encode_lower(&mut text)) {
        response.headers_mut().insert(HEADER.clone(), value);
    }
    let noted = &trail.0;
    let (valuation, ended) = (noted.valuation.get(), noted.outcome.get());
    tracing::info!(
        request_id = %id,
        method = %method,
        path,
        status = response.status().as_u16(),
        code = response.extensions().get::<Code>().map(tracing::field::display),
        tenant = noted.tenant.get(),
        execution_id = valuation.map(|v| tracing::field::display(v.execution_id)),
        valuation_id = valuation.map(|v| tracing::field::display(v.valuation_id)),
        rows = valuation.map(|v| v.rows),
        admitted = valuation.map(|v| v.admitted),
        release_id = valuation.map(|v| v.release_id.as_str()),
        outcome = ended.map(|ended| ended.status),
        problem = ended.and_then(|ended| ended.problem.as_deref()),
        micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response
}
