//! Stands in for the export of traces in a build without the feature `otlp`.

use super::finished_request::{Context, FinishedRequest};
use axum::http::HeaderMap;
use std::time::Duration;

/// The reason why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The program was built without the exporter.
    #[error("this build exports no traces: build it with --features otlp")]
    Absent,
}

/// An exporter, which is never made.
pub enum Traces {}

impl Traces {
    /// Refuses any collector.
    ///
    /// # Errors
    /// [`TracesError::Absent`], always.
    pub fn to(_endpoint: &str) -> Result<Traces, TracesError> {
        Err(TracesError::Absent)
    }

    /// Does nothing: no value of this type exists.
    pub fn parent(&self, _: &HeaderMap) -> Context {
        match *self {}
    }

    /// Does nothing: no value of this type exists.
    pub fn record(&self, _: FinishedRequest<'_>) {
        match *self {}
    }

    /// Does nothing: no value of this type exists.
    pub fn stop(&self, _: Duration) {
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
