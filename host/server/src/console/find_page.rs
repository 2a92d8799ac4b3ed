//! The results of a search for an address.

use super::error::ConsoleError;
use super::guard::require_scope;
use super::{Console, address_search, form, layout, value_form};
use crate::console_sessions::Session;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use domesday_state::Scope;
use maud::html;
use std::sync::Arc;

/// The field of a script, which wants the results alone.
const PART: &str = "part";

/// Searches the address directory. A script gets the results alone, and a browser without scripts
/// the page of the form.
pub(super) async fn find(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    body: Body,
) -> Result<Response, ConsoleError> {
    let fields = form::read_of_session(body, &session).await?;
    require_scope(&session, Scope::AvmValue)?;
    let typed = fields.get(address_search::TYPED).unwrap_or_default();
    let found = address_search::addresses(&console, typed).await?;
    let results = address_search::results(typed, &found.ok_or(ConsoleError::NoPage)?);
    if fields.get(PART).is_some() {
        return Ok(Html(results.into_string()).into_response());
    }
    let content = html! {
        h1 { (value_form::TITLE) }
        (address_search::search(&session, typed, Some(&results)))
        (value_form::form(&session, &console.new_form_id(), &value_form::blank(&console), None, &[]))
    };
    Ok(layout::page(value_form::TITLE, Some(&session), &content))
}
