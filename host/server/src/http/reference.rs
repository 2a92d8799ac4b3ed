//! The description of the interface: GET /openapi.json, GET /reference and the scripts of that
//! page, which need no key.

use super::error::{ApiError, internal};
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// A document that never changes while the program runs, with its entity tag.
struct StaticDocument {
    /// All responses share it. Clients without a key may leave thousands of them unread.
    text: Bytes,
    tag: ETag,
}

static DOCUMENT: LazyLock<Option<StaticDocument>> = LazyLock::new(|| {
    domesday_openapi::json()
        .inspect_err(|error| tracing::error!(%error, "the description could not be written"))
        .ok()
        .and_then(StaticDocument::new)
});

static PAGE: LazyLock<Option<StaticDocument>> =
    LazyLock::new(|| StaticDocument::new(domesday_openapi::page()));

static START: LazyLock<Option<StaticDocument>> =
    LazyLock::new(|| StaticDocument::new(domesday_openapi::START));

/// Scripts of this origin alone. Scalar writes its styles into the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
);
/// The path of Scalar has its version, so the file at a path never changes.
const CACHE_FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Serves the page for people.
pub async fn page(headers: HeaderMap) -> Result<Response, ApiError> {
    let page = PAGE.as_ref().ok_or_else(internal)?;
    let mut response = page.answer(&headers, "text/html; charset=utf-8");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    Ok(response)
}

/// Serves the script that starts Scalar.
pub async fn start(headers: HeaderMap) -> Result<Response, ApiError> {
    let script = START.as_ref().ok_or_else(internal)?;
    Ok(script.answer(&headers, "text/javascript; charset=utf-8"))
}

/// Serves Scalar as it is packed. Every browser unpacks gzip, and programs have no use for it.
pub async fn scalar() -> Response {
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/javascript; charset=utf-8"),
        ),
        (header::CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        (header::CACHE_CONTROL, CACHE_FOR_EVER),
    ];
    (headers, domesday_openapi::SCALAR).into_response()
}

/// Serves the OpenAPI document.
pub async fn openapi(headers: HeaderMap) -> Result<Response, ApiError> {
    let document = DOCUMENT.as_ref().ok_or_else(internal)?;
    Ok(document.answer(&headers, "application/json"))
}

impl StaticDocument {
    fn new(text: impl Into<Bytes>) -> Option<StaticDocument> {
        let text = text.into();
        let digest = hex::encode(Sha256::digest(&text));
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    #[tokio::test]
    async fn responses_share_the_memory_of_a_document() {
        let document = StaticDocument::new("{}".repeat(1_000)).unwrap();
        let headers = HeaderMap::new();
        let responses = [(); 2].map(|()| document.answer(&headers, "application/json"));
        for response in responses {
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            assert_eq!(body, document.text);
            assert_eq!(body.as_ptr(), document.text.as_ptr());
        }
    }
}
