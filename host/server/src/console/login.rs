//! Opening a session by a one-time link, and ending it.

use super::blocking::blocking;
use super::error::ConsoleError;
use super::{Console, cookie, form, layout};
use crate::clock::random;
use crate::console_sessions::{ConsoleUser, SESSION_MILLIS, Session};
use crate::service::Service;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use domesday_console::fields::Fields;
use domesday_state::{KeySeed, NewKey, UnixMillis};
use maud::html;
use std::sync::Arc;

/// The label of the keys of sessions.
const LABEL: &str = "console session";

/// Shows a link's user, and a button that opens the session. A program that only looks at the link
/// does not use it up.
pub(super) async fn page(
    State(console): State<Console>,
    request: Request,
) -> Result<Response, ConsoleError> {
    let fields = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    let token = fields.get("token").ok_or(ConsoleError::Link)?;
    let sessions = console.service.console.as_ref();
    let now = console.service.clock.now();
    let user = sessions
        .and_then(|sessions| sessions.user_of_link(token, now))
        .ok_or(ConsoleError::Link)?;
    let content = html! {
        h1 { "Open the console" }
        p {
            "This link opens one session for the tenant " strong { (user.tenant) }
            @if user.operator { ", with the pages of operation" }
            ". It ends after eight hours."
        }
        form method="post" action="/login" {
            input type="hidden" name="token" value=(token);
            button.primary autofocus { "Open the console" }
        }
    };
    Ok(layout::page("Open the console", None, &content))
}

/// Uses a link up and opens its session. The cookie is new, whatever the browser sent.
pub(super) async fn login(
    State(console): State<Console>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ConsoleError> {
    let fields = form::read(body).await?;
    let service = console.service.clone();
    let sessions = service.console.as_ref().ok_or(ConsoleError::NoPage)?;
    let token = fields.get("token").ok_or(ConsoleError::Link)?;
    let user = sessions
        .redeem(token, service.clock.now())
        .ok_or(ConsoleError::Link)?;
    let made = console.service.clone();
    // A key that is made too late opens nothing, since nobody has its secret.
    let session = blocking(move || begin(&made, user)).await?;
    let session = session.map_err(ConsoleError::State)?;
    let random = random().map_err(|error| ConsoleError::State(error.to_string()))?;
    let origin = sessions.origin();
    let wanted = cookie::next(origin, &headers);
    let wanted = wanted.unwrap_or_else(|| layout::first_page(&session.user).to_owned());
    let mut response = Redirect::to(&wanted).into_response();
    let value = sessions.begin(session, random);
    cookie::set_session(&mut response, origin, &value, SESSION_MILLIS / 1000);
    cookie::end_next(&mut response, origin);
    Ok(response)
}

/// Makes the key of a session. Blocks.
fn begin(service: &Service, user: ConsoleUser) -> Result<Session, String> {
    let now = service.clock.now();
    let expires = UnixMillis(now.0 + SESSION_MILLIS);
    let key = NewKey {
        tenant: user.tenant.clone(),
        label: LABEL.to_owned(),
        scopes: user.scopes.clone(),
        requires_metric_selection: false,
        expires_at: Some(expires),
    };
    let seed = KeySeed::new(random().map_err(|error| error.to_string())?);
    let created = service.state.create_key(&key, seed, now);
    let created = created.map_err(|error| error.to_string())?;
    let form_token: [u8; 16] = random().map_err(|error| error.to_string())?;
    Ok(Session {
        user,
        key: created.secret,
        key_id: created.id,
        form_token: hex::encode(form_token),
        expires,
    })
}

/// Ends a session, and revokes its key.
pub(super) async fn logout(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ConsoleError> {
    form::read_of_session(body, &session).await?;
    let service = console.service.clone();
    let sessions = service.console.as_ref().ok_or(ConsoleError::NoPage)?;
    let origin = sessions.origin();
    if let Some(cookie) = cookie::of_session(origin, &headers)? {
        sessions.end(&cookie);
    }
    let revoking = console.service.clone();
    let key = session.key_id;
    let revoked = blocking(move || revoking.state.revoke_key(key, revoking.clock.now())).await;
    let revoked = revoked.map_err(|late| late.to_string());
    if let Err(error) = revoked.and_then(|done| done.map_err(|error| error.to_string())) {
        tracing::warn!(%error, "the key of a console session could not be revoked; it expires");
    }
    let content = html! {
        h1 { "Logged out" }
        p { "The session has ended and its key opens nothing. "
            code { "domesday console login" } " prints a link for another." }
    };
    let mut page = layout::page("Logged out", None, &content);
    cookie::set_session(&mut page, origin, "", 0);
    Ok(page)
}
