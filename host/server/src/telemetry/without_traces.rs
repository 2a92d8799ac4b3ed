//! Stands in for the export of traces in a build without the feature `otlp`.

use axum::http::HeaderMap;
use std::time::{Duration, SystemTime};

/// The reason why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The program was built without the exporter.
    #[error("this build exports no traces: build it with --features otlp")]
    Absent,
}

/// An exporter, which is never made.
pub enum Traces {}

/// The context of a trace, which is never read.
pub enum Context {}

/// A finished request.
pub struct FinishedRequest<'a> {
    /// The context of its header `traceparent`.
    pub parent: Context,
    /// The method.
    pub method: &'a str,
    /// The route's template.
    pub route: &'a str,
    /// The status of the response.
    pub status: u16,
    /// The request's id.
    pub request_id: String,
    /// The release that valued it, if any.
    pub release_id: Option<&'a str>,
    /// The start.
    pub began: SystemTime,
    /// The duration.
    pub took: Duration,
}

impl Traces {
    /// Refuses any collector.
    ///
    /// # Errors
    /// [`TracesError::Absent`], always.
    pub fn to(_endpoint: &str) -> Result<Traces, TracesError> {
        Err(TracesError::Absent)
    }

    /// Is never called.
    pub fn parent(&self, _: &HeaderMap) -> Context {
        match *self {}
    }

    /// Is never called.
    pub fn record(&self, _: FinishedRequest<'_>) {
        match *self {}
    }

    /// Is never called.
    pub fn stop(&self) {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_names_the_missing_feature() {
        let error = Traces::to("http://127.0.0.1:4318/v1/traces").err().unwrap();
        assert!(error.to_string().contains("--features otlp"), "{error}");
    }
}
