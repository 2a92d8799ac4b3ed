//! A report of the folder, or that of the running shadow, as its page.

use super::Console;
use super::blocking::blocking;
use super::error::ConsoleError;
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domesday_console::reports::{Report, ReportError, ReportsFolder};
use domesday_evaluation::compare::html::page as comparison_page;
use domesday_evaluation::monitor::html::page as monitor_page;
use serde::Deserialize;
use std::sync::Arc;

/// The policy of a report. The page runs no script, sends no form, loads nothing and has no origin.
/// A person who writes a file into the folder reaches no session.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
    form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// The query of a page about a report.
#[derive(Deserialize)]
pub(super) struct ReportChoice {
    /// The name of the file.
    pub(super) name: String,
    /// The segments that a page of drift shows.
    pub(super) by: Option<String>,
}

/// Returns the query of a page about a report.
pub(super) fn query(name: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("name", name).finish()
}

/// Shows a report of the folder.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Query(choice): Query<ReportChoice>,
) -> Result<Response, ConsoleError> {
    let report = read(&console, &session, choice.name).await?;
    let drawing = blocking(move || match report {
        Report::Page(text) => Ok(text),
        Report::Comparison(found) => comparison_page(&found).map_err(|error| error.to_string()),
        Report::Monitor(report) => monitor_page(&report).map_err(|error| error.to_string()),
    });
    let page = drawing.await?.map_err(ConsoleError::State)?;
    Ok(sandboxed_response(page))
}

/// Shows the report of the running shadow.
pub(super) async fn shadow(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
) -> Result<Response, ConsoleError> {
    if !session.user.operator {
        return Err(ConsoleError::NotOperator);
    }
    let service = console.service.clone();
    let drawing = blocking(move || {
        let report = service.shadows.running_report();
        let report = report.ok_or_else(|| "no release runs as a shadow".to_owned())?;
        let report = report.map_err(|error| error.to_string())?;
        comparison_page(&report).map_err(|error| error.to_string())
    });
    let page = drawing.await?.map_err(ConsoleError::State)?;
    Ok(sandboxed_response(page))
}

/// Reads a report that the session may see.
pub(super) async fn read(
    console: &Console,
    session: &Session,
    name: String,
) -> Result<Report, ConsoleError> {
    let folder = console.reports.clone().ok_or(ConsoleError::NoPage)?;
    let reading = blocking(move || ReportsFolder::read(&folder, &name));
    let report = reading.await?.map_err(|error| match error {
        ReportError::Io { .. } => ConsoleError::NoPage,
        other => ConsoleError::Form(other.to_string()),
    })?;
    let user = &session.user;
    match report.kind().is_shown_to(&user.scopes, user.operator) {
        true => Ok(report),
        // Its name is not told either.
        false => Err(ConsoleError::NoPage),
    }
}

fn sandboxed_response(page: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, page).into_response()
}
