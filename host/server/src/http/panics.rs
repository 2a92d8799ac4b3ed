//! A panic while a request is answered is that request's alone.

use super::refusal::{Refusal, internal};
use axum::response::{IntoResponse, Response};
use std::any::Any;

/// The answer to a request whose handler panicked: 500 `internal`, and a log line.
pub fn answer(panic: Box<dyn Any + Send + 'static>) -> Response {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("nothing");
    tracing::error!(said, "the answer to a request panicked");
    Refusal::from(internal()).into_response()
}
