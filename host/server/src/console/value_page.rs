//! A value that the console made, with its reasons and its evidence.

use super::blocking::blocking;
use super::error::ConsoleError;
use super::guard::require_scope;
use super::home_points::{points, sector};
use super::market_part::open_release;
use super::value_evidence;
use super::value_form;
use super::value_inputs::stored_values;
use super::value_sales::{self, SalesBehind};
use super::{Console, guard, layout, tile_map};
use crate::console_sessions::Session;
use crate::console_values::SavedValue;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::header;
use axum::response::Response;
use domesday_console::confidence::grounds;
use domesday_console::estimate_range::range;
use domesday_console::fields::Fields;
use domesday_console::home_inputs::{fields_of, stated_inputs};
use domesday_console::home_map::{GridLocation, Point, map};
use domesday_console::message::render_message;
use domesday_console::number::{number_of, pounds, text_of};
use domesday_console::{input_origins, program_copies};
use domesday_property::SnapshotError;
use domesday_state::Scope;
use domesday_valuation::release_store::OpenRelease;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Shows a value by its id. The response of the API is shown as it was given, so the page stays on
/// its release and its day.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ConsoleError> {
    let sessions = console.service.console.as_ref();
    require_scope(&session, Scope::AvmValue)?;
    let value = saved_value(&console, &session, &id).await?;
    let value = value.ok_or(ConsoleError::NoValue)?;
    require_scopes_of(&session, &value)?;
    let query = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    let before = match query.get("before") {
        Some(id) => saved_value(&console, &session, id).await?,
        None => None,
    };
    let before = before.filter(|before| require_scopes_of(&session, before).is_ok());
    let release_id = value.response["release_id"].as_str().unwrap_or_default();
    let release = open_release(&console, release_id).await?;
    let stored_data = session.user.scopes.has(Scope::AvmStoredData);
    let behind = match release {
        Some(release) => read_snapshot(release, value.clone(), stored_data).await?,
        None => SnapshotPart::default(),
    };
    let tiles = console.service.console_map.as_deref();
    let tiles = tiles.and_then(|tiles| tile_map::figure(tiles, &behind.points));
    let maps = html! {
        div.maps {
            @if !behind.points.is_empty() {
                (map(&behind.points, &behind.sector))
                p.quiet.of-map { "The dots are postcodes of the home's sector, the rings distances from the home." }
            }
            @if let Some(tiles) = &tiles { (tiles) }
        }
    };
    let content = html! {
        (card(&value, before.as_deref()))
        (value_evidence::show(&value.response, &maps, &behind.sales, value.market_gbp))
        (input_origins::show(&value.request, &value.response, &behind.stored))
        section.change {
            h2 { "Change an input" }
            p.quiet { "The page of the new value states the difference from this one." }
            (value_form::form(&session, &console.new_form_id(), &fields_of(&value.request), Some(&id), &[]))
        }
        @if let Some(sessions) = sessions { (copies(&value, sessions.api_origin())) }
    };
    let title = match value.response["valuation"]["estimated_value_gbp"].as_i64() {
        Some(estimate) => format!("Automated valuation: {}", pounds(estimate)),
        None => "No value".to_owned(),
    };
    let mut page = layout::page(&title, Some(&session), &content);
    if tiles.is_some() {
        page.headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, guard::MAP_POLICY);
    }
    Ok(page)
}

/// Reads a value that a session of the tenant made.
async fn saved_value(
    console: &Console,
    session: &Session,
    id: &str,
) -> Result<Option<Arc<SavedValue>>, ConsoleError> {
    let sessions = console.service.console.as_ref();
    let values = sessions.and_then(|sessions| sessions.values()).cloned();
    let (Some(values), Ok(id)) = (values, id.parse()) else {
        return Ok(None);
    };
    let tenant = session.user.tenant.clone();
    let read = blocking(move || values.value(&tenant, id)).await?;
    let read = read.map_err(|error| ConsoleError::State(error.to_string()))?;
    Ok(read.map(Arc::new))
}

/// Checks that a session might have made a value itself.
///
/// # Errors
/// `Scope`, which names what the session lacks.
fn require_scopes_of(session: &Session, value: &SavedValue) -> Result<(), ConsoleError> {
    match value.request["options"]["use_stored_data"] == true {
        true => require_scope(session, Scope::AvmStoredData),
        false => Ok(()),
    }
}

/// The part of a snapshot that a page shows behind a value.
#[derive(Default)]
struct SnapshotPart {
    sales: SalesBehind,
    /// The home and its comparables.
    points: Vec<Point>,
    /// The postcodes of the home's sector.
    sector: Vec<GridLocation>,
    /// The values that stored data gave, by the JSON Pointer of their input.
    stored: BTreeMap<String, String>,
}

