//! The form that values a home, and the request that it makes.

use super::Console;
use super::error::ConsoleError;
use super::form::Fields;
use super::{address_search, layout};
use crate::console_sessions::{SavedValue, Session};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use domesday_registers::Day;
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

/// The field that asks for stored data where the form leaves a blank.
const STORED: &str = "use_stored_data";
/// The field of a link with the id of an address of the directory.
const HOME: &str = "home";
/// The field with the id of the valuation that the form was filled from.
const BEFORE: &str = "before";

/// Shows the form.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    let query = request.uri().query().unwrap_or_default();
    let mut fields = Fields::parse(query.as_bytes());
    if fields.get("valuation_date").is_none() {
        fields.set("valuation_date", &default_date(&console));
    }
    let home = fields.get(HOME).map(str::to_owned);
    if query.is_empty() || home.is_some() {
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
        (form(&session, &fields, None))
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

/// Returns today, or the nearest day that the current release takes.
fn default_date(console: &Console) -> String {
    let window = console.service.releases.current().window;
    let days = console.service.clock.now().0.div_euclid(86_400_000);
    let today = i32::try_from(days).ok().and_then(|day| Day(day).date());
    let today = today.map_or(window.from, |today| today.clamp(window.from, window.to));
    today.to_string()
}

/// Values the home of a form. One that the API refuses shows the form again, with the reasons.
pub(super) async fn value(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    body: Body,
) -> Result<Response, ConsoleError> {
    let fields = Fields::of_session(body, &session).await?;
    let request = request_of(&fields);
    let answered = console.post(&session, "/v3/value", &request).await?;
    if !answered.status.is_success() {
        let content = html! {
            h1 { (TITLE) }
            (refusal(&answered.body, &answered.message()))
            (form(&session, &fields, None))
        };
        let page = layout::page(TITLE, Some(&session), &content);
        return Ok((answered.status, page).into_response());
    }
    let id = answered.body["valuation_id"].as_str();
    let id = id.ok_or(ConsoleError::Response)?.to_owned();
    if let Some(sessions) = &console.service.console {
        let value = SavedValue {
            request,
            response: answered.body,
        };
        sessions.save(&session.user.tenant, &id, value);
    }
    let before = fields
        .get(BEFORE)
        .filter(|before| before.parse::<uuid::Uuid>().is_ok());
    let query = before.map_or_else(String::new, |before| format!("?{BEFORE}={before}"));
    Ok(Redirect::to(&format!("/values/{id}{query}")).into_response())
}

/// Returns the reasons of a refusal, each at its field.
fn refusal(body: &Value, message: &str) -> Markup {
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    html! {
        div.refusal role="alert" {
            p { "The home was not valued, and no unit was charged." }
            @if errors.is_empty() {
                p { (message) }
            } @else {
                ul {
                    @for error in &errors {
                        li {
                            @if let Some(field) = error["field"].as_str() { code { (field) } ": " }
                            (error["message"].as_str().unwrap_or(message))
                        }
                    }
                }
            }
        }
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
            "use_stored_data": fields.get(STORED).is_some(),
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

/// Returns the form with these fields filled in. `before` is the valuation that they are of.
pub(super) fn form(session: &Session, fields: &Fields, before: Option<&str>) -> Markup {
    html! {
        form.inputs method="post" action="/values" {
            (layout::token(session))
            @if let Some(before) = before { input type="hidden" name=(BEFORE) value=(before); }
            @for (heading, inputs) in INPUTS {
                fieldset {
                    legend { (heading) }
                    @for input in inputs { (field(input, fields.get(input.name).unwrap_or_default())) }
                }
            }
            label.check {
                input type="checkbox" name=(STORED) value="yes" checked[fields.get(STORED).is_some()];
                " Fill blanks from stored data"
            }
            p.quiet { "A value costs one unit of the tenant's plan." }
            button.primary { "Value the home" }
        }
    }
}

fn field(input: &Input, value: &str) -> Markup {
    html! {
        label {
            span { (input.label) @if input.required { " " abbr title="required" { "*" } } }
            @match input.kind {
                Kind::Choice(choices) => {
                    select name=(input.name) required[input.required] {
                        @if !input.required || value.is_empty() { option value="" { "–" } }
                        @for (choice, words) in choices {
                            option value=(choice) selected[*choice == value] { (words) }
                        }
                    }
                }
                Kind::Text => { input name=(input.name) value=(value) required[input.required] maxlength="200"; }
                Kind::Date => { input type="date" name=(input.name) value=(value) required[input.required]; }
                Kind::Number => { input name=(input.name) value=(value) inputmode="decimal" maxlength="20"; }
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
