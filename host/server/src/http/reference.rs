//! The description of the interface: GET /openapi.json and GET /reference, which need no key.

use super::error::{ApiError, internal};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const CACHE: &str = "public, max-age=300";

/// A document that never changes while the program runs, with its entity tag.
struct Fixed {
    text: String,
    tag: String,
}

static DOCUMENT: LazyLock<Option<Fixed>> = LazyLock::new(|| {
    domesday_openapi::json()
        .inspect_err(|error| tracing::error!(%error, "the description could not be written"))
        .ok()
        .map(Fixed::new)
});

static PAGE: LazyLock<Option<Fixed>> = LazyLock::new(|| {
    domesday_openapi::page()
        .inspect_err(|error| tracing::error!(%error, "the reference could not be written"))
        .ok()
        .map(Fixed::new)
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

impl Fixed {
    fn new(text: String) -> Fixed {
        let digest = Sha256::digest(text.as_bytes());
        let tag = digest
            .iter()
            .take(16)
            .fold("\"".to_owned(), |tag, byte| format!("{tag}{byte:02x}"));
        Fixed {
            text,
            tag: tag + "\"",
        }
    }

    /// Responds with the text, or with 304 where the client has it already.
    fn answer(&self, headers: &HeaderMap, media_type: &'static str) -> Response {
        let common: [(HeaderName, &str); 2] =
            [(header::ETAG, &self.tag), (header::CACHE_CONTROL, CACHE)];
        let cached = headers
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.tag);
        if cached {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        (
            common,
            [(header::CONTENT_TYPE, media_type)],
            self.text.clone(),
        )
            .into_response()
    }
}