/// Reads the snapshot behind a value.
async fn read_snapshot(
    release: Arc<OpenRelease>,
    value: Arc<SavedValue>,
    stored_data: bool,
) -> Result<SnapshotPart, ConsoleError> {
    let read = move || {
        let (snapshot, response) = (&release.snapshot, &value.response);
        Ok(SnapshotPart {
            sales: value_sales::read(snapshot, &value.request, response, stored_data)?,
            stored: match stored_data {
                true => stored_values(snapshot, response)?,
                false => BTreeMap::new(),
            },
            points: points(snapshot, response),
            sector: sector(snapshot, response),
        })
    };
    let read: Result<SnapshotPart, SnapshotError> = blocking(read).await?;
    read.map_err(|error| ConsoleError::State(error.to_string()))
}

/// Returns the value card: estimate, range, confidence and the difference from another value.
fn card(value: &SavedValue, before: Option<&SavedValue>) -> Markup {
    let response = &value.response;
    let (valuation, property) = (&response["valuation"], &response["property"]);
    let estimate = valuation["estimated_value_gbp"].as_i64();
    html! {
        section.card {
            @if let Some(estimate) = estimate {
                hgroup {
                    p.kind { "Automated valuation of the home at " (text_of(&property["postcode"])) ", as at " (text_of(&valuation["date"])) }
                    h1.estimate { (pounds(estimate)) }
                }
                (range(estimate, &valuation["range"]))
                @if let Some(before) = before { (difference(estimate, value, before)) }
                p {
                    "Confidence " strong { (text_of(&response["confidence"]["band"])) }
                    ", score " (number_of(&response["confidence"]["score"])) " of 1."
                }
                ul.quiet { @for fact in grounds(response) { li { (fact) } } }
            } @else {
                h1 { "No value" }
                p role="alert" { "The service answered " strong { (text_of(&response["status"])) } "." }
                ul {
                    @for reason in &reasons(response) { li { (render_message(reason)) } }
                }
            }
            dl {
                dt { "UPRN" }
                dd { (text_of(&property["uprn"])) }
                @for (label, words) in stated_inputs(&value.request) {
                    dt { (label) } dd { (words) }
                }
                dt { "Release" }
                dd { (text_of(&response["release_id"])) }
                dt { "Valuation" }
                dd { code { (text_of(&response["valuation_id"])) } }
            }
        }
    }
}

/// Returns every reason that a response without a value states.
fn reasons(response: &Value) -> Vec<String> {
    let stated = ["referral", "failure"].map(|member| &response[member]);
    let mut reasons: Vec<String> = stated
        .into_iter()
        .flat_map(|reason| [&reason["code"], &reason["reason"], &reason["message"]])
        .filter_map(|part| part.as_str().map(str::to_owned))
        .collect();
    let errors = response["errors"].as_array().into_iter().flatten();
    reasons.extend(errors.filter_map(|error| Some(error["message"].as_str()?.to_owned())));
    reasons
}

/// Returns the difference from a value before, and the inputs that differ.
fn difference(estimate: i64, value: &SavedValue, before: &SavedValue) -> Markup {
    let stated = |value: &SavedValue| -> BTreeMap<&str, String> {
        stated_inputs(&value.request).into_iter().collect()
    };
    let (now, then) = (stated(value), stated(before));
    let labels: BTreeSet<&str> = now.keys().chain(then.keys()).copied().collect();
    let of = |stated: &BTreeMap<&str, String>, label: &str| {
        let words = stated.get(label).cloned();
        words.unwrap_or_else(|| "blank".to_owned())
    };
    let changes: Vec<String> = labels
        .into_iter()
        .filter(|label| now.get(label) != then.get(label))
        .map(|label| format!("{label}: {} to {}", of(&then, label), of(&now, label)))
        .collect();
    let other = before.response["valuation"]["estimated_value_gbp"].as_i64();
    html! {
        @if let Some(other) = other {
            p.difference role="status" {
                @if estimate >= other { "+" } (pounds(estimate - other))
                " from " (pounds(other)) " before the change."
            }
            p {
                @if changes.is_empty() { "No input was changed." }
                @else { "Changed: " (changes.join("; ")) "." }
                @if estimate == other && !changes.is_empty() { " It makes no difference to the estimate." }
            }
        }
    }
}

/// Returns the same request as a program makes it, and the response.
fn copies(value: &SavedValue, api: &str) -> Markup {
    let response = serde_json::to_string_pretty(&value.response).unwrap_or_default();
    html! {
        section.copies {
            h2 { "The same by program" }
            (layout::programs(&program_copies::of_value(api, &value.request)))
            (layout::listing("The response as JSON", &response))
        }
    }
}
