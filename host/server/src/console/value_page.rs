//! A value that the console made: what it is, why, and what it rests on.

use super::error::ConsoleError;
use super::form::Fields;
use super::guard::require_scope;
use super::map::{Point, map, point, sector_places};
use super::value_form;
use super::value_sales::{self, SalesBehind};
use super::{Console, guard, layout, tile_map};
use crate::console_sessions::{SavedValue, Session};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::header;
use axum::response::Response;
use domesday_console::number::{number_of, pounds, pounds_of};
use domesday_engine::subject::GridPoint;
use domesday_property::{Snapshot, SnapshotError};
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
    let tenant = &session.user.tenant;
    let saved = |id: &str| sessions.and_then(|sessions| sessions.value(tenant, id));
    require_scope(&session, Scope::AvmValue)?;
    let value = saved(&id).ok_or(ConsoleError::NoValue)?;
    require_scopes_of(&session, &value)?;
    let query = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    let before = query.get("before").and_then(saved);
    let before = before.filter(|before| require_scopes_of(&session, before).is_ok());
    let release_id = value.response["release_id"].as_str().unwrap_or_default();
    let mut open = console.service.releases.open_releases().into_iter();
    let release = open.find(|release| release.id == release_id);
    let stored_data = session.user.scopes.has(Scope::AvmStoredData);
    let behind = match release {
        Some(release) => read_snapshot(release, value.clone(), stored_data).await?,
        None => Behind::default(),
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
        (evidence(&value.response, &maps, &behind.sales))
        (inputs(&value.response))
        section.change {
            h2 { "Change an input" }
            p.quiet { "The page of the new value states the difference from this one." }
            (value_form::form(&session, &console.new_form_id(), &value_form::fields_of(&value.request), Some(&id)))
        }
        @if let Some(sessions) = sessions { (copies(&value, sessions.api_origin())) }
    };
    let title = match value.response["valuation"]["estimated_value_gbp"].as_i64() {
        Some(estimate) => pounds(estimate),
        None => "No value".to_owned(),
    };
    let mut page = layout::page(&title, Some(&session), &content);
    if tiles.is_some() {
        page.headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, guard::MAP_POLICY);
    }
    Ok(page)
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
struct Behind {
    sales: SalesBehind,
    /// The home and its comparables.
    points: Vec<Point>,
    /// The postcodes of the home's sector.
    sector: Vec<GridPoint>,
}

