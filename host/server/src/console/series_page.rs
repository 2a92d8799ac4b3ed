//! Market statistics and rates: a chart, the table below it, and the same as CSV.

use super::error::ConsoleError;
use super::form::Fields;
use super::series_table::{DimensionNames, MergedSeries, file_rows, merge, series_of, table};
use super::{Console, csv_file, layout, parquet_file};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::Response;
use domesday_console::chart::{ChartSeries, Interval, intervals};
use domesday_console::curve::curves_of;
use domesday_console::number::number_of;
use domesday_registers::Day;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The field of an area that another is compared with.
const COMPARED: &str = "compared_with";
/// The field of a day whose curve another is compared with.
const COMPARED_DAY: &str = "compared_day";
/// Pages of the API that one chart reads at most.
const MOST_PAGES: usize = 20;

/// A family of series.
#[derive(Clone, Copy)]
struct Family {
    title: &'static str,
    path: &'static str,
}

const MARKETS: Family = Family {
    title: "Markets",
    path: "markets",
};
const RATES: Family = Family {
    title: "Rates",
    path: "rates",
};

/// Shows market statistics.
pub(super) async fn markets(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    page(&console, &session, MARKETS, request.uri().query()).await
}

/// Shows rates.
pub(super) async fn rates(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    page(&console, &session, RATES, request.uri().query()).await
}

/// Returns the observations of market statistics as a file, CSV or Parquet by its path.
pub(super) async fn markets_file(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    as_file(&console, &session, MARKETS, request.uri()).await
}

/// Returns the observations of rates as a file, CSV or Parquet by its path.
pub(super) async fn rates_file(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    as_file(&console, &session, RATES, request.uri()).await
}

async fn page(
    console: &Console,
    session: &Session,
    family: Family,
    query: Option<&str>,
) -> Result<Response, ConsoleError> {
    let fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let path = format!("/v1/{}/datasets", family.path);
    let catalogue = console.get(session, &path).await?.ok()?;
    let areas = read_areas(console, session, family).await?;
    let none = Vec::new();
    let datasets = catalogue["datasets"].as_array().unwrap_or(&none);
    let dataset = fields.get("dataset");
    let chosen = datasets
        .iter()
        .find(|found| found["dataset"].as_str() == dataset);
    let shown = match chosen {
        None => html! { p.quiet { "Choose a dataset." } },
        Some(chosen) if missing(chosen, &fields).is_some() => {
            html! { p.quiet { "Choose " (missing(chosen, &fields).unwrap_or_default()) "." } }
        }
        Some(_) => match read_compared(console, session, family, &fields).await? {
            Ok(pages) => series(console, family, &fields, &pages, &areas),
            Err(message) => html! { p.refusal role="alert" { (message) } },
        },
    };
    let content = html! {
        h1 { (family.title) }
        (form(family, datasets, chosen, &areas, &fields))
        (shown)
    };
    Ok(layout::page(family.title, Some(session), &content))
}

/// Returns the first field that a dataset requires and the form lacks.
fn missing(dataset: &Value, fields: &Fields) -> Option<String> {
    let required = dataset["required"].as_array()?.iter();
    let mut names = required.filter_map(Value::as_str);
    let name = names.find(|name| fields.get(name).is_none())?;
    Some(format!("the field {}", name.replace('_', " ")))
}

/// Reads the observations that the fields choose, and those of the area or the day that they are
/// compared with.
async fn read_compared(
    console: &Console,
    session: &Session,
    family: Family,
    fields: &Fields,
) -> Result<Result<Vec<Value>, String>, ConsoleError> {
    let mut own = fields.clone();
    own.remove(COMPARED);
    own.remove(COMPARED_DAY);
    let mut choices = vec![own.clone()];
    if let Some(area) = fields.get(COMPARED) {
        let mut other = own.clone();
        other.set("area", area);
        choices.push(other);
    }
    if let Some(day) = fields.get(COMPARED_DAY) {
        own.set("from", day);
        own.set("to", day);
        choices.push(own);
    }
    let mut pages = Vec::new();
    for fields in choices {
        match read_observations(console, session, family, &fields).await? {
            Ok(more) => pages.extend(more),
            Err(message) => return Ok(Err(message)),
        }
    }
    Ok(Ok(pages))
}

