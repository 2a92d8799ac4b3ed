//! The synchronous valuation routes, and the middleware that pins a request to its release.

use super::error::{ApiError, unknown_route};
use super::middleware::Middleware;
use crate::service::Service;
use axum::extract::Request;
use domesday_contract::v3::endpoint::Endpoint;
use domesday_contract::v3::job;
use domesday_contract::v3::options::{Depth, Settings};
use domesday_contract::v3::request::Kind;
use domesday_package as package;
use domesday_state::{Principal, Scope};
use domesday_valuation::pipeline::row::RequestContext;
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;
use uuid::Uuid;

/// A synchronous valuation route.
#[derive(Clone, Copy)]
pub struct Route {
    /// Its path.
    pub path: &'static str,
    /// Its name in the manifest of a release.
    endpoint: package::Endpoint,
    /// True if it takes a batch.
    pub batch: bool,
    /// The schema of its rows.
    pub kind: Kind,
    /// The depth of its results.
    pub depth: Depth,
}

/// All synchronous valuation routes.
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
    /// Returns the scope that it requires.
    pub const fn scope(self) -> Scope {
        match self.kind {
            Kind::Existing => Scope::AvmValue,
            Kind::Development => Scope::AvmDevelopment,
        }
    }
}

/// The matched route and its release. Pinned once, so a promotion during the request has no effect
/// on it.
#[derive(Clone)]
pub struct MatchedRoute {
    /// The route.
    pub route: Route,
    /// The release.
    pub release: Arc<OpenRelease>,
}

impl MatchedRoute {
    /// Returns the context of the rows. The orchestrator sets the observer.
    pub fn context(
        &self,
        principal: &Principal,
        settings: Settings,
        execution_id: Uuid,
    ) -> RequestContext {
        RequestContext {
            release: self.release.clone(),
            kind: self.route.kind,
            depth: self.route.depth,
            settings,
            stored_data: principal.scopes.has(Scope::AvmStoredData),
            execution_id,
            observer: None,
        }
    }
}

/// The middleware that pins a request to the current release. A route that the release does not
/// list is 404, as any other unknown path is.
#[derive(Clone)]
pub struct EndpointCheck {
    /// The service.
    pub service: Arc<Service>,
    /// The route.
    pub route: Route,
}

impl Middleware for EndpointCheck {
    type Facts = ();

    fn enter(&self, request: &mut Request) -> Result<(), ApiError> {
        let (release, route) = (self.service.releases.current(), self.route);
        if !release.manifest.endpoints.contains(&route.endpoint) {
            return Err(unknown_route());
        }
        request
            .extensions_mut()
            .insert(MatchedRoute { route, release });
        Ok(())
    }
}

/// The middleware that pins a job submission to the current release.
#[derive(Clone)]
pub struct JobsEndpointCheck(pub Arc<Service>);

impl Middleware for JobsEndpointCheck {
    type Facts = ();

    fn enter(&self, request: &mut Request) -> Result<(), ApiError> {
        let release = self.0.releases.current();
        let jobs = package::Endpoint::ValuationJobs;
        if !release.manifest.endpoints.contains(&jobs) {
            return Err(unknown_route());
        }
        request.extensions_mut().insert(release);
        Ok(())
    }
}

/// Returns the endpoint of a path that a release may leave out.
pub fn endpoint_of(path: &str) -> Option<package::Endpoint> {
    if path == job::PATH {
        return Some(package::Endpoint::ValuationJobs);
    }
    let route = ROUTES.into_iter().find(|route| route.path == path);
    route.map(|route| route.endpoint)
}

/// Returns the scope that a route of the release requires.
pub fn scope(endpoint: package::Endpoint) -> Scope {
    ROUTES
        .into_iter()
        .find(|route| route.endpoint == endpoint)
        // The routes of jobs. A job in development mode requires another scope besides.
        .map_or(Scope::AvmValue, Route::scope)
}

/// Returns the name of an endpoint in the contract.
pub const fn contract_endpoint(endpoint: package::Endpoint) -> Endpoint {
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
