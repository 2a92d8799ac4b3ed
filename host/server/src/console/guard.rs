//! Middleware of the console: its own origin alone, a session, and headers for browsers.

use super::Console;
use super::error::ConsoleError;
use crate::console_sessions::Session;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domesday_state::Access;
use std::sync::Arc;

/// The name of the cookie.
pub(super) const SESSION_COOKIE: &str = "domesday_console";

/// Scripts, styles and pictures of this origin alone, and no frame around a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

static CROSS_ORIGIN_OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
static CROSS_ORIGIN_RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Adds the headers that keep other sites away from the pages. Without a referrer a browser would
/// state no origin with a form.
pub(super) async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A report has a stricter policy. A browser refuses a sandboxed page that asks to be alone.
    let sandboxed = headers.contains_key(CONTENT_SECURITY_POLICY);
    let opener = if sandboxed {
        "unsafe-none"
    } else {
        "same-origin"
    };
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (CROSS_ORIGIN_OPENER.clone(), opener),
        (CROSS_ORIGIN_RESOURCE.clone(), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests that name another host, or come from a page of another origin. A name that an
/// attacker points at this address opens nothing.
pub(super) async fn require_own_origin(
    State(console): State<Console>,
    request: Request,
    next: Next,
) -> Response {
    let Some(sessions) = &console.service.console else {
        return ConsoleError::NoPage.into_response();
    };
    let origin = sessions.origin();
    let host = header(request.headers(), &HOST);
    if host.is_none_or(|host| !is_host_of(origin, host)) {
        return ConsoleError::OtherHost {
            origin: origin.to_owned(),
        }
        .into_response();
    }
    let safe = [Method::GET, Method::HEAD].contains(request.method());
    if !safe && header(request.headers(), &ORIGIN) != Some(origin) {
        return ConsoleError::OtherOrigin.into_response();
    }
    next.run(request).await
}

/// Attaches the session of the request's cookie, or asks for a link. A session ends with its key
/// and its tenant's access.
pub(super) async fn require_session(
    State(console): State<Console>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(session) = session(&console, request.headers()) else {
        return ConsoleError::NoSession.into_response();
    };
    let (state, now) = (&console.service.state, console.service.clock.now());
    match state.authenticate(session.key.expose(), now) {
        Ok(Access::Granted(_)) => {}
        Ok(Access::Disabled { .. } | Access::Denied(_)) => {
            return ConsoleError::NoAccess {
                tenant: session.user.tenant.to_string(),
            }
            .into_response();
        }
        Err(error) => return ConsoleError::State(error.to_string()).into_response(),
    }
    request.extensions_mut().insert(session);
    next.run(request).await
}

/// Returns the session of a request's cookie.
pub(super) fn session(console: &Console, headers: &HeaderMap) -> Option<Arc<Session>> {
    let sessions = console.service.console.as_ref()?;
    sessions.session(&cookie(headers)?, console.service.clock.now())
}

/// Returns the value of the console's cookie.
pub(super) fn cookie(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(COOKIE).iter();
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(name, _)| *name == SESSION_COOKIE);
    found.map(|(_, value)| value.to_owned())
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_host_of(origin: &str, host: &str) -> bool {
    origin
        .split_once("://")
        .is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_that_of_the_origin() {
        assert!(is_host_of("http://127.0.0.1:8081", "127.0.0.1:8081"));
        for other in ["127.0.0.1", "127.0.0.1:80", "evil.example:8081", ""] {
            assert!(!is_host_of("http://127.0.0.1:8081", other), "{other}");
        }
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, "a=1; domesday_console=ab".parse().unwrap());
        assert_eq!(cookie(&headers).as_deref(), Some("ab"));
        headers.clear();
        headers.append(COOKIE, "xdomesday_console=ab".parse().unwrap());
        assert_eq!(cookie(&headers), None);
    }
}
