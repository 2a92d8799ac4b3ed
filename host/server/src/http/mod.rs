//! The service over HTTP: what every request goes through, and the routes.
//!
//! In order: a request id; 401; 404 or 405; 403; 429 for the rate, then for concurrency, then for
//! capacity; 503 where nothing can be kept; 415; 413; the body; the strict parse; units; work.
//! Nothing of a body is read before the key, the scope and a slot are had.

mod authenticate;
mod batch;
mod body;
mod connection;
mod discovery;
mod endpoint;
mod intake;
mod jobs;
mod listener;
mod panics;
mod probes;
mod reference;
mod refusal;
mod request_id;
mod single;
mod spoilt;
mod tls;
mod v1;

pub use body::{ROOM_BYTES as BODY_ROOM_BYTES, room as body_room};
pub use listener::{bind, serve};
pub use tls::Tls;

use crate::service::Service;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};
use domesday_contract::error::{Code, Fault};
use domesday_state::Scope;
use endpoint::Route;
use intake::Needs;
use refusal::Refusal;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

const AVM_VALUE: Needs = Needs::Scope(Scope::AvmValue);

/// The routes of a service.
pub fn router(service: Arc<Service>) -> Router {
    spoilt::spoilt(routes(service))
}

fn routes(service: Arc<Service>) -> Router {
    // Every keyed route states what it needs here, and is let in by the one intake.
    let needs = |needs: Needs, route: MethodRouter<Arc<Service>>| {
        route.route_layer(from_fn_with_state((service.clone(), needs), intake::intake))
    };
    let valuing = |router: Router<Arc<Service>>, route: Route| {
        let handler = match route.batch {
            true => post(batch::values),
            false => post(single::value),
        };
        let handler = needs(Needs::Scope(route.scope()), handler);
        let offered = from_fn_with_state((service.clone(), route), endpoint::offered);
        router.route(route.path, handler.route_layer(offered))
    };
    let takes_jobs = from_fn_with_state(service.clone(), endpoint::takes_jobs);
    let keyed = endpoint::ROUTES.into_iter().fold(Router::new(), valuing);
    let keyed = v1::routes(keyed, needs)
        .route(
            "/v3/valuation-jobs",
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
            needs(Needs::AnyValuation, get(discovery::current_release)),
        )
        .route(
            "/v3/coverage",
            needs(Needs::AnyValuation, get(discovery::coverage)),
        )
        .fallback(|| async { unknown_route() })
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(
            service.clone(),
            authenticate::authenticate,
        ));
    // A route added outside this function would be open, so there is none: a path that is none of
    // these is behind the key, known or not.
    Router::new()
        .route("/healthz", get(probes::healthy))
        .route("/readyz", get(probes::ready))
        .route("/openapi.json", get(reference::openapi))
        .route("/reference", get(reference::page))
        .method_not_allowed_fallback(other_method)
        .fallback_service(keyed.with_state(service.clone()))
        .with_state(service.clone())
        .layer(CatchPanicLayer::custom(panics::answer))
        .layer(from_fn(v1::in_the_words_of_series))
        .layer(from_fn_with_state(service, request_id::request_id))
}

fn unknown_route() -> Refusal {
    Fault::new(
        Code::RouteNotFound,
        "There is no such path. The routes are listed at /reference.",
    )
    .into()
}

async fn other_method() -> Refusal {
    Fault::new(
        Code::MethodNotAllowed,
        "The path exists, but not with this method; the Allow header lists what it takes.",
    )
    .into()
}
