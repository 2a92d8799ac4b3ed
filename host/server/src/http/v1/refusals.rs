//! Refusals on the routes of series, which have an error body of their own: a refusal anywhere on the
//! way in is written again in these words.

use crate::http::refusal::{Refused, json};
use crate::http::request_id::RequestId;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::Response;
use domesday_contract::v1::error::ErrorBody;

/// The paths of series.
const PREFIX: &str = "/v1/";

/// Writes the refusals of these routes as this interface has them.
pub async fn in_the_words_of_series(request: Request, next: Next) -> Response {
    let series = request.uri().path().starts_with(PREFIX);
    let id = request.extensions().get::<RequestId>().copied();
    let mut response = next.run(request).await;
    let refused = response.extensions_mut().remove::<Refused>();
    let (true, Some(Refused(fault)), Some(RequestId(id))) = (series, refused, id) else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let rewritten = json(parts.status, &ErrorBody::new(id.to_string(), fault));
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        parts.headers.remove(&name);
        if let Some(value) = rewritten.headers().get(&name) {
            parts.headers.insert(name, value.clone());
        }
    }
    Response::from_parts(parts, rewritten.into_body())
}
