//! Middleware that rewrites v3 error bodies as v1 error bodies on /v1 routes.

use crate::http::error::{ResponseError, json};
use crate::http::request_id::RequestId;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::Response;
use domesday_contract::v1::error::ErrorBody;

/// The paths of series.
const PREFIX: &str = "/v1/";

/// Rewrites the v3 error body of a /v1 route as a v1 error body.
pub async fn rewrite_errors_as_v1(request: Request, next: Next) -> Response {
    let series = request.uri().path().starts_with(PREFIX);
    let id = request.extensions().get::<RequestId>().copied();
    let mut response = next.run(request).await;
    let refused = response.extensions_mut().remove::<ResponseError>();
    let (true, Some(ResponseError(error)), Some(RequestId(id))) = (series, refused, id) else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let rewritten = json(parts.status, &ErrorBody::new(id.to_string(), error));
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        parts.headers.remove(&name);
        if let Some(value) = rewritten.headers().get(&name) {
            parts.headers.insert(name, value.clone());
        }
    }
    Response::from_parts(parts, rewritten.into_body())
}
