//! The form that values a home, and the request that it makes.

use super::api::ApiResponse;
use super::error::ConsoleError;
use super::form::Fields;
use super::guard::{self, require_scope};
use super::once::{FormValue, value_once};
use super::{Console, address_search, layout};
use crate::console_sessions::Session;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use domesday_registers::Day;
use domesday_state::Scope;
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The title of the page.
pub(super) const TITLE: &str = "Value a home";

/// The kind of a field's value.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Date,
    Number,
    Choice(&'static [(&'static str, &'static str)]),
}

/// A field of the form: its name, its label, where its value stands in a request, and its kind.
struct Input {
    name: &'static str,
    label: &'static str,
    pointer: [&'static str; 2],
    kind: Kind,
    required: bool,
}

const fn input(
    name: &'static str,
    label: &'static str,
    section: &'static str,
    kind: Kind,
    required: bool,
) -> Input {
    Input {
        name,
        label,
        pointer: [section, name],
        kind,
        required,
    }
}

const TYPES: &[(&str, &str)] = &[
    ("D", "Detached"),
    ("S", "Semi-detached"),
    ("T", "Terraced"),
    ("F", "Flat or maisonette"),
];
const SUBTYPES: &[(&str, &str)] = &[
    ("house_detached", "Detached house"),
    ("house_semi_detached", "Semi-detached house"),
    ("house_mid_terrace", "Mid-terraced house"),
    ("house_end_terrace", "End-terraced house"),
    ("bungalow_detached", "Detached bungalow"),
    ("bungalow_semi_detached", "Semi-detached bungalow"),
    ("bungalow_terraced", "Terraced bungalow"),
    ("flat_purpose_built", "Purpose-built flat"),
    ("flat_converted", "Converted flat"),
    ("maisonette", "Maisonette"),
];
const TENURES: &[(&str, &str)] = &[("freehold", "Freehold"), ("leasehold", "Leasehold")];
const OCCUPANCIES: &[(&str, &str)] = &[
    ("owner_occupied", "Owner-occupied"),
    ("tenanted", "Tenanted"),
    ("vacant", "Vacant"),
];

/// The fields of the form, by heading.
const INPUTS: [(&str, &[Input]); 3] = [
    (
        "Address",
        &[
            input("postcode", "Postcode", "property", Kind::Text, true),
            input(
                "building_number_or_name",
                "Building number or name, with the flat",
                "property",
                Kind::Text,
                true,
            ),
            input("street", "Street", "property", Kind::Text, true),
        ],
    ),
    (
        "Home",
        &[
            input("type", "Type", "property", Kind::Choice(TYPES), true),
            input(
                "subtype",
                "Subtype",
                "property",
                Kind::Choice(SUBTYPES),
                true,
            ),
            input(
                "title_tenure",
                "Tenure",
                "property",
                Kind::Choice(TENURES),
                true,
            ),
            input(
                "years_remaining",
                "Years left of the lease",
                "lease",
                Kind::Number,
                false,
            ),
            input("bedrooms", "Bedrooms", "size", Kind::Number, false),
            input(
                "floor_area_m2",
                "Floor area, m²",
                "size",
                Kind::Number,
                false,
            ),
            input(
                "status",
                "Occupancy",
                "occupancy",
                Kind::Choice(OCCUPANCIES),
                true,
            ),
        ],
    ),
    (
        "Valuation",
        &[input(
            "valuation_date",
            "Valuation date",
            "property",
            Kind::Date,
            true,
        )],
    ),
];

/// The words for a form of another session. A login in another window ends the session of this one.
const OTHER_FORM: &str = "The form was not of this session, and nothing was sent. Send it again.";
/// The field that asks for stored data where the form leaves a blank.
const STORED: &str = "use_stored_data";
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
    let is_blank = query.is_none() || (draft.is_none() && guard::names_draft(&fields));
    fields = draft.unwrap_or(fields);
    if fields.get("valuation_date").is_none() {
        fields.set("valuation_date", &default_date(&console));
    }
    let home = fields.get(HOME).map(str::to_owned);
    if is_blank || home.is_some() {
        fields.set(STORED, "yes");
    }
    let mut unknown = false;
    if let Some(id) = home {
        match address_search::address(&console, &id).await? {
            Some(address) => {
                fields.set("postcode", &address.postcode);
                fields.set("building_number_or_name", &address.building);
                fields.set("street", &address.street);
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
        (form(&session, &console.new_form_id(), &fields, None))
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Returns the fields of a form that nobody has filled in.
pub(super) fn blank(console: &Console) -> Fields {
    let mut fields = Fields::default();
    fields.set("valuation_date", &default_date(console));
    fields.set(STORED, "yes");
    fields
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
    let fields = Fields::read(body).await?;
    if !fields.is_of(&session) {
        let refusal = html! { p.refusal role="alert" { (OTHER_FORM) } };
        let page = page_again(&console, &session, &fields, &refusal);
        return Ok((StatusCode::FORBIDDEN, page).into_response());
    }
    let request = request_of(&fields);
    let id = match value_once(&console, &session, console.form_id(&fields), request).await? {
        FormValue::Made(id) => id,
        FormValue::Refused(answered) => {
            let refusal = refusal(&answered);
            let page = page_again(&console, &session, &fields, &refusal);
            return Ok((answered.status, page).into_response());
        }
    };
    let before = fields
        .get(BEFORE)
        .filter(|before| before.parse::<uuid::Uuid>().is_ok());
    let query = before.map_or_else(String::new, |before| format!("?{BEFORE}={before}"));
    Ok(Redirect::to(&format!("/values/{id}{query}")).into_response())
}

/// Returns the page with a form as it was sent.
fn page_again(console: &Console, session: &Session, fields: &Fields, refusal: &Markup) -> Response {
    let content = html! {
        h1 { (TITLE) }
        (refusal)
        (form(session, &console.new_form_id(), fields, None))
    };
    layout::page(TITLE, Some(session), &content)
}

/// Returns the reasons of a refusal, each at its field, and what it cost.
fn refusal(answered: &ApiResponse) -> Markup {
    let message = answered.message();
    let errors = answered.body["errors"].as_array();
    let errors = errors.cloned().unwrap_or_default();
    html! {
        div.refusal role="alert" {
            p { "The home was not valued. " (cost(answered.status, &errors)) }
            @if errors.is_empty() {
                p { (message) }
            } @else {
                ul {
                    @for error in &errors {
                        li {
                            @if let Some(field) = error["field"].as_str() { code { (field) } ": " }
                            (error["message"].as_str().unwrap_or(&message))
                        }
                    }
                }
            }
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

/// Returns the request of a form's fields. A text in place of a number is sent as it is, so that
/// the API names it.
fn request_of(fields: &Fields) -> Value {
    let mut request = Map::new();
    for input in INPUTS.iter().flat_map(|(_, inputs)| *inputs) {
        let Some(text) = fields.get(input.name) else {
            continue;
        };
        let value = match input.kind {
            Kind::Number => serde_json::from_str::<serde_json::Number>(text)
                .map_or_else(|_| Value::from(text), Value::Number),
            _ => Value::from(text),
        };
        let [section, name] = input.pointer;
        let section = request.entry(section).or_insert_with(|| json!({}));
        if let Value::Object(section) = section {
            section.insert(name.to_owned(), value);
        }
    }
    for section in ["property", "occupancy", "size"] {
        request.entry(section).or_insert_with(|| json!({}));
    }
    request.insert(
        "options".to_owned(),
        json!({
            "include_comparables": true,
            "comparables_limit": 10,
            "include_context_metrics": true,
            STORED: fields.get(STORED).is_some(),
        }),
    );
    Value::Object(request)
}

/// Returns the fields of a request that the console made.
pub(super) fn fields_of(request: &Value) -> Fields {
    let mut fields = Fields::default();
    for input in INPUTS.iter().flat_map(|(_, inputs)| *inputs) {
        let [section, name] = input.pointer;
        match &request[section][name] {
            Value::String(text) => fields.set(input.name, text),
            Value::Number(number) => fields.set(input.name, &number.to_string()),
            _ => {}
        }
    }
    if request["options"][STORED] == true {
        fields.set(STORED, "yes");
    }
    fields
}

/// Returns the inputs that a request states, each with its label, in words.
pub(super) fn stated_inputs(request: &Value) -> Vec<(&'static str, String)> {
    let fields = fields_of(request);
    let inputs = INPUTS.iter().flat_map(|(_, inputs)| *inputs);
    let mut stated: Vec<(&str, String)> = inputs
        .filter_map(|input| Some((input.label, words_of(input, fields.get(input.name)?))))
        .collect();
    let filled = fields.get(STORED).map_or("no", |_| "yes");
    stated.push(("Blanks filled from stored data", filled.to_owned()));
    stated
}

/// Returns the value of an input in words.
fn words_of(input: &Input, value: &str) -> String {
    let choice = match input.kind {
        Kind::Choice(choices) => choices.iter().find(|(choice, _)| *choice == value),
        _ => None,
    };
    choice.map_or(value, |(_, words)| words).to_owned()
}

/// Returns the form with these fields filled in. `before` is the valuation that they are of.
pub(super) fn form(session: &Session, id: &str, fields: &Fields, before: Option<&str>) -> Markup {
    let may_store = session.user.scopes.has(Scope::AvmStoredData);
    let stored = may_store && fields.get(STORED).is_some();
    // What stored data cannot fill has to be stated.
    let is_required =
        |input: &Input| input.required || (!may_store && input.name == "floor_area_m2");
    html! {
        form.inputs method="post" action="/values" {
            (layout::token(session))
            (layout::form_id(id))
            @if let Some(before) = before { input type="hidden" name=(BEFORE) value=(before); }
            @for (heading, inputs) in INPUTS {
                fieldset {
                    legend { (heading) }
                    @for input in inputs {
                        (field(input, fields.get(input.name).unwrap_or_default(), is_required(input)))
                    }
                }
            }
            label.check {
                input type="checkbox" name=(STORED) value="yes" checked[stored] disabled[!may_store];
                " Fill blanks from stored data"
                @if !may_store { ", which needs the scope " (Scope::AvmStoredData) }
                @else { ". Without it the floor area is required" }
            }
            p.quiet { "A value costs one unit of the tenant's plan." }
            button.primary { "Value the home" }
        }
    }
}

fn field(input: &Input, value: &str, required: bool) -> Markup {
    html! {
        label {
            span { (input.label) @if required { " " abbr title="required" { "*" } } }
            @match input.kind {
                Kind::Choice(choices) => {
                    select name=(input.name) required[required] {
                        @if !required || value.is_empty() { option value="" { "–" } }
                        @for (choice, words) in choices {
                            option value=(choice) selected[*choice == value] { (words) }
                        }
                    }
                }
                Kind::Text => { input name=(input.name) value=(value) required[required] maxlength="200"; }
                Kind::Date => { input type="date" name=(input.name) value=(value) required[required]; }
                Kind::Number => { input name=(input.name) value=(value) required[required] inputmode="decimal" maxlength="20"; }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_a_request_and_back() {
        let fields = Fields::parse(
            b"postcode=QA1+1AF&building_number_or_name=15&street=Badger+Yard&type=S&subtype=maisonette\
              &title_tenure=freehold&status=vacant&valuation_date=2026-10-15&bedrooms=3&floor_area_m2=9x\
              &use_stored_data=yes",
        );
        let request = request_of(&fields);
        assert_eq!(
            request["size"],
            json!({"bedrooms": 3, "floor_area_m2": "9x"})
        );
        assert_eq!(request["occupancy"], json!({"status": "vacant"}));
        assert_eq!(request["property"]["postcode"], "QA1 1AF");
        assert_eq!(request["options"]["use_stored_data"], true);
        assert_eq!(request.get("lease"), None);
        assert_eq!(request_of(&fields_of(&request)), request);
    }
}
