//! Market statistics and rates: a chart, the table below it, and the same as CSV.

use super::error::ConsoleError;
use super::{Console, csv_file, layout, parquet_file};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::Response;
use domesday_console::chart::intervals;
use domesday_console::curve::{CurveSlider, Curves, DAY_IN_LINK, curves_of, curves_through_time};
use domesday_console::fields::Fields;
use domesday_console::message::render_message;
use domesday_console::number::text_of;
use domesday_console::program_copies::of_series;
use domesday_console::series_catalogue::{SEARCH, catalogue_of, missing, set_first_choices};
use domesday_console::series_chart::chart_series;
use domesday_console::series_choice::{curve_day, fields_of_five_years, selections, set_days};
use domesday_console::series_form;
use domesday_console::series_pages::{PageReader, SeriesPages, advice, notices};
use domesday_console::series_rows::table;
use domesday_console::series_table::{DimensionNames, by_metric, file_rows, merge, series_of};
use domesday_registers::Day;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Days before and after a curve through which a slider moves it.
const SLIDER_DAYS: i32 = 45;

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
    let mut fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let path = format!("/v1/{}/datasets", family.path);
    let catalogue = console.get(session, &path).await?.ok()?;
    let areas = read_areas(console, session, family).await?;
    let none = Vec::new();
    let datasets = catalogue["datasets"].as_array().unwrap_or(&none);
    let dataset = fields.get("dataset").map(str::to_owned);
    let chosen = datasets
        .iter()
        .find(|found| found["dataset"].as_str() == dataset.as_deref());
    if let Some(chosen) = chosen {
        set_first_choices(chosen, &areas, &mut fields);
    }
    let shown = match chosen {
        None => html! {
            @if let Some(name) = &dataset {
                p.refusal role="alert" { "The release has no dataset " strong { (name) } "." }
            }
            (catalogue_of(family.path, datasets, fields.get(SEARCH)))
        },
        Some(chosen) if missing(chosen, &fields).is_some() => {
            html! { p.quiet { "Choose " (missing(chosen, &fields).unwrap_or_default()) "." } }
        }
        Some(_) => match read_compared(console, session, family, &fields).await? {
            Ok(pages) => {
                let nearby = read_nearby(console, session, family, &fields, &pages.pages).await?;
                series(console, family, &fields, &pages, &nearby, &areas)
            }
            Err(message) => html! { p.refusal role="alert" { (render_message(&message)) } },
        },
    };
    let content = html! {
        h1 { (family.title) }
        (series_form::show(family.path, datasets, chosen, &areas, &fields))
        (shown)
    };
    Ok(layout::page(family.title, Some(session), &content))
}

/// Reads the observations that the fields choose, and those that they are compared with.
async fn read_compared(
    console: &Console,
    session: &Session,
    family: Family,
    fields: &Fields,
) -> Result<Result<SeriesPages, String>, ConsoleError> {
    let mut pages = SeriesPages::default();
    for fields in selections(fields) {
        match read_observations(console, session, family, &fields).await? {
            Ok(more) => pages.append(more),
            Err(message) => return Ok(Err(message)),
        }
    }
    Ok(Ok(pages))
}

/// The curves of the days around a curve.
#[derive(Default)]
struct NearbyCurves {
    /// The day of the curve.
    day: String,
    pages: Vec<Value>,
}

/// Reads the curves of the days around a curve of one day. There are none around other series.
async fn read_nearby(
    console: &Console,
    session: &Session,
    family: Family,
    fields: &Fields,
    pages: &[Value],
) -> Result<NearbyCurves, ConsoleError> {
    let own = selections(fields).into_iter().next();
    let (Some(day), Some(mut fields)) = (curve_day(fields, pages), own) else {
        return Ok(NearbyCurves::default());
    };
    let at = |days: i32| Day(day.0 + days).to_string();
    set_days(&mut fields, &at(-SLIDER_DAYS), &at(SLIDER_DAYS));
    // The page is whole without its slider.
    let read = read_observations(console, session, family, &fields).await?;
    Ok(NearbyCurves {
        day: day.to_string(),
        pages: read.unwrap_or_default().pages,
    })
}