/// Reads the snapshot behind a value.
async fn read_snapshot(
    release: Arc<OpenRelease>,
    value: Arc<SavedValue>,
    stored_data: bool,
) -> Result<Behind, ConsoleError> {
    let read = move || {
        let (snapshot, response) = (&release.snapshot, &value.response);
        Ok(Behind {
            sales: value_sales::read(snapshot, response, stored_data)?,
            points: points(snapshot, response),
            sector: sector(snapshot, response),
        })
    };
    let read = tokio::task::spawn_blocking(read).await;
    let read: Result<Behind, SnapshotError> = read.map_err(|_| ConsoleError::Response)?;
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
                h1.estimate { (pounds(estimate)) }
                (range(estimate, &valuation["range"]))
                @if let Some(before) = before { (difference(estimate, value, before)) }
                p {
                    "Confidence " strong { (text(&response["confidence"]["band"])) }
                    ", score " (number_of(&response["confidence"]["score"])) " of 1."
                }
            } @else {
                h1 { "No value" }
                p role="alert" { "The service answered " strong { (text(&response["status"])) } "." }
                ul {
                    @for reason in reasons(response) { li { (reason) } }
                }
            }
            dl {
                dt { "Home" }
                dd { (text(&property["postcode"])) ", UPRN " (text(&property["uprn"])) }
                @for (label, words) in value_form::stated_inputs(&value.request) {
                    dt { (label) } dd { (words) }
                }
                dt { "As at" }
                dd { (text(&valuation["date"])) }
                dt { "Release" }
                dd { (text(&response["release_id"])) }
                dt { "Valuation" }
                dd { code { (text(&response["valuation_id"])) } }
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

/// Returns the range as a bar on which the estimate is marked.
fn range(estimate: i64, range: &Value) -> Markup {
    let (Some(lower), Some(upper)) = (
        range["lower_value_gbp"].as_i64(),
        range["upper_value_gbp"].as_i64(),
    ) else {
        return html! { p { "This estimate has no range." } };
    };
    let share = if upper > lower {
        // Pounds of a home are far below the whole numbers that a double holds.
        #[allow(clippy::cast_precision_loss)]
        let share = (estimate - lower) as f64 / (upper - lower) as f64;
        share.clamp(0.0, 1.0)
    } else {
        0.5
    };
    let at = domesday_console::chart::coordinate(10.0 + 380.0 * share);
    html! {
        svg.range viewBox="0 0 400 30" role="img" aria-label="The estimate within its range" {
            rect x="10" y="10" width="380" height="10" rx="5" {}
            path d={ "M" (at) " 3v24" } {}
        }
        p.ends {
            span { (pounds(lower)) } span { (pounds(upper)) }
        }
        p.quiet {
            "The range is meant to hold the price in " (percent(&range["nominal_coverage"]))
            " of sales."
        }
    }
}

/// Returns a share of JSON in per cent.
fn percent(share: &Value) -> String {
    let share = share
        .as_f64()
        .map(|share| format!("{:.0} %", 100.0 * share));
    share.unwrap_or_else(|| "–".to_owned())
}

/// Returns the difference from a value before, and the inputs that differ.
fn difference(estimate: i64, value: &SavedValue, before: &SavedValue) -> Markup {
    let stated = |value: &SavedValue| -> BTreeMap<&str, String> {
        value_form::stated_inputs(&value.request)
            .into_iter()
            .collect()
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

/// Returns the evidence: the map, the comparables, the home's own sale and the area.
fn evidence(response: &Value, maps: &Markup, behind: &SalesBehind) -> Markup {
    let none = Vec::new();
    let comparables = response["comparables"].as_array().unwrap_or(&none);
    let context = &response["context"];
    html! {
        section {
            h2 { "Evidence" }
            (own_sale(response))
            @if !comparables.is_empty() {
                div.evidence {
                    (maps)
                    (table(comparables, behind))
                }
                p.quiet {
                    "Points are those of postcodes. An adjusted price is what the comparable would have fetched as this home on the valuation date. "
                    "The published index carries its price to that date, and the model adjusts the rest: size, type, age, tenure and place."
                }
            }
            (behind.show(response))
            @if context.is_object() {
                h3 { "The area: " (text(&context["local_authority"]["name"])) ", postcode sector " (text(&context["postcode_sector"])) }
                dl {
                    dt { "Sales in twelve months" } dd { (number_of(&context["sales_count_12m"])) }
                    dt { "Median price" } dd { (pounds_of(&context["median_price_gbp"])) }
                    dt { "Price per square metre" } dd { (number_of(&context["price_per_sqm_gbp"])) " £/m²" }
                    dt { "Change over twelve months" } dd { (number_of(&context["price_change_12m_pct"])) " %" }
                }
            }
        }
    }
}

/// Returns the places of the postcodes of the home's sector.
fn sector(snapshot: &Snapshot, response: &Value) -> Vec<GridPoint> {
    let postcode = response["property"]["postcode"].as_str();
    postcode.map_or_else(Vec::new, |postcode| sector_places(snapshot, postcode))
}

/// Returns the points of the home and of its comparables.
fn points(snapshot: &Snapshot, response: &Value) -> Vec<Point> {
    let words = |price: &Value, done: &str, day: &Value| {
        format!("{}, {done} {}", pounds_of(price), text(day))
    };
    let value = &response["valuation"];
    let home = response["property"]["postcode"].as_str();
    let home = home.and_then(|postcode| {
        let words = words(&value["estimated_value_gbp"], "as at", &value["date"]);
        point(snapshot, postcode, None, words)
    });
    let comparables = response["comparables"].as_array().into_iter().flatten();
    let others = comparables.filter_map(|comparable| {
        let words = words(&comparable["price_gbp"], "sold", &comparable["sale_date"]);
        let rank = comparable["rank"].to_string();
        point(
            snapshot,
            comparable["postcode"].as_str()?,
            Some(rank),
            words,
        )
    });
    others.chain(home).collect()
}

/// Returns the home's own sale and its weight. An estimate may lie outside all comparables for it.
fn own_sale(response: &Value) -> Markup {
    let sale = &response["context"]["own_sale"];
    let estimate = response["valuation"]["estimated_value_gbp"].as_i64();
    let adjusted = response["comparables"].as_array().into_iter().flatten();
    let adjusted: Vec<i64> = adjusted
        .filter_map(|comparable| comparable["adjusted_price_gbp"].as_i64())
        .collect();
    let outside = estimate
        .zip(adjusted.iter().min().zip(adjusted.iter().max()))
        .is_some_and(|(estimate, (low, high))| !(low..=high).contains(&&estimate));
    html! {
        @if sale.is_object() {
            p {
                "The home itself was sold on " (text(&sale["sale_date"])) " for "
                strong { (pounds_of(&sale["price_gbp"])) } ". Its own sales have a weight of "
                strong { (percent(&sale["weight"])) } " in the estimate."
            }
        }
        @if outside {
            p {
                "The estimate lies outside the adjusted prices of the comparables shown. "
                @if sale.is_object() { "The home's own sale moved it there." }
                @else { "Comparables that are not shown have a weight too." }
            }
        }
    }
}

fn table(comparables: &[Value], behind: &SalesBehind) -> Markup {
    html! {
        div.wide tabindex="0" {
            table {
                caption { "Comparables" }
                thead {
                    tr {
                        th scope="col" { "No." } th scope="col" { "Sold" } th scope="col" { "Price" }
                        th scope="col" { "By index" } th scope="col" { "By the rest" } th scope="col" { "Adjusted" }
                        th scope="col" { "Postcode" }
                        th scope="col" { "Type" } th scope="col" { "Floor area, m²" }
                        th scope="col" { "Distance, m" } th scope="col" { "Similarity" }
                    }
                }
                tbody {
                    @for comparable in comparables {
                        tr id={ "comparable-" (number_of(&comparable["rank"])) } tabindex="-1" {
                            th scope="row" { (number_of(&comparable["rank"])) }
                            td.date { (text(&comparable["sale_date"])) }
                            td.number { (pounds_of(&comparable["price_gbp"])) }
                            @let (index, rest) = behind.steps(comparable).unwrap_or_else(|| ("–".to_owned(), change(comparable)));
                            td.number { (index) }
                            td.number { (rest) }
                            td.number { (pounds_of(&comparable["adjusted_price_gbp"])) }
                            td.date { (text(&comparable["postcode"])) }
                            td { (text(&comparable["property_type"])) }
                            td.number { (number_of(&comparable["floor_area_m2"])) }
                            td.number { (number_of(&comparable["distance_m"])) }
                            td.number { (number_of(&comparable["similarity"])) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the adjustment of a comparable's price.
fn change(comparable: &Value) -> String {
    let price = comparable["price_gbp"].as_f64();
    let adjusted = comparable["adjusted_price_gbp"].as_f64();
    match price.filter(|price| *price > 0.0).zip(adjusted) {
        Some((price, adjusted)) => format!("{:+.1} %", 100.0 * (adjusted / price - 1.0)),
        None => "–".to_owned(),
    }
}

/// Returns where each input came from.
fn inputs(response: &Value) -> Markup {
    let resolution = &response["input_resolution"];
    let none = Vec::new();
    let of = |member: &str| resolution[member].as_array().unwrap_or(&none);
    let (stored, derived, ignored) = (
        of("stored_data_used"),
        of("derived_inputs"),
        of("ignored_inputs"),
    );
    html! {
        section {
            h2 { "Inputs" }
            @if stored.is_empty() && derived.is_empty() && ignored.is_empty() {
                p { "The release took the inputs as they were given." }
            } @else {
                div.wide tabindex="0" { table {
                    caption { "Inputs that were filled, derived or not used" }
                    thead { tr { th scope="col" { "Input" } th scope="col" { "Origin" } } }
                    tbody {
                        @for (found, words) in stored.iter().map(|it| (it, "stored data"))
                            .chain(derived.iter().map(|it| (it, "derived by the release")))
                            .chain(ignored.iter().map(|it| (it, "not used")))
                        {
                            tr {
                                td { code { (text(&found["field"])) } }
                                td { (words) @for part in ["source", "value", "reason"] {
                                    @if !found[part].is_null() { ", " (plain(&found[part])) }
                                } }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// Returns the same request as a program makes it, and the response.
fn copies(value: &SavedValue, api: &str) -> Markup {
    let pretty = |json: &Value| serde_json::to_string_pretty(json).unwrap_or_default();
    let request = pretty(&value.request);
    // A quotation mark within the address ends the shell's text, stands for itself and begins anew.
    let quoted = request.replace('\'', r"'\''");
    let curl = format!(
        "curl -s {api}/v3/value \\\n  -H \"Authorization: Bearer $DOMESDAY_KEY\" \\\n  \
         -H \"Content-Type: application/json\" \\\n  -d '{quoted}'"
    );
    let body = request.replace("'''", r"\u0027''");
    let python = format!(
        "import json, os, urllib.request\n\nbody = json.loads(r'''{body}''')\nrequest = urllib.request.Request(\n    \
         \"{api}/v3/value\", json.dumps(body).encode(),\n    \
         {{\"Authorization\": \"Bearer \" + os.environ[\"DOMESDAY_KEY\"], \"Content-Type\": \"application/json\"}})\n\
         print(json.load(urllib.request.urlopen(request, timeout=30)))"
    );
    html! {
        section.copies {
            h2 { "The same by program" }
            (layout::listing("curl", &curl))
            (layout::listing("Python", &python))
            (layout::listing("The response as JSON", &pretty(&value.response)))
        }
    }
}

/// Returns a text of JSON, or a dash.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("–")
}

/// Returns a text of JSON without quotation marks, and any other value as JSON.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
