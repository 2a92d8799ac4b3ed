//! Responses of the stub, in the form of the service's.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use domesday_contract::error::ErrorBody;
use futures_util::stream;
use std::io;

/// Returns the bytes of an error body.
pub fn error_body(body: &ErrorBody) -> Bytes {
    serde_json::to_vec(body).unwrap_or_default().into()
}

/// Returns a response that the server cannot write. So it ends the connection.
pub fn lose_connection() -> Response {
    let cut = io::Error::new(io::ErrorKind::ConnectionAborted, "the sandbox cuts it");
    Response::new(Body::from_stream(stream::iter([Err::<Bytes, _>(cut)])))
}

/// Returns a response with another body of JSON.
pub fn replace_body(response: Response, body: impl Into<Bytes>) -> Response {
    let (mut parts, _) = response.into_parts();
    for name in [header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
        parts.headers.remove(name);
    }
    let json = HeaderValue::from_static("application/json");
    parts.headers.insert(header::CONTENT_TYPE, json);
    Response::from_parts(parts, Body::from(body.into()))
}
