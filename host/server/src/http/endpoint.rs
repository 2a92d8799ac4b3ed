//! The routes that value while the client waits, and which of them a release has.

use super::unknown_route;
use crate::releases::OpenRelease;
use crate::service::Service;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domesday_breaks::broken;
use domesday_contract::v3::endpoint::Endpoint;
use domesday_contract::v3::options::Depth;
use domesday_contract::v3::request::Kind;
use domesday_package as package;
use domesday_state::Scope;
use std::sync::Arc;

/// A valuing route.
#[derive(Clone, Copy)]
pub struct Route {
    /// Its path.
    pub path: &'static str,
    /// As a release's manifest names it.
    endpoint: package::Endpoint,
    /// Whether it takes many rows.
    pub batch: bool,
    /// Of which form its rows are.
    pub kind: Kind,
    /// How much its results may show.
    pub depth: Depth,
}

/// All of them.
pub const ROUTES: [Route; 6] = [
    Route {
        path: "/v3/simple-value",
        endpoint: package::Endpoint::SimpleValue,
        batch: false,
        kind: Kind::Existing,
        depth: Depth::Simple,
    },
    Route {
        path: "/v3/value",
        endpoint: package::Endpoint::Value,
        batch: false,
        kind: Kind::Existing,
        depth: Depth::Standard,
    },
    Route {
        path: "/v3/simple-batch-value",
        endpoint: package::Endpoint::SimpleBatchValue,
        batch: true,
        kind: Kind::Existing,
        depth: Depth::Simple,
    },
    Route {
        path: "/v3/batch-value",
        endpoint: package::Endpoint::BatchValue,
        batch: true,
        kind: Kind::Existing,
        depth: Depth::Standard,
    },
    Route {
        path: "/v3/development-value",
        endpoint: package::Endpoint::DevelopmentValue,
        batch: false,
        kind: Kind::Development,
        depth: Depth::Standard,
    },
    Route {
        path: "/v3/development-batch-value",
        endpoint: package::Endpoint::DevelopmentBatchValue,
        batch: true,
        kind: Kind::Development,
        depth: Depth::Standard,
    },
];

impl Route {
    /// The scope that it needs.
    pub const fn scope(self) -> Scope {
        match self.kind {
            Kind::Existing => Scope::AvmValue,
            Kind::Development => Scope::AvmDevelopment,
        }
    }
}

/// What a request was matched to. The release is pinned here: whatever is promoted meanwhile, all of
/// the request stays on it.
#[derive(Clone)]
pub struct Pinned {
    /// The route.
    pub route: Route,
    /// The release.
    pub release: Arc<OpenRelease>,
}

/// Lets a request on where the active release lists the route; else the route is not there, as any
/// other path that does not exist.
pub async fn offered(
    State((service, route)): State<(Arc<Service>, Route)>,
    mut request: Request,
    next: Next,
) -> Response {
    let release = service.releases.current();
    if !release.manifest.endpoints.contains(&route.endpoint) && !broken("endpoints-5") {
        return unknown_route().into_response();
    }
    request.extensions_mut().insert(Pinned { route, release });
    next.run(request).await
}

/// The same for submissions of jobs, which are given the release itself.
pub async fn takes_jobs(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let release = service.releases.current();
    let jobs = package::Endpoint::ValuationJobs;
    if !release.manifest.endpoints.contains(&jobs) {
        return unknown_route().into_response();
    }
    request.extensions_mut().insert(release);
    next.run(request).await
}

/// The contract's name of a release's endpoint.
pub const fn named(endpoint: package::Endpoint) -> Endpoint {
    match endpoint {
        package::Endpoint::SimpleValue => Endpoint::SimpleValue,
        package::Endpoint::Value => Endpoint::Value,
        package::Endpoint::SimpleBatchValue => Endpoint::SimpleBatchValue,
        package::Endpoint::BatchValue => Endpoint::BatchValue,
        package::Endpoint::DevelopmentValue => Endpoint::DevelopmentValue,
        package::Endpoint::DevelopmentBatchValue => Endpoint::DevelopmentBatchValue,
        package::Endpoint::ValuationJobs => Endpoint::ValuationJobs,
    }
}
