//! The stage cache key: ETag and Cache-Control, for conditional GET and for caches of the client.

use super::query::SeriesQuery;
use crate::http::error::json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_series::catalogue::Family;
use domesday_series::store::Release;
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Seconds that a cache may keep an answer of the current release. A promotion shows after them.
const CURRENT_SECONDS: u32 = 60;
/// Seconds that a cache may keep an answer of a release that the request names.
const PINNED_SECONDS: u32 = 31_536_000;

/// The facts that determine an answer, apart from the request id.
pub struct Basis<'a> {
    /// The release.
    pub release: &'a Release,
    /// The route.
    pub route: &'static str,
    /// The selection in canonical form.
    pub selection: &'a [(&'static str, String)],
    /// Observations before the page.
    pub position: u64,
    /// True if the request names the release, so that the answer never changes.
    pub pinned: bool,
    /// True if the answer holds a cursor, which belongs to one customer and expires.
    pub continued: bool,
}

/// The validator and the freshness of an answer.
///
/// Compute it only after the request is authorized: an answer that a client kept opens nothing.
pub struct CacheKey {
    tag: Option<ETag>,
    control: String,
}

impl CacheKey {
    /// Returns the cache key of an answer to this request.
    pub fn new(request: &SeriesQuery, family: Family, basis: &Basis<'_>) -> CacheKey {
        let key = key_facts(request, family, basis.continued);
        CacheKey {
            tag: tag(request.service.program, &key, basis),
            control: match basis.pinned && !basis.continued {
                true => format!("private, max-age={PINNED_SECONDS}, immutable"),
                false => format!("private, max-age={CURRENT_SECONDS}"),
            },
        }
    }

    /// Returns 304 where the client has the answer already.
    pub fn not_modified(&self, headers: &HeaderMap) -> Option<Response> {
        let condition = headers.typed_get::<IfNoneMatch>()?;
        let modified = condition.precondition_passes(self.tag.as_ref()?);
        (!modified).then(|| self.on(StatusCode::NOT_MODIFIED.into_response()))
    }

    /// Renders the answer.
    pub fn respond<T: Serialize>(&self, body: &T) -> Response {
        self.on(json(StatusCode::OK, body))
    }

    fn on(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        if let Some(tag) = &self.tag {
            headers.typed_insert(tag.clone());
        }
        if let Ok(control) = HeaderValue::from_str(&self.control) {
            headers.insert(header::CACHE_CONTROL, control);
        }
        let vary = HeaderValue::from_static("Authorization, Accept-Encoding");
        headers.insert(header::VARY, vary);
        response
    }
}

/// Returns the facts about the key that determine an answer. `continued`: the answer has a cursor.
fn key_facts(request: &SeriesQuery, family: Family, continued: bool) -> Vec<String> {
    let principal = &request.principal;
    let mut facts = principal.scopes.texts();
    facts.retain(|scope| scope.starts_with(family.as_str()));
    facts.push(principal.requires_metric_selection.to_string());
    // A cached answer must not outlive its cursor, nor match for another customer.
    facts.push(principal.tenant.to_string());
    if continued {
        let secret = request.service.state.cursor_secrets().current;
        facts.push(secret.map_or_else(String::new, hex::encode));
    }
    facts
}

/// Returns the weak validator. The request id in the body differs each time, so it is not strong.
fn tag(program: &str, key: &[String], basis: &Basis<'_>) -> Option<ETag> {
    let mut hash = Sha256::new();
    let mut put = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    // The catalogue and the texts are the program's, so a later one may answer otherwise.
    put(program);
    put(&basis.release.digest().to_string());
    put(basis.route);
    put(&basis.position.to_string());
    for (name, value) in basis.selection {
        put(name);
        put(value);
    }
    for fact in key {
        put(fact);
    }
    let digest = hex::encode(hash.finalize());
    format!("W/\"{}\"", &digest[..32]).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::{Full, Trust};
    use std::path::Path;

    #[test]
    fn a_tag_is_of_the_program_that_answered() {
        let releases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases");
        let package = releases.join("markets/synthetic-markets-2026-10");
        let release = Release::open(&package, Family::Markets, &Trust::Unsigned, &Full).unwrap();
        let basis = Basis {
            release: &release,
            route: "datasets",
            selection: &[],
            position: 0,
            pinned: false,
            continued: false,
        };
        let tag_of = |program| tag(program, &[], &basis).unwrap();
        assert_eq!(tag_of("1.0.0 abc"), tag_of("1.0.0 abc"));
        assert_ne!(tag_of("1.0.0 abc"), tag_of("1.0.0 def"));
    }
}
