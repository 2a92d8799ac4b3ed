//! Errors of the console, and their pages.

use super::layout;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domesday_console::message::render_message;
use domesday_console::tile_archive::TileReadError;
use domesday_state::Scope;
use maud::html;
use std::any::Any;

/// The reason why a page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConsoleError {
    /// There is no such page.
    #[error("there is no such page")]
    NoPage,
    /// The request names another host.
    #[error("this console is at {origin}")]
    OtherHost {
        /// The console's origin.
        origin: String,
    },
    /// A form was sent from a page of another origin.
    #[error("the form was not sent by a page of this console")]
    OtherOrigin,
    /// A form without the token of its session.
    #[error("the form is not of this session; open the page again")]
    OtherForm,
    /// Several cookies of the session's name.
    #[error("the browser sent several cookies named {name}; remove those of this host")]
    Cookies {
        /// The cookie's name.
        name: String,
    },
    /// The session lacks a scope.
    #[error(
        "this page needs the scope {scope}; `domesday console login` opens a session with all scopes"
    )]
    Scope {
        /// The scope.
        scope: Scope,
    },
    /// A value is not kept, or was never made by the session's tenant.
    #[error(
        "this value is not kept here; a host's console keeps the last 200 values of a tenant for 90 \
         days, and an operator finds a value's receipt with `domesday replay --journal JOURNAL \
         --valuation ID`"
    )]
    NoValue,
    /// A job has not ended.
    #[error("the job is still running; it has no results yet")]
    StillRunning,
    /// There is no session.
    #[error("no session is open; `domesday console login` prints a link that opens one")]
    NoSession,
    /// The session's key was revoked, or its tenant is not served.
    #[error("the session's key was revoked, or the tenant {tenant} is disabled; ask the operator")]
    NoAccess {
        /// The tenant.
        tenant: String,
    },
    /// A link is unknown, used or too old.
    #[error(
        "this link is unknown here, was used, or is older than ten minutes; `domesday console login` \
         prints another"
    )]
    Link,
    /// The page is an operator's.
    #[error("this page is for operators; `domesday console login --operator` opens it")]
    NotOperator,
    /// A form's body cannot be read.
    #[error("the form cannot be read: {0}")]
    Form(String),
    /// A file would have more rows than the console reads. The text names the limit and what to do.
    #[error("{0}")]
    TooManyRows(String),
    /// The service's own response cannot be read.
    #[error("the service gave no response that can be read")]
    Response,
    /// The state or the snapshot would not.
    #[error("the service cannot read what the page needs: {0}")]
    State(String),
    /// A range of the map cannot be read.
    #[error(transparent)]
    Tiles(#[from] TileReadError),
    /// The API refused.
    #[error("{message}")]
    Api {
        /// The status of the response.
        status: StatusCode,
        /// Its message.
        message: String,
    },
}

impl ConsoleError {
    fn status(&self) -> StatusCode {
        match self {
            ConsoleError::NoPage | ConsoleError::NoValue => StatusCode::NOT_FOUND,
            ConsoleError::StillRunning => StatusCode::ACCEPTED,
            ConsoleError::OtherHost { .. } => StatusCode::MISDIRECTED_REQUEST,
            ConsoleError::OtherOrigin
            | ConsoleError::OtherForm
            | ConsoleError::Scope { .. }
            | ConsoleError::NoAccess { .. }
            | ConsoleError::Link
            | ConsoleError::NotOperator => StatusCode::FORBIDDEN,
            ConsoleError::NoSession => StatusCode::UNAUTHORIZED,
            ConsoleError::Form(_) | ConsoleError::Cookies { .. } => StatusCode::BAD_REQUEST,
            ConsoleError::TooManyRows(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ConsoleError::Response => StatusCode::INTERNAL_SERVER_ERROR,
            ConsoleError::State(_) => StatusCode::SERVICE_UNAVAILABLE,
            ConsoleError::Tiles(TileReadError::Range) => StatusCode::RANGE_NOT_SATISFIABLE,
            ConsoleError::Tiles(_) => StatusCode::SERVICE_UNAVAILABLE,
            ConsoleError::Api { status, .. } => *status,
        }
    }
}

impl IntoResponse for ConsoleError {
    fn into_response(self) -> Response {
        let status = self.status();
        let content = html! {
            h1 { "This page cannot be shown" }
            p role="alert" { (render_message(&sentence(&self.to_string()))) }
            @if !matches!(self, ConsoleError::NoSession | ConsoleError::NoAccess { .. } | ConsoleError::Link) {
                p { a href="/" { "Go to the first page" } }
            }
        };
        (status, layout::page("Error", None, &content)).into_response()
    }
}

/// Returns a message as a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    let mut sentence = first.unwrap_or_default() + letters.as_str();
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

/// Responds to a panic of a page. The panic itself is in the log.
pub(super) fn answer_panic(_: Box<dyn Any + Send>) -> axum::http::Response<Body> {
    tracing::error!("a page of the console panicked");
    ConsoleError::Response.into_response()
}
