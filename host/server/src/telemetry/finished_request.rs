//! The content of a request's span.

use std::time::{Duration, SystemTime};

#[cfg(feature = "otlp")]
pub use opentelemetry::Context;

/// The context of a trace, which is never read in a build without the feature `otlp`.
#[cfg(not(feature = "otlp"))]
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
