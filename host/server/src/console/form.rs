//! Forms that a browser sends: their bodies, and the token of their session.

use super::error::ConsoleError;
use super::layout::TOKEN;
use crate::console_sessions::Session;
use axum::body::{Body, Bytes};
use domesday_console::fields::Fields;
use domesday_console::form_token;
use http_body_util::{BodyExt, Limited};
use std::time::Duration;

/// The largest form with a file of homes for a job, bytes.
pub(super) const MAX_BYTES: usize = 9_500_000;
/// The largest form of another kind, bytes. Some need no session.
const MAX_FIELDS_BYTES: usize = 64 << 10;
/// The time that a form has to arrive.
const TIME: Duration = Duration::from_secs(10);

/// Receives a body of no more than some bytes.
///
/// # Errors
/// `Form` if it does not arrive whole and in time.
pub(super) async fn receive(body: Body, most: usize) -> Result<Bytes, ConsoleError> {
    let collect = Limited::new(body, most).collect();
    match tokio::time::timeout(TIME, collect).await {
        Ok(Ok(received)) => Ok(received.to_bytes()),
        Ok(Err(_)) => Err(ConsoleError::Form(format!(
            "it is larger than {most} bytes, or broke off"
        ))),
        Err(_) => Err(ConsoleError::Form(format!(
            "it did not arrive within {} seconds",
            TIME.as_secs()
        ))),
    }
}

/// Reads a form that carries the token of a session.
///
/// # Errors
/// `Form` if it does not arrive whole and in time, `OtherForm` if its token is another's.
pub(super) async fn read_of_session(body: Body, session: &Session) -> Result<Fields, ConsoleError> {
    let fields = read(body).await?;
    match is_of(&fields, session) {
        true => Ok(fields),
        false => Err(ConsoleError::OtherForm),
    }
}

/// Reports whether a form carries the token of a session.
pub(super) fn is_of(fields: &Fields, session: &Session) -> bool {
    let masked = fields.get(TOKEN).unwrap_or_default();
    form_token::is_masked(masked, &session.form_token)
}

/// Reads a form.
///
/// # Errors
/// `Form` if it does not arrive whole and in time.
pub(super) async fn read(body: Body) -> Result<Fields, ConsoleError> {
    Ok(Fields::parse(&receive(body, MAX_FIELDS_BYTES).await?))
}
