//! The form that values a home, empty, filled or refused.

use super::api::ApiResponse;
use super::error::ConsoleError;
use super::guard::{self, require_scope};
use super::idempotent_form::{FormValue, value_once};
use super::{Console, address_search, form, layout, stored_home};
use crate::console_sessions::Session;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use domesday_console::fields::Fields;
use domesday_console::home_inputs::{STORED, field_of, fieldsets, request_of};
use domesday_console::message::render_message;
use domesday_registers::Day;
use domesday_state::Scope;
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;

/// The title of the page.
pub(super) const TITLE: &str = "Value a home";

/// The words for a form of another session. A login in another window ends the session of this one.
const OTHER_FORM: &str = "The form was not of this session, and nothing was sent. Send it again.";
/// The field of a link with the id of an address of the directory.
const HOME: &str = "home";
/// The field with the id of the valuation that the form was filled from.
const BEFORE: &str = "before";

/// Shows the form, filled from the query or from a form that waited for this login. A session that
/// may value nothing is led to its first page.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    if require_scope(&session, Scope::AvmValue).is_err() {
        return Ok(Redirect::to(layout::first_page(&session.user)).into_response());
    }
    let query = request.uri().query();
    let mut fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let draft = guard::draft(&console, &fields);
    // The same form, so that what it did before is not done twice.
    let form_id = draft.as_ref().map(|draft| console.form_id(draft));
    let is_blank = query.is_none() || (draft.is_none() && guard::names_draft(&fields));
    fields = draft.unwrap_or(fields);
    let home = fields.get(HOME).map(str::to_owned);
    set_defaults(&console, &mut fields, is_blank || home.is_some());
    let (mut unknown, mut stored) = (false, false);
    if let Some(id) = home {
        match address_search::address(&console, &id).await? {
            Some(address) => {
                fields.set("postcode", &address.postcode);
                fields.set("building_number_or_name", &address.building);
                fields.set("street", &address.street);
                if session.user.scopes.has(Scope::AvmStoredData) {
                    stored = stored_home::fill(&console, &address, &mut fields).await?;
                }
            }
            None => unknown = true,
        }
    }
    let content = html! {
        h1 { (TITLE) }
        @if unknown {
            p.refusal role="alert" { "The directory has no such address any more. Search again." }
        }
        @if let Some(search) = address_search::search_of(&console, &session) { (search) }
        @if stored {
            p.quiet role="status" { "Type, subtype and tenure are filled in where stored data have them. Check them: the request states them as yours." }
        }
        (form(&session, &form_id.unwrap_or_else(|| console.new_form_id()), &fields, None, &[]))
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Returns the fields of a form that nobody has filled in.
pub(super) fn blank(console: &Console) -> Fields {
    let mut fields = Fields::default();
    set_defaults(console, &mut fields, true);
    fields
}

/// Sets the date where the fields have none, and asks for stored data in a form that nobody has
/// filled in.
fn set_defaults(console: &Console, fields: &mut Fields, is_new: bool) {
    if fields.get("valuation_date").is_none() {
        fields.set("valuation_date", &default_date(console));
    }
    if is_new {
        fields.set(STORED, "yes");
    }
}

/// Leads from the address of a refused form to the form.
pub(super) async fn to_page() -> Redirect {
    Redirect::to("/")
}

/// Returns today, or the nearest day that the current release takes.
fn default_date(console: &Console) -> String {
    let window = console.service.releases.current().window;
    let days = console.service.clock.now().0.div_euclid(86_400_000);
    let today = i32::try_from(days).ok().and_then(|day| Day(day).date());
    let today = today.map_or(window.from, |today| today.clamp(window.from, window.to));
    today.to_string()
}

/// Values the home of a form, once however often the form is sent. A form that the API refuses is
/// shown again, with the reasons.
pub(super) async fn value(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    body: Body,
) -> Result<Response, ConsoleError> {
    let fields = form::read(body).await?;
    if !form::is_of(&fields, &session) {
        let page = page_again(&console, &session, &fields, None);
        return Ok((StatusCode::FORBIDDEN, page).into_response());
    }
    let request = request_of(&fields);
    let id = match value_once(&console, &session, console.form_id(&fields), request).await? {
        FormValue::Made(id) => id,
        FormValue::Refused(answered) => {
            let page = page_again(&console, &session, &fields, Some(&answered));
            return Ok((answered.status, page).into_response());
        }
    };
    let before = fields
        .get(BEFORE)
        .filter(|before| before.parse::<uuid::Uuid>().is_ok());
    let query = before.map_or_else(String::new, |before| format!("?{BEFORE}={before}"));
    Ok(Redirect::to(&format!("/values/{id}{query}")).into_response())
}

/// Returns the page with a form as it was sent, and with why the API refused it. Without that the
/// form was another session's.
fn page_again(
    console: &Console,
    session: &Session,
    fields: &Fields,
    refused: Option<&ApiResponse>,
) -> Response {
    let form_id = match refused {
        Some(_) => console.new_form_id(),
        None => console.form_id(fields),
    };
    let errors = refused.map_or_else(Vec::new, |answered| answered.errors());
    let pointers = errors.iter().filter_map(|error| error["field"].as_str());
    let named: Vec<&str> = pointers.filter_map(|it| Some(field_of(it)?.1)).collect();
    let content = html! {
        h1 { (TITLE) }
        @match refused {
            Some(answered) => (refusal(answered, &errors)),
            None => p.refusal role="alert" { (OTHER_FORM) },
        }
        @if let Some(search) = address_search::search_of(console, session) { (search) }
        (form(session, &form_id, fields, None, &named))
    };
    layout::page(TITLE, Some(session), &content)
}

/// Returns the reasons of a refusal, each at its field, and what it cost.
fn refusal(answered: &ApiResponse, errors: &[Value]) -> Markup {
    let message = answered.message();
    html! {
        div.refusal role="alert" {
            p { "The home was not valued. " (cost(answered.status, errors)) }
            @if errors.is_empty() {
                p { (render_message(&message)) }
            } @else {
                ul { @for error in errors { li { (reason(error, &message)) } } }
            }
        }
    }
}

/// Returns the reason of one error, at its field's label. `message` is that of the whole refusal.
fn reason(error: &Value, message: &str) -> Markup {
    let pointer = error["field"].as_str();
    let words = render_message(error["message"].as_str().unwrap_or(message));
    html! {
        @match pointer.map(|pointer| (pointer, field_of(pointer))) {
            Some(("/size", Some((label, _)))) => { strong { (label) } ": Give at least one of the two." },
            Some((_, Some((label, _)))) => { strong { (label) } ": " (words) },
            Some((pointer, None)) => { code { (pointer) } ": " (words) },
            None => (words),
        }
    }
}

/// Returns what a refusal cost. A row is a unit once it is read, though its home is not found.
fn cost(status: StatusCode, errors: &[Value]) -> &'static str {
    const READ_BEFORE: [&str; 5] = [
        "address_not_found",
        "address_ambiguous",
        "uprn_address_mismatch",
        "not_residential",
        "outside_geography",
    ];
    let code = |error: &Value| error["code"].as_str().map(str::to_owned);
    let was_read = |error| code(error).is_some_and(|code| READ_BEFORE.contains(&code.as_str()));
    if !status.is_client_error() {
        "It is not known here whether a unit was charged."
    } else if errors.iter().any(was_read) {
        "The request was read and the home was looked up, so a unit was charged."
    } else {
        "No unit was charged."
    }
}

/// Returns the form with these fields filled in. `before` is the valuation that they are of.
/// The fields of `refused` are marked.
pub(super) fn form(
    session: &Session,
    id: &str,
    fields: &Fields,
    before: Option<&str>,
    refused: &[&str],
) -> Markup {
    let may_store = session.user.scopes.has(Scope::AvmStoredData);
    let stored = may_store && fields.get(STORED).is_some();
    html! {
        form.inputs method="post" action="/values" {
            (layout::token(session))
            (layout::form_id(id))
            @if let Some(before) = before { input type="hidden" name=(BEFORE) value=(before); }
            (fieldsets(fields, may_store, refused))
            label.check {
                input type="checkbox" name=(STORED) value="yes" checked[stored] disabled[!may_store];
                " Fill blanks from stored data"
                @if !may_store { ", which needs the scope " (Scope::AvmStoredData) }
                @else { ". With it the bedrooms or the floor area are required, and without it the floor area" }
            }
            p.quiet { "A value costs one unit of the tenant's plan." }
            button.primary { "Value the home" }
        }
    }
}
