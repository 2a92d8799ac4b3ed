//! What a client or its own proxy may keep of an answer.

use super::asked::Asking;
use crate::http::refusal::{Refusal, json};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_breaks::broken;
use domesday_series::catalogue::Family;
use domesday_series::store::Release;
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Seconds that an answer of the current release may be kept: a promotion is seen after so long.
const CURRENT_SECONDS: u32 = 60;
/// Seconds that an answer of a release asked for by its id may be kept.
const PINNED_SECONDS: u32 = 31_536_000;

/// What an answer depends on besides the request's id.
pub struct Basis<'a> {
    /// The release.
    pub release: &'a Release,
    /// Which route.
    pub route: &'static str,
    /// The selection, in one spelling.
    pub selection: &'a [(&'static str, String)],
    /// Observations before it.
    pub position: u64,
    /// Whether the request named its release, so that the answer is the same for ever.
    pub pinned: bool,
    /// Whether the answer holds a cursor, which is one customer's and does not live for ever.
    pub continued: bool,
}

/// The answer, or that the client has it already. What the key may use was checked before: an
/// answer that was kept opens nothing.
pub fn answer<T: Serialize>(
    asking: &Asking,
    family: Family,
    basis: &Basis<'_>,
    body: impl FnOnce() -> Result<T, Refusal>,
) -> Result<Response, Refusal> {
    let tag = tag(asking, family, basis);
    let known = match (&tag, asking.headers.typed_get::<IfNoneMatch>()) {
        (Some(tag), Some(condition)) => {
            !condition.precondition_passes(tag) && !broken("v1-caching-unchanged")
        }
        _ => false,
    };
    let mut response = match known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => json(StatusCode::OK, &body()?),
    };
    let headers = response.headers_mut();
    if let Some(tag) = tag {
        headers.typed_insert(tag);
    }
    let control = match (basis.pinned && !basis.continued) || broken("v1-caching-lifetime") {
        true => format!("private, max-age={PINNED_SECONDS}, immutable"),
        false => format!("private, max-age={CURRENT_SECONDS}"),
    };
    if let Ok(control) = HeaderValue::from_str(&control) {
        headers.insert(header::CACHE_CONTROL, control);
    }
    headers.insert(header::VARY, HeaderValue::from_static("Authorization"));
    Ok(response)
}

/// Weak, since the body's request id is another each time.
fn tag(asking: &Asking, family: Family, basis: &Basis<'_>) -> Option<ETag> {
    let mut hash = Sha256::new();
    let mut put = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    put(&basis.release.digest().to_string());
    put(basis.route);
    put(&basis.position.to_string());
    for (name, value) in basis.selection {
        put(name);
        put(value);
    }
    let prefix = family.as_str();
    for scope in asking.principal.scopes.texts() {
        if scope.starts_with(prefix) && !broken("v1-caching-tag") {
            put(&scope);
        }
    }
    put(&asking.principal.requires_metric_selection.to_string());
    // What is kept must not outlive its cursor, nor be taken for another customer's.
    put(asking.principal.tenant.as_str());
    if basis.continued {
        let secret = asking.service.state.cursor_secrets().current;
        put(&secret.map_or_else(String::new, hex::encode));
    }
    let digest = hex::encode(hash.finalize());
    format!("W/\"{}\"", &digest[..32]).parse().ok()
}
