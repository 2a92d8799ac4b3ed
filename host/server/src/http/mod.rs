//! The service over HTTP: the routes, and the middleware that every request passes.
//!
//! The server assigns a request id and then refuses a request in this order:
//!
//! 1. 401, 404 or 405, then 403.
//! 2. 429 for the rate, then for concurrency, then for capacity.
//! 3. 503 where storage is degraded.
//! 4. 415, 413, the errors of the body, then those of the strict parse.
//! 5. 409 where the `idempotency_key` of a job conflicts. A known key returns its job here.
//! 6. 503 while new jobs are paused.
//! 7. The units, then the work.
//!
//! The server reads no byte of a body before it has checked the key and the scope and holds a slot.
//! Handlers hand parsed rows to `crate::execution`, the one path of a valuation.

mod accept_queue;
mod authenticate;
mod batch;
mod body;
mod chunked_body;
mod client_stream;
pub(crate) mod compression;
mod connection_state;
mod discovery;
pub(crate) mod divided_body;
mod error;
mod framing;
mod gate;
mod guarded_body;
mod jobs;
mod listener;
pub(crate) mod middleware;
mod panic_handler;
mod probes;
mod reference;
mod request_id;
mod routes;
mod row_limits;
mod start_probes;
mod tls;
mod v1;
mod value;

pub use axum::Router;
pub use listener::{IDLE_GRACE, bind, bounded_by_files, serve};
pub use probes::routes as probes;
pub use start_probes::StartProbes;
pub use tls::Tls;

use crate::service::Service;
use authenticate::Authenticator;
use axum::extract::{MatchedPath, State};
use axum::routing::{MethodRouter, get, post};
use divided_body::BodyDivider;
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::job;
use domesday_state::Scope;
use error::{ApiError, unknown_route};
use gate::{Gate, RequiredScope};
use middleware::{Middleware, MiddlewareLayer};
use request_id::RequestIds;
use routes::{EndpointCheck, JobsEndpointCheck, Route};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

const AVM_VALUE: RequiredScope = RequiredScope::Scope(Scope::AvmValue);

/// Returns the routes of a service.
pub fn router(service: Arc<Service>) -> Router {
    // Every keyed route states its scope here, and the one gate checks it.
    let needs = |needs: RequiredScope, route: MethodRouter<Arc<Service>>| {
        let service = service.clone();
        route.route_layer(MiddlewareLayer(Gate { service, needs }))
    };
    let valuation_route = |router: Router<Arc<Service>>, route: Route| {
        let handler = match route.batch {
            true => post(batch::values),
            false => post(value::value),
        };
        let needs = RequiredScope::Scope(route.scope());
        let offered = MiddlewareLayer(EndpointCheck {
            service: service.clone(),
            route,
        });
        let gate = MiddlewareLayer(Gate {
            service: service.clone(),
            needs,
        });
        // Together, since each call of a boxed route clones what is in it.
        router.route(route.path, handler.route_layer((offered, gate)))
    };
    let takes_jobs = MiddlewareLayer(JobsEndpointCheck(service.clone()));
    let keyed = routes::ROUTES
        .into_iter()
        .fold(Router::new(), valuation_route);
    let keyed = v1::routes(keyed, needs)
        .route(
            job::PATH,
            needs(AVM_VALUE, post(jobs::submit)).route_layer(takes_jobs),
        )
        .route(
            "/v3/valuation-jobs/{job_id}",
            needs(AVM_VALUE, get(jobs::status)),
        )
        .route(
            "/v3/valuation-jobs/{job_id}/results",
            needs(AVM_VALUE, get(jobs::results)),
        )
        .route(
            "/v3/releases/current",
            needs(RequiredScope::AnyValuation, get(discovery::current_release)),
        )
        .route(
            "/v3/coverage",
            needs(RequiredScope::AnyValuation, get(discovery::coverage)),
        )
        .fallback(|| async { unknown_route() })
        .method_not_allowed_fallback(other_method_of_release);
    let keyed = wrap_keyed(keyed, Authenticator(service.clone()));
    let open = probes::routes()
        .route("/openapi.json", get(reference::openapi))
        .route("/reference", get(reference::page))
        .route(domesday_openapi::SCALAR_PATH, get(reference::scalar))
        .route(domesday_openapi::START_PATH, get(reference::start))
        .method_not_allowed_fallback(other_method);
    wrap(open, keyed, service.clone()).layer(MiddlewareLayer(RequestIds(service)))
}

/// Puts the layers around the routes behind the key. The innermost layer lets requests in.
fn wrap_keyed<S, A>(keyed: Router<S>, gate: A) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
    A: Middleware,
{
    keyed.layer((
        compression::layer(compression::SMALLEST),
        MiddlewareLayer(BodyDivider),
        MiddlewareLayer(gate),
    ))
}

/// Joins the open routes and those behind the key. Answers a panic of any of them with 500, in the
/// error format of the route that was called.
fn wrap<S: Clone + Send + Sync + 'static>(open: Router<S>, keyed: Router<S>, state: S) -> Router {
    // Every other path, known or not, is behind the key. A route outside this function would be
    // open, so there is none.
    open.fallback_service(keyed.with_state(state.clone()))
        .with_state(state)
        .layer((
            MiddlewareLayer(v1::ErrorRewriter),
            CatchPanicLayer::custom(panic_handler::answer),
        ))
}

/// Refuses another method of a route. One that the current release does not list is as unknown with
/// each method.
async fn other_method_of_release(
    State(service): State<Arc<Service>>,
    path: MatchedPath,
) -> ApiError {
    let release = service.releases.current();
    match routes::endpoint_of(path.as_str()) {
        Some(endpoint) if !release.manifest.endpoints.contains(&endpoint) => unknown_route(),
        _ => other_method().await,
    }
}

async fn other_method() -> ApiError {
    ValidationError::new(
        Code::MethodNotAllowed,
        "The path exists, but not with this method; the Allow header lists what it takes.",
    )
    .into()
}