/// Reads all observations that the fields choose, page by page. The inner error is the API's.
async fn read_observations(
    console: &Console,
    session: &Session,
    family: Family,
    fields: &Fields,
) -> Result<Result<Vec<Value>, String>, ConsoleError> {
    let mut fields = fields.clone();
    fields.set("page_size", "5000");
    let mut pages = Vec::new();
    while pages.len() < MOST_PAGES {
        let path = format!("/v1/{}/series?{}", family.path, fields.query());
        let response = console.get(session, &path).await?;
        if !response.status.is_success() {
            return Ok(Err(response.message()));
        }
        let cursor = response.body["next_cursor"].as_str().map(str::to_owned);
        pages.push(response.body);
        match cursor {
            // A cursor holds the whole query.
            Some(cursor) => {
                fields = Fields::default();
                fields.set("cursor", &cursor);
            }
            None => break,
        }
    }
    Ok(Ok(pages))
}

fn series(
    console: &Console,
    family: Family,
    fields: &Fields,
    pages: &[Value],
    areas: &Value,
) -> Markup {
    let merged = merge(pages);
    let names = DimensionNames::of(&merged, areas);
    let mut charts: Vec<(&str, &str, Vec<&MergedSeries<'_>>)> = Vec::new();
    for series in &merged {
        let metric = text(&series.header["metric"]);
        match charts.iter_mut().find(|(known, ..)| *known == metric) {
            Some((.., of_metric)) => of_metric.push(series),
            None => charts.push((metric, text(&series.header["unit"]), vec![series])),
        }
    }
    let curves = curves_of(series_of(pages));
    let rows: usize = merged.iter().map(|series| series.observations.len()).sum();
    let first = pages.first();
    let release = first.map(|page| text(&page["release_id"]));
    let policy = first.map(|page| text(&page["revision_policy"]));
    let sources = release.and_then(|release| attribution(console, family, release));
    html! {
        @if let Some(curves) = &curves {
            @for curves in curves { (curves.show()) }
        } @else {
            @for (metric, unit, of_metric) in &charts {
                (intervals(&metric.replace('_', " "), unit, &chart_series(of_metric, &names)))
            }
        }
        p {
            "Release " strong { (release.unwrap_or("–")) } ". " (policy.unwrap_or_default()) " "
            @if let Some(sources) = &sources { (sources) " " }
            a href={ "/" (family.path) ".csv?" (fields.query()) } download { "Download all " (rows) " observations as CSV" }
            " " a href={ "/" (family.path) ".parquet?" (fields.query()) } download { "as Parquet" }
        }
        (table(&merged, &names))
    }
}

/// Returns the series of one metric as a chart draws them, named by what differs among them.
fn chart_series(of_metric: &[&MergedSeries<'_>], names: &DimensionNames) -> Vec<ChartSeries> {
    let draw = |series: &&MergedSeries<'_>| ChartSeries {
        name: names.label(series, of_metric),
        intervals: series
            .observations
            .iter()
            .filter_map(|found| interval(found))
            .collect(),
    };
    of_metric.iter().map(draw).collect()
}

/// Returns the interval of an observation: its window, or its day or month.
fn interval(observation: &Value) -> Option<Interval> {
    let period = observation["period"].as_str()?;
    let day = |member: &str| Day::parse_iso(observation[member].as_str()?);
    let (from, to) = match (day("period_start"), day("period_end")) {
        (Some(from), Some(to)) => (from, to),
        _ => {
            let of_period =
                Day::parse_iso(period).or_else(|| Day::parse_iso(&format!("{period}-01")))?;
            (of_period, of_period)
        }
    };
    let value = observation["value"].as_f64();
    Some(Interval {
        from: from.0,
        to: to.0,
        value,
        title: format!("{period}: {}", number_of(&observation["value"])),
    })
}

fn form(
    family: Family,
    datasets: &[Value],
    chosen: Option<&Value>,
    areas: &Value,
    fields: &Fields,
) -> Markup {
    let current = |name: &str| fields.get(name).unwrap_or_default().to_owned();
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let selectors: Vec<String> = chosen
        .map(|chosen| [names(&chosen["required"]), names(&chosen["optional"])].concat())
        .unwrap_or_default();
    let fixed = ["dataset", "metrics", "release_id", "page_size", "cursor"];
    html! {
        form.inputs.series method="get" action={ "/" (family.path) } {
            label {
                span { "Dataset" }
                select name="dataset" required {
                    @for dataset in datasets {
                        @let name = text(&dataset["dataset"]);
                        option value=(name) selected[name == current("dataset")] { (name.replace('_', " ")) }
                    }
                }
            }
            @for name in selectors.iter().filter(|name| !fixed.contains(&name.as_str())) {
                (selector(name, chosen, areas, &current(name)))
            }
            @if selectors.iter().any(|name| name == "area") {
                (compared_area(areas, &current(COMPARED)))
            }
            @if selectors.iter().any(|name| name == "tenor_months") {
                label {
                    span { "compared day" }
                    input name=(COMPARED_DAY) value=(current(COMPARED_DAY)) maxlength="10" placeholder="YYYY-MM-DD";
                }
            }
            button.primary { "Show" }
        }
    }
}

/// Returns the field of an area to compare with.
fn compared_area(areas: &Value, value: &str) -> Markup {
    html! {
        label {
            span { "compared with" }
            select name=(COMPARED) {
                option value="" { "–" }
                @for area in areas["areas"].as_array().into_iter().flatten() {
                    @let code = text(&area["code"]);
                    option value=(code) selected[code == value] { (text(&area["name"])) " (" (code) ")" }
                }
            }
        }
    }
}

/// Returns the field of one selector: a choice where the catalogue lists its values.
fn selector(name: &str, dataset: Option<&Value>, areas: &Value, value: &str) -> Markup {
    let words = name.replace('_', " ");
    let listed = dataset.map(|dataset| &dataset["selector_options"][name]);
    let listed = listed.and_then(Value::as_array);
    let areas = areas["areas"].as_array().filter(|_| name == "area");
    html! {
        label {
            span { (words) }
            @if let Some(areas) = areas {
                select name=(name) {
                    @for area in areas {
                        @let code = text(&area["code"]);
                        option value=(code) selected[code == value] { (text(&area["name"])) " (" (code) ")" }
                    }
                }
            } @else if let Some(listed) = listed {
                select name=(name) {
                    option value="" { "–" }
                    @for option in listed {
                        @let option = option.as_str().map_or_else(|| option.to_string(), str::to_owned);
                        option value=(option) selected[option == value] { (option.replace('_', " ")) }
                    }
                }
            } @else {
                input name=(name) value=(value) maxlength="200"
                    placeholder=[["from", "to"].contains(&name).then_some("YYYY-MM or YYYY-MM-DD")];
            }
        }
    }
}

async fn as_file(
    console: &Console,
    session: &Session,
    family: Family,
    uri: &Uri,
) -> Result<Response, ConsoleError> {
    let fields = Fields::parse(uri.query().unwrap_or_default().as_bytes());
    let areas = read_areas(console, session, family).await?;
    let pages = read_compared(console, session, family, &fields).await?;
    let pages = pages.map_err(ConsoleError::Form)?;
    let merged = merge(&pages);
    let names = DimensionNames::of(&merged, &areas);
    let sources = |release: &str| attribution(console, family, release).unwrap_or_default();
    let rows = file_rows(&merged, &names, sources);
    let name = fields.get("dataset").unwrap_or(family.path);
    match uri.path().ends_with(".parquet") {
        true => parquet_file::download(name, &rows),
        false => csv_file::download(name, rows),
    }
}

/// Reads the areas of market statistics. Rates have none.
async fn read_areas(
    console: &Console,
    session: &Session,
    family: Family,
) -> Result<Value, ConsoleError> {
    match family.path {
        "markets" => console.get(session, "/v1/markets/areas").await?.ok(),
        _ => Ok(Value::Null),
    }
}

/// Returns whose data a release has, as its builder stated it.
fn attribution(console: &Console, family: Family, release: &str) -> Option<String> {
    let releases = match family.path {
        "markets" => &console.service.markets,
        _ => &console.service.rates,
    };
    let release = releases.get(release)?;
    let sources = release.body().sources.iter();
    let sources = sources.map(|source| format!("{} ({})", source.publisher, source.licence));
    let sources: BTreeSet<String> = sources.collect();
    let sources: Vec<String> = sources.into_iter().collect();
    (!sources.is_empty()).then(|| format!("Contains data of {}.", sources.join("; ")))
}

/// Returns a text of JSON, or a dash.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("–")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_observation_is_drawn_over_its_window_or_on_its_day() {
        let window = json!({"period": "2026-07", "value": 3.5, "period_start": "2025-08-01", "period_end": "2026-07-31"});
        let drawn = interval(&window).unwrap();
        assert_eq!((drawn.to - drawn.from, drawn.value), (364, Some(3.5)));
        let day = interval(&json!({"period": "1970-01-02", "value": null})).unwrap();
        assert_eq!((day.from, day.to, day.value), (1, 1, None));
        let month = interval(&json!({"period": "1970-02", "value": 1})).unwrap();
        assert_eq!((month.from, month.title.as_str()), (31, "1970-02: 1"));
    }

    #[test]
    fn a_required_field_that_is_missing_is_named() {
        let dataset = json!({"required": ["dataset", "price_band"]});
        let fields = Fields::parse(b"dataset=x");
        let named = missing(&dataset, &fields);
        assert_eq!(named.as_deref(), Some("the field price band"));
        assert_eq!(
            missing(&dataset, &Fields::parse(b"dataset=x&price_band=y")),
            None
        );
    }
}
