//! Stands in for the export of traces in a build without the feature `otlp`.

use axum::http::HeaderMap;
use std::path::Path;
use std::time::Duration;
use tracing::Span;
use tracing_subscriber::layer::Identity;

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
    pub fn to(_endpoint: &str, _authorities: Option<&Path>) -> Result<Traces, TracesError> {
        Err(TracesError::Absent)
    }

    /// Does nothing: no value of this type exists.
    pub fn layer(&self) -> Identity {
        match *self {}
    }

    /// Does nothing: no value of this type exists.
    pub fn stop(&self, _: Duration) {
        match *self {}
    }
}

/// Does nothing: no span is sent.
pub fn rename(_: &Span, _: String) {}

/// Does nothing: no span is sent.
pub fn set_parent(_: &Span, _: &HeaderMap) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_names_the_missing_feature() {
        let endpoint = "http://127.0.0.1:4318/v1/traces";
        let error = Traces::to(endpoint, None).err().unwrap();
        assert!(error.to_string().contains("--features otlp"), "{error}");
    }
}
