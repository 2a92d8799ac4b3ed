//! The routes of market statistics and sterling rates, made from the catalogue of datasets.

mod parameters;
mod schemas;

pub use schemas::schemas;

use super::examples::{Example, answers};
use super::route::{ResponseSpec, Route, none};
use domesday_contract::error::Code;
use utoipa::openapi::path::HttpMethod;

/// The body of every refusal.
const ERROR: &str = "SeriesErrorBody";
const UNKNOWN: &[Code] = &[Code::UnknownParameter, Code::DuplicateParameter];
const RELEASE: &[Code] = &[Code::ReleaseNotFound];
const QUERY: &[Code] = &[
    Code::MissingDataset,
    Code::MissingParameter,
    Code::InvalidParameter,
    Code::UnknownDataset,
];
const AREA: &[Code] = &[Code::UnknownArea];
const NODE: &[Code] = &[Code::UnknownNode];
const PAGES: &[Code] = &[Code::InvalidCursor, Code::CursorWithSelectors];
const WHOLE: &[Code] = &[Code::CursorNotAccepted];

/// Headers of responses that a client may cache.
const CACHE_HEADERS: &[&str] = &["ETag", "Cache-Control", "Vary"];
const UNCHANGED: ResponseSpec = ResponseSpec {
    status: "304",
    about: "You have it already: the tag of If-None-Match is the one of this answer.",
    schema: None,
    headers: CACHE_HEADERS,
    examples: &[],
};

/// Returns the response 200 with a body of this schema.
const fn ok(
    about: &'static str,
    schema: &'static str,
    examples: &'static [Example],
) -> ResponseSpec {
    ResponseSpec {
        status: "200",
        about,
        schema: Some(schema),
        headers: CACHE_HEADERS,
        examples,
    }
}

/// Returns the responses of the route of series.
const fn series(examples: &'static [Example]) -> [ResponseSpec; 2] {
    let about = "The series selected, with a page of their observations.";
    [ok(about, "SeriesEnvelope", examples), UNCHANGED]
}

/// Returns the responses of the route of coverage.
const fn coverage(examples: &'static [Example]) -> [ResponseSpec; 2] {
    let about = "The series selected, without observations.";
    [ok(about, "SeriesEnvelope", examples), UNCHANGED]
}

/// Returns the responses of the route of datasets.
const fn datasets(examples: &'static [Example]) -> [ResponseSpec; 2] {
    [ok("The datasets.", "SeriesCatalogue", examples), UNCHANGED]
}

/// Returns the responses of the route of areas.
const fn areas(examples: &'static [Example]) -> [ResponseSpec; 2] {
    let about = "Codes and names, in order of the codes.";
    [ok(about, "SeriesAreas", examples), UNCHANGED]
}

/// Returns the responses of the route of the current release.
const fn release(examples: &'static [Example]) -> [ResponseSpec; 2] {
    [ok("The release.", "SeriesRelease", examples), UNCHANGED]
}

/// Every route of both families.
pub static ROUTES: [Route; 9] = [
    Route {
        method: HttpMethod::Get,
        path: "/v1/markets/series",
        id: "marketsSeries",
        tag: "Markets",
        summary: "Get market statistics",
        about: "Observations of one area and one segment of it. Without dates the latest; with from, to or both those of the range, and nothing is filled or moved to another date. A page ends after page_size observations: next_cursor continues it, alone, on the same release.",
        parameters: parameters::markets_series,
        body: None,
        answers: const { &series(&[answers::MARKETS_SERIES]) },
        error: ERROR,
        refused: &[UNKNOWN, QUERY, RELEASE, AREA, PAGES],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/markets/coverage",
        id: "marketsCoverage",
        tag: "Markets",
        summary: "See which market statistics there are",
        about: "The series that a selection has in the release, with the periods held of each, without observations. Dates and page_size are taken and narrow nothing.",
        parameters: parameters::markets_coverage,
        body: None,
        answers: const { &coverage(&[answers::MARKETS_COVERAGE]) },
        error: ERROR,
        refused: &[UNKNOWN, QUERY, RELEASE, AREA, WHOLE],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/markets/datasets",
        id: "marketsDatasets",
        tag: "Markets",
        summary: "List the datasets of market statistics",
        about: "Parameters, metrics and choices of every dataset that the key may use.",
        parameters: parameters::release,
        body: None,
        answers: const { &datasets(&[answers::MARKETS_DATASETS]) },
        error: ERROR,
        refused: &[UNKNOWN, RELEASE],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/markets/areas",
        id: "marketsAreas",
        tag: "Markets",
        summary: "List the areas",
        about: "The local authorities of the release, by code. The number of them is the release's: read it, do not count on it.",
        parameters: parameters::release,
        body: None,
        answers: const { &areas(&[answers::MARKETS_AREAS]) },
        error: ERROR,
        refused: &[UNKNOWN, RELEASE],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/markets/releases/current",
        id: "marketsCurrentRelease",
        tag: "Markets",
        summary: "See the current release",
        about: "The release that answers where none is named. Its times are those of the package; each observation has its own date.",
        parameters: none,
        body: None,
        answers: const { &release(&[answers::MARKETS_RELEASE]) },
        error: ERROR,
        refused: &[UNKNOWN, RELEASE],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/rates/series",
        id: "ratesSeries",
        tag: "Rates",
        summary: "Get sterling rates",
        about: "Observations of one dataset, optionally narrowed to nodes, terms or horizons. Without dates the latest; with from, to or both those of the range, and nothing is filled or moved to another date. A page ends after page_size observations: next_cursor continues it, alone, on the same release.",
        parameters: parameters::rates_series,
        body: None,
        answers: const { &series(&[answers::RATES_SERIES]) },
        error: ERROR,
        refused: &[UNKNOWN, QUERY, RELEASE, NODE, PAGES],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/rates/coverage",
        id: "ratesCoverage",
        tag: "Rates",
        summary: "See which sterling rates there are",
        about: "The series that a selection has in the release, with the periods held of each, without observations. Dates and page_size are taken and narrow nothing.",
        parameters: parameters::rates_coverage,
        body: None,
        answers: const { &coverage(&[answers::RATES_COVERAGE]) },
        error: ERROR,
        refused: &[UNKNOWN, QUERY, RELEASE, NODE, WHOLE],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/rates/datasets",
        id: "ratesDatasets",
        tag: "Rates",
        summary: "List the datasets of sterling rates",
        about: "Parameters, metrics and choices of every dataset that the key may use.",
        parameters: parameters::release,
        body: None,
        answers: const { &datasets(&[answers::RATES_DATASETS]) },
        error: ERROR,
        refused: &[UNKNOWN, RELEASE],
    },
    Route {
        method: HttpMethod::Get,
        path: "/v1/rates/releases/current",
        id: "ratesCurrentRelease",
        tag: "Rates",
        summary: "See the current release",
        about: "The release that answers where none is named. Its times are those of the package; each observation has its own date.",
        parameters: none,
        body: None,
        answers: const { &release(&[answers::RATES_RELEASE]) },
        error: ERROR,
        refused: &[UNKNOWN, RELEASE],
    },
];
