//! The map over the operator's tiles: its place on the page, and the ranges of the file that its
//! script reads.

use super::Console;
use super::error::ConsoleError;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domesday_console::home_map::Point;
use domesday_console::tile_archive::{TileArchive, TileReadError};
use domesday_engine::subject::GridPoint;
use domesday_valuation::pipeline::osgb36::degrees;
use headers::{ContentRange, HeaderMapExt, Range};
use maud::{Markup, html};
use serde_json::{Value, json};
use std::ops::Bound;

/// Serves one range of the file of tiles.
pub(super) async fn range(
    State(console): State<Console>,
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ConsoleError> {
    let archive = console.service.console_map.as_ref();
    let archive = archive.filter(|archive| file == name(archive));
    let archive = archive.ok_or(ConsoleError::NoPage)?;
    let (first, last) = asked_range(&headers, archive.bytes()).ok_or(TileReadError::Range)?;
    let read = archive.read(first, last - first + 1).await?;
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::ETAG, format!("\"{}\"", archive.tag())),
        // The name of another file is another.
        (
            header::CACHE_CONTROL,
            "private, max-age=86400, immutable".to_owned(),
        ),
    ];
    let mut response = (StatusCode::PARTIAL_CONTENT, head, read).into_response();
    if let Ok(range) = ContentRange::bytes(first..=last, archive.bytes()) {
        response.headers_mut().typed_insert(range);
    }
    Ok(response)
}

/// Returns the first and the last byte of the one range that a request asks for.
fn asked_range(headers: &HeaderMap, bytes: u64) -> Option<(u64, u64)> {
    let range = headers.typed_get::<Range>()?;
    let mut ranges = range.satisfiable_ranges(bytes);
    let (Bound::Included(first), last) = ranges.next()? else {
        return None;
    };
    let last = match last {
        Bound::Included(last) => last.min(bytes.checked_sub(1)?),
        _ => bytes.checked_sub(1)?,
    };
    (ranges.next().is_none() && first <= last).then_some((first, last))
}

fn name(archive: &TileArchive) -> String {
    format!("{}.pmtiles", archive.tag())
}

/// Returns the map's place on the page, which its script fills and shows, or nothing where the
/// tiles cover no point.
pub(super) fn figure(archive: &TileArchive, points: &[Point]) -> Option<Markup> {
    let places = places(points);
    let covered = places.iter().any(|place| {
        let degree = |member: &str| place[member].as_f64();
        degree("longitude")
            .zip(degree("latitude"))
            .is_some_and(|(longitude, latitude)| archive.covers(longitude, latitude))
    });
    covered.then(|| {
        html! {
            figure.tiles hidden data-tiles={ "/map/" (name(archive)) } data-places=(Value::Array(places)) {
                div.canvas {}
                div.buttons {
                    button type="button" data-zoom="in" aria-label="Zoom in" { "+" }
                    button type="button" data-zoom="out" aria-label="Zoom out" { "−" }
                    button type="button" data-zoom="all" { "Show all" }
                }
                figcaption {
                    "The number of a comparable leads to its row. Map: "
                    @if archive.attribution().parts.is_empty() { "the operator's tiles" }
                    @for part in &archive.attribution().parts {
                        @match &part.link {
                            Some(link) => a href=(link) rel="noreferrer" { (part.text) },
                            None => (part.text),
                        }
                    }
                    "."
                }
                p.quiet role="status" {}
            }
            script src=(super::assets::PMTILES_PATH) defer {}
            script src="/assets/tile-map.js" type="module" {}
        }
    })
}

/// Returns each place in degrees with the homes that are there.
fn places(points: &[Point]) -> Vec<Value> {
    let mut grouped: Vec<(&Point, Vec<Value>)> = Vec::new();
    for point in points {
        let home = json!({"number": point.label, "words": point.words});
        match grouped
            .iter_mut()
            .find(|(first, _)| first.place == point.place)
        {
            Some((_, homes)) => homes.push(home),
            None => grouped.push((point, vec![home])),
        }
    }
    let place = |(point, homes): (&Point, Vec<Value>)| {
        let at = GridPoint {
            easting: point.place.easting,
            northing: point.place.northing,
        };
        let (latitude, longitude) = degrees(at)?;
        let rounded = |degrees: f64| (degrees * 1e6).round() / 1e6;
        Some(json!({
            "longitude": rounded(longitude),
            "latitude": rounded(latitude),
            "homes": homes,
        }))
    };
    grouped.into_iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_console::home_map::GridLocation;

    #[test]
    fn one_range_within_the_file_is_read() {
        let asked = |range: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, range.parse().unwrap());
            asked_range(&headers, 100)
        };
        assert_eq!(asked("bytes=0-9"), Some((0, 9)));
        assert_eq!(asked("bytes=90-16383"), Some((90, 99)));
        assert_eq!(asked("bytes=90-"), Some((90, 99)));
        for refused in ["bytes=100-110", "bytes=0-1,5-6", "rows=0-1", "bytes=9-0"] {
            assert_eq!(asked(refused), None, "{refused}");
        }
        assert_eq!(asked_range(&HeaderMap::new(), 100), None);
    }

    #[test]
    fn homes_of_one_place_stand_together_in_degrees() {
        let point = |label: Option<&str>, easting| Point {
            label: label.map(str::to_owned),
            words: "£1".to_owned(),
            place: GridLocation {
                easting,
                northing: 178_388,
            },
        };
        let points = [
            point(Some("1"), 530_625),
            point(Some("2"), 530_700),
            point(None, 530_625),
        ];
        let found = places(&points);
        let numbers = |at: usize| found[at]["homes"].as_array().map(Vec::len);
        assert_eq!((found.len(), numbers(0), numbers(1)), (2, Some(2), Some(1)));
        let latitude = found[0]["latitude"].as_f64().unwrap();
        assert!((latitude - 51.489_366).abs() < 1e-5, "{latitude}");
    }
}