/// Reads the observations that the fields choose, page by page. The inner error is the API's.
async fn read_observations(
    console: &Console,
    session: &Session,
    family: Family,
    fields: &Fields,
) -> Result<Result<SeriesPages, String>, ConsoleError> {
    let mut reader = PageReader::new(fields);
    while let Some(query) = reader.next_query() {
        let path = format!("/v1/{}/series?{query}", family.path);
        let response = console.get(session, &path).await?;
        if !response.status.is_success() {
            let field = response.body["error"]["field"].as_str();
            let message = response.message();
            return Ok(Err(match field {
                Some(field) => format!("{}: {message}", series_form::heading(field)),
                None => message,
            }));
        }
        reader.add(response.body);
    }
    Ok(Ok(reader.finish()))
}

fn series(
    console: &Console,
    family: Family,
    fields: &Fields,
    read: &SeriesPages,
    nearby: &NearbyCurves,
    areas: &Value,
) -> Markup {
    let pages = &read.pages;
    let merged = merge(pages);
    let names = DimensionNames::of(&merged, areas);
    let charts = by_metric(&merged);
    let curves = curves_of(series_of(pages));
    let through = curves_through_time(series_of(&nearby.pages)).unwrap_or_default();
    let slider = |curves: &Curves| {
        let mut nearby = through.iter();
        nearby.find(|nearby| nearby.metric() == curves.metric())
    };
    let mut of_day = fields.clone();
    set_days(&mut of_day, DAY_IN_LINK, DAY_IN_LINK);
    let link = format!("/{}?{}", family.path, of_day.query());
    let rows: usize = merged.iter().map(|series| series.observations.len()).sum();
    let first = pages.first();
    let release = first.map(|page| text_of(&page["release_id"]));
    let policy = first.map(|page| text_of(&page["revision_policy"]));
    let sources = release.and_then(|release| attribution(console, family, release));
    // The link names the release, so that it shows the same after a promotion.
    let mut pinned = fields.clone();
    if let Some(release) = release {
        pinned.set("release_id", release);
    }
    let query = pinned.query();
    html! {
        @for notice in notices(pages) { p.refusal role="status" { (render_message(notice)) } }
        @if let Some(curves) = &curves {
            @for curves in curves {
                @let slider = slider(curves).map(|through| CurveSlider { through, day: &nearby.day, link: &link });
                (curves.show(slider.as_ref()))
            }
            @if !through.is_empty() { script src="/assets/curve-slider.js" type="module" {} }
        } @else {
            @if let Some(longer) = fields_of_five_years(fields, &merged) {
                p {
                    "Only the latest observation is shown. "
                    a href={ "/" (family.path) "?" (longer.query()) } { "Show five years" }
                }
            }
            @for of_metric in &charts {
                (intervals(&of_metric.words(), &of_metric.unit_words(), &chart_series(&of_metric.series, &names)))
            }
        }
        p {
            "Release " strong { (release.unwrap_or("–")) } ". " (policy.unwrap_or_default()) " "
            @if let Some(sources) = &sources { (sources) " " }
            a href={ "/" (family.path) "?" (query) } { "Link to these values" } " "
            @if read.is_whole && rows > 0 {
                a href={ "/" (family.path) ".csv?" (query) } download {
                    @if rows == 1 { "Download the observation as CSV" }
                    @else { "Download all " (rows) " observations as CSV" }
                }
                " " a href={ "/" (family.path) ".parquet?" (query) } download { "as Parquet" }
            }
        }
        @if !read.is_whole {
            p.refusal { "The first " (rows) " observations are shown, without a file. " (advice()) }
        }
        @for of_metric in &charts { (table(of_metric, &names)) }
        @if let Some(sessions) = &console.service.console {
            section.copies {
                h2 { "The same by program" }
                (layout::programs(&of_series(sessions.api_origin(), family.path, &selections(&pinned))))
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
    let read = pages.map_err(ConsoleError::Form)?;
    if !read.is_whole {
        return Err(ConsoleError::TooManyRows(advice()));
    }
    let merged = merge(&read.pages);
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
