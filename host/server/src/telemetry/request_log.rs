//! The facts of a request that its log line, its trace and its metrics show.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use std::sync::{Arc, OnceLock};
use uuid::Uuid;

/// The name of every method that is not a standard one, as OpenTelemetry has it.
pub const OTHER_METHOD: &str = "_OTHER";

/// Returns the name of a method for logs and traces. A client without a key may send a method of
/// 64 KiB, so one that is not standard has no name.
pub fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::CONNECT => "CONNECT",
        Method::DELETE => "DELETE",
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::TRACE => "TRACE",
        _ => OTHER_METHOD,
    }
}

/// The facts of one request, each set once by the stage that learns it.
#[derive(Clone, Default)]
pub struct RequestLog(Arc<Facts>);

#[derive(Default)]
struct Facts {
    route: OnceLock<MatchedPath>,
    tenant: OnceLock<String>,
    job: OnceLock<Uuid>,
    valuation: OnceLock<LoggedValuation>,
    summary: OnceLock<RequestSummary>,
}

/// The ids and the size of a valuation request.
pub struct LoggedValuation {
    /// The API execution.
    pub execution_id: Uuid,
    /// The valuation of the first row. Those of the other rows count up from it.
    pub valuation_id: Uuid,
    /// Rows of the request.
    pub rows: usize,
    /// Rows that cost a unit.
    pub billable: usize,
    /// The release that the request is pinned to.
    pub release_id: String,
}

/// The outcome of a valuation request.
pub struct RequestSummary {
    /// Its status.
    pub status: &'static str,
    /// The reason why a row has no value, if it has none.
    pub problem: Option<String>,
}

impl RequestLog {
    /// Sets the route that the request matched.
    pub fn set_route(&self, request: &Request) {
        if let Some(matched) = request.extensions().get::<MatchedPath>() {
            let _ = self.0.route.set(matched.clone());
        }
    }

    /// Sets the tenant that the key belongs to.
    pub fn set_tenant(&self, tenant: &str) {
        let _ = self.0.tenant.set(tenant.to_owned());
    }

    /// Sets the job that was accepted or found.
    pub fn set_job(&self, id: Uuid) {
        let _ = self.0.job.set(id);
    }

    /// Sets the ids of the valuation. Call it before the rows run: an operator finds a failure by
    /// these ids.
    pub fn set_valuation(&self, valuation: LoggedValuation) {
        let _ = self.0.valuation.set(valuation);
    }

    /// Sets the outcome of the valuation.
    pub fn set_summary(&self, summary: RequestSummary) {
        let _ = self.0.summary.set(summary);
    }

    /// Returns the route.
    pub fn route(&self) -> Option<&MatchedPath> {
        self.0.route.get()
    }

    /// Returns the tenant.
    pub fn tenant(&self) -> Option<&String> {
        self.0.tenant.get()
    }

    /// Returns the job.
    pub fn job(&self) -> Option<&Uuid> {
        self.0.job.get()
    }

    /// Returns the ids of the valuation.
    pub fn valuation(&self) -> Option<&LoggedValuation> {
        self.0.valuation.get()
    }

    /// Returns the outcome of the valuation.
    pub fn summary(&self) -> Option<&RequestSummary> {
        self.0.summary.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_is_not_standard_is_not_named() {
        for name in [
            "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
        ] {
            assert_eq!(method_name(&name.parse().unwrap()), name);
        }
        for name in ["get", "PROPFIND", &"X".repeat(65_000)] {
            assert_eq!(method_name(&name.parse().unwrap()), OTHER_METHOD);
        }
    }
}
