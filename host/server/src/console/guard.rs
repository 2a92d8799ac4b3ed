//! Middleware of the console: its own origin alone, a session, and headers for browsers.

use super::error::ConsoleError;
use super::upload::{self, HOMES};
use super::{Console, cookie, layout};
use crate::clock::random;
use crate::console_sessions::{ConsoleSessions, Session};
use crate::console_work::MOST_DRAFT_BYTES;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domesday_console::fields::Fields;
use domesday_console::homes_text::decode;
use domesday_state::{Access, Scope};
use maud::html;

/// Scripts, styles and pictures of this origin alone, and no frame around a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The field of a query with the id of a form that waited for a login.
const DRAFT: &str = "draft";

/// The policy of a page with a map over tiles, whose worker is a script of this origin.
pub(super) const MAP_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static CROSS_ORIGIN_OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
static CROSS_ORIGIN_RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Adds the headers that keep other sites away from the pages. Without a referrer a browser would
/// state no origin with a form.
pub(super) async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A report has a stricter policy. A browser refuses a sandboxed page that asks to be alone.
    let policy = headers.get(CONTENT_SECURITY_POLICY);
    let sandboxed = policy.is_some_and(|policy| policy.as_bytes().starts_with(b"sandbox"));
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
    if host.is_none_or(|host| !origin.is_host(host)) {
        return ConsoleError::OtherHost {
            origin: origin.as_str().to_owned(),
        }
        .into_response();
    }
    let safe = [Method::GET, Method::HEAD].contains(request.method());
    if !safe && header(request.headers(), &ORIGIN) != Some(origin.as_str()) {
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
    let Some(sessions) = &console.service.console else {
        return ConsoleError::NoPage.into_response();
    };
    let now = console.service.clock.now();
    let session = match cookie::of_session(sessions.origin(), request.headers()) {
        Ok(Some(cookie)) => sessions.session(&cookie, now),
        Ok(None) if is_from_another_site(&request) => return continue_page(&request),
        Ok(None) => None,
        Err(error) => return error.into_response(),
    };
    let Some(session) = session else {
        return ask_for_session(&console, sessions, request).await;
    };
    let state = &console.service.state;
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

/// Checks that a session has a scope.
///
/// # Errors
/// `Scope`, which names it.
pub(super) fn require_scope(session: &Session, scope: Scope) -> Result<(), ConsoleError> {
    match session.user.scopes.has(scope) {
        true => Ok(()),
        false => Err(ConsoleError::Scope { scope }),
    }
}

/// Reports whether a page of another site led here. The browser sends no cookie then, though it may
/// have one.
fn is_from_another_site(request: &Request) -> bool {
    let from = header(request.headers(), &SEC_FETCH_SITE);
    request.method() == Method::GET && from == Some("cross-site")
}

/// Returns a page that leads to the same path from this site.
fn continue_page(request: &Request) -> Response {
    let path = request.uri().path_and_query();
    let path = path.map_or("/", |path| path.as_str());
    // A browser takes a path that begins with two slashes for another host.
    let path = if path.starts_with("//") { "/" } else { path };
    let content = html! {
        h1 { "Continue to the console" }
        p { "A page of another site led here." }
        p { a href=(path) { "Continue" } }
    };
    let page = layout::page("Continue", None, &content);
    (StatusCode::UNAUTHORIZED, page).into_response()
}

/// Asks for a link, and keeps where the login leads: to the page, or to the form that was sent.
async fn ask_for_session(
    console: &Console,
    sessions: &ConsoleSessions,
    request: Request,
) -> Response {
    let wanted = request.uri().path_and_query();
    let wanted = wanted.map_or_else(|| "/".to_owned(), ToString::to_string);
    let next = match (request.method().clone(), wanted.as_str()) {
        // A part of a map is no page.
        (Method::GET, path) if path.starts_with("/map/") => None,
        (Method::GET, _) => Some(wanted),
        (Method::POST, "/values") => keep_form(console, sessions, request, "/").await,
        (Method::POST, "/jobs") => keep_form(console, sessions, request, "/jobs").await,
        _ => None,
    };
    let mut response = ConsoleError::NoSession.into_response();
    if let Some(path) = next {
        cookie::set_next(&mut response, sessions.origin(), &path);
    }
    response
}

/// Keeps a small form in memory until its sender has logged in. Returns the page that shows it
/// again, whose address holds nothing of it.
async fn keep_form(
    console: &Console,
    sessions: &ConsoleSessions,
    request: Request,
    page: &str,
) -> Option<String> {
    let (parts, body) = request.into_parts();
    let read = upload::read(&parts.headers, body, MOST_DRAFT_BYTES).await;
    let (mut fields, file) = read.ok()?;
    if let Some(file) = file {
        fields.set(HOMES, &decode(&file));
    }
    fields.remove(layout::TOKEN);
    let now = console.service.clock.now();
    let work = sessions.work();
    let id = work.keep_draft(random().ok()?, fields.query(), now);
    Some(format!("{page}?{DRAFT}={id}"))
}

/// Reports whether a query names a form that waited for a login.
pub(super) fn names_draft(query: &Fields) -> bool {
    query.get(DRAFT).is_some()
}

/// Returns the fields of a form that waited for this login, if the query names one.
pub(super) fn draft(console: &Console, query: &Fields) -> Option<Fields> {
    let work = console.service.console.as_ref()?.work();
    let draft = work.draft(query.get(DRAFT)?, console.service.clock.now())?;
    Some(Fields::parse(draft.as_bytes()))
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
