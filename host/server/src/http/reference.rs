//! The description of the interface: GET /openapi.json and GET /reference, which need no key.

use super::error::{ApiError, internal};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// A document that never changes while the program runs, with its entity tag.
struct StaticDocument {
    text: String,
    tag: ETag,
}

static DOCUMENT: LazyLock<Option<StaticDocument>> = LazyLock::new(|| {
    domesday_openapi::json()
        .inspect_err(|error| tracing::error!(%error, "the description could not be written"))
        .ok()
        .and_then(StaticDocument::new)
});

static PAGE: LazyLock<Option<StaticDocument>> = LazyLock::new(|| {
    domesday_openapi::page()
        .inspect_err(|error| tracing::error!(%error, "the reference could not be written"))
        .ok()
        .and_then(StaticDocument::new)
});

/// Serves the page for people.
pub async fn page(headers: HeaderMap) -> Result<Response, ApiError> {
    let page = PAGE.as_ref().ok_or_else(internal)?;
    Ok(page.answer(&headers, "text/html; charset=utf-8"))
}

/// Serves the OpenAPI document.
pub async fn openapi(headers: HeaderMap) -> Result<Response, ApiError> {
    let document = DOCUMENT.as_ref().ok_or_else(internal)?;
    Ok(document.answer(&headers, "application/json"))
}

impl StaticDocument {
    fn new(text: String) -> Option<StaticDocument> {
        let digest = hex::encode(Sha256::digest(text.as_bytes()));
        let tag = format!("\"{}\"", &digest[..32]).parse().ok()?;
        Some(StaticDocument { text, tag })
    }

    /// Responds with the text, or with 304 where the client has it already.
    fn answer(&self, headers: &HeaderMap, media_type: &'static str) -> Response {
        let cached = headers
            .typed_get::<IfNoneMatch>()
            .is_some_and(|condition| !condition.precondition_passes(&self.tag));
        let mut response = match cached {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, media_type)], self.text.clone()).into_response(),
        };
        let headers = response.headers_mut();
        headers.typed_insert(self.tag.clone());
        headers.insert(header::CACHE_CONTROL, CACHE);
        response
    }
}
