//! Middleware that rewrites v3 error bodies as v1 error bodies on /v1 routes.

use crate::http::error::{ApiError, ResponseError, json};
use crate::http::middleware::Middleware;
use crate::http::request_id::RequestId;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use domesday_contract::v1::error::ErrorBody;
use std::future::Future;

/// The paths of series.
const PREFIX: &str = "/v1/";

/// The middleware that rewrites the v3 error body of a /v1 route as a v1 error body.
#[derive(Clone)]
pub struct ErrorRewriter;

impl Middleware for ErrorRewriter {
    /// The id of a request of a /v1 route.
    type Facts = Option<RequestId>;

    fn enter(&self, request: &mut Request) -> Result<Option<RequestId>, ApiError> {
        let series = request.uri().path().starts_with(PREFIX);
        let id = || request.extensions().get::<RequestId>().copied();
        Ok(series.then(id).flatten())
    }

    async fn respond(
        id: Option<RequestId>,
        responding: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        let mut response = responding.await;
        let refused = response.extensions_mut().remove::<ResponseError>();
        match (id, refused) {
            (Some(id), Some(refused)) => rewrite(response, id, refused),
            _ => response,
        }
    }
}

fn rewrite(
    response: Response,
    RequestId(id): RequestId,
    ResponseError(error): ResponseError,
) -> Response {
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
